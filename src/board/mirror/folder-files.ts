// The file operations of a mirror as a port, each a single system call, so that a test can end the process before any of them. No
// operation follows a link or leaves the folder. Created files are private to their user, like the ledger.
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { ErrandError } from '../../core/errors.ts'
import { messageOf } from '../../core/stored-error.ts'

/** Maximum size of a file that is read, in bytes. */
export const maxFileBytes = 1024 * 1024

/** The state of a name in the folder. `mark` changes whenever the file does, within the resolution of the file system's clock. */
export type FileState =
  | { kind: 'none' }
  | { kind: 'text'; text: string; mark: string; changedMs: number }
  | { kind: 'other'; why: string; mark: string }

export interface FolderFiles {
  list(folder?: string): string[]
  read(name: string): FileState
  /** The mark of a file, without reading it. */
  mark(name: string): string | undefined
  /** Writes a new file. False if the name is taken. */
  create(name: string, text: string): boolean
  /** Gives a file a second name. 'taken': that name exists, or the file is gone; 'unknown': the file system has no hard links. */
  link(from: string, to: string): 'done' | 'taken' | 'unknown'
  /** Renames a file, atomically replacing `to`. False if `from` does not exist. */
  rename(from: string, to: string): boolean
  remove(name: string): void
  /** Creates a folder in this one. @throws ErrandError INVALID_INPUT when a file has that name. */
  makeFolder(name: string): void
}

/**
 * Resolves the path of a folder once, created if missing and `create`: files are written there even if the path leads elsewhere later.
 * @throws ErrandError INVALID_INPUT for a path that is not a folder.
 */
export function openFolder(path: string, { create }: { create: boolean }): string {
  try {
    if (create) mkdirSync(path, { recursive: true, mode: 0o700 })
    const dir = realpathSync(path)
    readdirSync(dir)
    return dir
  } catch (error) {
    throw new ErrandError('INVALID_INPUT', `${path} cannot be used as a folder: ${messageOf(error)}.`, { path }, error)
  }
}

export function createFolderFiles(dir: string): FolderFiles {
  const at = (name: string): string => join(dir, name)
  return {
    list: (folder = '') => readdirSync(at(folder)),
    read: (name) => readEntry(at(name)),
    mark(name) {
      const stats = lstatSync(at(name), { bigint: true, throwIfNoEntry: false })
      return stats === undefined ? undefined : markOf(stats)
    },
    create: (name, text) =>
      unless(['EEXIST'], false, () => {
        writeFileSync(at(name), text, { flag: 'wx', mode: 0o600 })
        return true
      }),
    link: (from, to) =>
      unless<'done' | 'taken' | 'unknown'>(['EEXIST', 'ENOENT'], 'taken', () =>
        unless<'done' | 'unknown'>(withoutLinks, 'unknown', () => {
          linkSync(at(from), at(to))
          return 'done'
        }),
      ),
    rename: (from, to) =>
      unless(['ENOENT'], false, () => {
        renameSync(at(from), at(to))
        return true
      }),
    remove: (name) => rmSync(at(name), { force: true }),
    makeFolder(name) {
      unless(['EEXIST'], undefined, () => mkdirSync(at(name), { mode: 0o700 }))
      if (lstatSync(at(name)).isDirectory()) return
      const why = `${at(name)} must be a folder, but a file of that name exists. Move it away.`
      throw new ErrandError('INVALID_INPUT', why, { path: at(name) })
    },
  }
}

const withoutLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** The result of an operation; `otherwise` if it fails with one of the codes. */
function unless<R>(codes: readonly string[], otherwise: R, operation: () => R): R {
  try {
    return operation()
  } catch (error) {
    if (codes.includes(codeOf(error))) return otherwise
    throw error
  }
}

function refusalOf(stats: BigIntStats): string | undefined {
  if (stats.isSymbolicLink()) return 'it is a symbolic link; put the file itself there'
  if (!stats.isFile()) return 'it is not a regular file'
  if (stats.nlink > 1n) return `it has ${stats.nlink} names (hard links); put a copy there`
  if (stats.size > BigInt(maxFileBytes)) return `it has ${stats.size} bytes; the limit is ${maxFileBytes}`
  return undefined
}

function readEntry(path: string): FileState {
  const entry = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (entry === undefined) return { kind: 'none' }
  const refusal = refusalOf(entry)
  if (refusal !== undefined) return { kind: 'other', why: refusal, mark: markOf(entry) }
  let file: number
  try {
    // The entry may have been replaced since: do not follow a link, and do not block on a pipe.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { kind: 'none' }
    return { kind: 'other', why: `it cannot be opened: ${messageOf(error)}`, mark: markOf(entry) }
  }
  try {
    return readOpen(file)
  } finally {
    closeSync(file)
  }
}

function readOpen(file: number): FileState {
  const stats = fstatSync(file, { bigint: true })
  const [refusal, mark] = [refusalOf(stats), markOf(stats)]
  if (refusal !== undefined) return { kind: 'other', why: refusal, mark }
  const bytes = readFileSync(file)
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { kind: 'text', text, mark, changedMs: Number(stats.ctimeMs) }
  } catch {
    return { kind: 'other', why: 'it is not UTF-8', mark }
  }
}

function markOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | null)?.code ?? '')
}
