// The folder as a port: the few operations on files that a mirror is made of, each of them one call to the system, so that a test
// can end the process before any of them. Nothing here follows a link or leaves the folder. What is made is private to its user, as the
// ledger is.
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

/** Largest file that is read, in bytes. */
export const maxFileBytes = 1024 * 1024

/** What stands under a name. `mark` changes whenever the file does, within what the file system's clock can tell. */
export type Look =
  | { kind: 'none' }
  | { kind: 'text'; text: string; mark: string; changedMs: number }
  | { kind: 'other'; why: string; mark: string }

export interface FolderFiles {
  list(folder?: string): string[]
  /** `linked`: more than one name is fine. */
  look(name: string, linked?: boolean): Look
  /** The mark of what stands under a name, without reading it. */
  mark(name: string): string | undefined
  /** Writes a file that must not be there yet. */
  create(name: string, text: string): void
  /** A second name for a file. 'taken' when there is one of that name; 'unknown' where the file system has no such thing. */
  link(from: string, to: string): 'done' | 'taken' | 'gone' | 'unknown'
  /** Replaces whatever has the name `to`, in one motion. False when `from` is gone. */
  rename(from: string, to: string): boolean
  remove(name: string): void
  /** Makes a folder below this one. @throws ErrandError INVALID_INPUT when something else has its name. */
  makeFolder(name: string): void
}

/**
 * Makes the folder where there is none, and resolves it once: whatever becomes of the path later, files are written where it led.
 * @throws ErrandError INVALID_INPUT for a path that is no folder.
 */
export function openFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return realpathSync(path)
  } catch (error) {
    throw new ErrandError('INVALID_INPUT', `${path} cannot be used as a folder: ${reasonOf(error)}.`, { path }, error)
  }
}

/** @throws ErrandError INVALID_INPUT for a folder that is not there. */
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
    look: (name, linked = false) => lookAt(at(name), linked),
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
        if (codeOf(error) === 'ENOENT') return 'gone'
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
        throw new ErrandError('INVALID_INPUT', `${at(name)} is in the way: a folder of that name is needed there.`, {
          path: at(name),
        })
      }
    },
  }
}

const withoutLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

function lookAt(path: string, linked: boolean): Look {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) return { kind: 'none' }
  const refusal = refusalOf(stats, linked)
  if (refusal !== undefined) return { kind: 'other', why: refusal, mark: markOf(stats) }
  return readRegular(path, linked)
}

function refusalOf(stats: BigIntStats, linked: boolean): string | undefined {
  if (stats.isSymbolicLink()) return 'it is a symbolic link; put the file itself there'
  if (!stats.isFile()) return 'it is no ordinary file'
  if (stats.nlink > 1n && !linked) return `it has ${stats.nlink} names (hard links); put a copy there`
  if (stats.size > BigInt(maxFileBytes)) return `it has ${stats.size} bytes, at most ${maxFileBytes} are read`
  return undefined
}

function readRegular(path: string, linked: boolean): Look {
  let file: number
  try {
    // Whatever was put there since the look above: no link is followed, and no pipe is waited for.
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

/** The inode in a mark: the same file, whatever stands in it. */
export function inodeIn(mark: string | undefined): string | undefined {
  return mark?.split(':')[0]
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | null)?.code ?? '')
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
