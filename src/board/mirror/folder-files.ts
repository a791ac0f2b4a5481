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

/** Maximum size of a file that is read, in bytes. */
export const maxFileBytes = 1024 * 1024

/** The state of a name in the folder. `mark` changes whenever the file does, within the resolution of the file system's clock. */
export type FileState =
  | { kind: 'none' }
  | { kind: 'text'; text: string; mark: string; changedMs: number }
  | { kind: 'other'; why: string; mark: string }

export interface FolderFiles {
  list(folder?: string): string[]
  /** `linked`: accepts a file with several names (hard links). */
  read(name: string, linked?: boolean): FileState
  /** The mark of a file, without reading it. */
  mark(name: string): string | undefined
  /** Writes a file that must not exist yet. */
  create(name: string, text: string): void
  /** Gives a file a second name. 'taken': that name exists; 'unknown': the file system has no hard links. */
  link(from: string, to: string): 'done' | 'taken' | 'missing' | 'unknown'
  /** Renames a file, atomically replacing `to`. False if `from` does not exist. */
  rename(from: string, to: string): boolean
  remove(name: string): void
  /** Creates a folder in this one. @throws ErrandError INVALID_INPUT when a file has that name. */
  makeFolder(name: string): void
}

/**
 * Creates the folder if missing, and resolves its path once: files are written there even if the path leads elsewhere later.
 * @throws ErrandError INVALID_INPUT for a path that is not a folder.
 */
export function openFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return realpathSync(path)
  } catch (error) {
    throw new ErrandError('INVALID_INPUT', `${path} cannot be used as a folder: ${reasonOf(error)}.`, { path }, error)
  }
}

/** Resolves the path of a folder. @throws ErrandError INVALID_INPUT if it does not exist. */
export function existingFolder(path: string): string {
  try {
    const dir = realpathSync(path)
    readdirSync(dir)
    return dir
  } catch (error) {
    throw new ErrandError('INVALID_INPUT', `${path} cannot be read as a folder: ${reasonOf(error)}.`, { path }, error)
  }
}

export function createFolderFiles(dir: string): FolderFiles {
  const at = (name: string): string => join(dir, name)
  return {
    list: (folder = '') => readdirSync(at(folder)),
    read: (name, linked = false) => readEntry(at(name), linked),
    mark(name) {
      const stats = lstatSync(at(name), { bigint: true, throwIfNoEntry: false })
      return stats === undefined ? undefined : markOf(stats)
    },
    create: (name, text) => writeFileSync(at(name), text, { flag: 'wx', mode: 0o600 }),
    link(from, to) {
      try {
        linkSync(at(from), at(to))
        return 'done'
      } catch (error) {
        if (codeOf(error) === 'EEXIST') return 'taken'
        if (codeOf(error) === 'ENOENT') return 'missing'
        if (withoutLinks.has(codeOf(error))) return 'unknown'
        throw error
      }
    },
    rename(from, to) {
      try {
        renameSync(at(from), at(to))
        return true
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return false
        throw error
      }
    },
    remove: (name) => rmSync(at(name), { force: true }),
    makeFolder(name) {
      try {
        mkdirSync(at(name), { mode: 0o700 })
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error
        if (lstatSync(at(name)).isDirectory()) return
        throw new ErrandError(
          'INVALID_INPUT',
          `${at(name)} must be a folder, but a file of that name exists. Move it away.`,
          {
            path: at(name),
          },
        )
      }
    },
  }
}

const withoutLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

function readEntry(path: string, linked: boolean): FileState {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) return { kind: 'none' }
  const refusal = refusalOf(stats, linked)
  if (refusal !== undefined) return { kind: 'other', why: refusal, mark: markOf(stats) }
  return readRegular(path, linked)
}

function refusalOf(stats: BigIntStats, linked: boolean): string | undefined {
  if (stats.isSymbolicLink()) return 'it is a symbolic link; put the file itself there'
  if (!stats.isFile()) return 'it is not a regular file'
  if (stats.nlink > 1n && !linked) return `it has ${stats.nlink} names (hard links); put a copy there`
  if (stats.size > BigInt(maxFileBytes)) return `it has ${stats.size} bytes; the limit is ${maxFileBytes}`
  return undefined
}

function readRegular(path: string, linked: boolean): FileState {
  let file: number
  try {
    // The entry may have been replaced since: do not follow a link, and do not block on a pipe.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { kind: 'none' }
    return { kind: 'other', why: `it cannot be opened: ${reasonOf(error)}`, mark: codeOf(error) }
  }
  try {
    const stats = fstatSync(file, { bigint: true })
    const mark = markOf(stats)
    const refusal = refusalOf(stats, linked)
    if (refusal !== undefined) return { kind: 'other', why: refusal, mark }
    const bytes = readFileSync(file)
    try {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
      return { kind: 'text', text, mark, changedMs: Number(stats.ctimeMs) }
    } catch {
      return { kind: 'other', why: 'it is not UTF-8', mark }
    }
  } finally {
    closeSync(file)
  }
}

function markOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`
}

/** The inode in a mark, which identifies the file independently of its content. */
export function inodeIn(mark: string | undefined): string | undefined {
  return mark?.split(':')[0]
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | null)?.code ?? '')
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
