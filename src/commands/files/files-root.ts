// The folder that a model may read. Every path is resolved to its real path and validated by it, so that links and `..` reach nothing
// outside of the folder. Names with a leading dot (`.env`, `.git`) and ledgers that this process has open are hidden. Files with hard
// links are not read, because the other name may lie outside of the folder.

import { isUtf8 } from 'node:buffer'
import { type Dirent, realpathSync, statSync } from 'node:fs'
import { constants, type FileHandle, lstat, open, readdir, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { ErrandError } from '../../core/errors.ts'
import { requireText } from '../../core/parse.ts'
import { isOpenLedgerFile } from '../../ledger/open-files.ts'

/** Larger files are not read, not even in part. */
const maxFileBytes = 4 * 1024 * 1024

/** A file or folder; its path is relative to the root and separated by `/`. */
export interface Entry {
  path: string
  kind: 'file' | 'folder'
  /** Undefined for folders. */
  bytes?: number
  /** Only for folders: reached through a link, so it may appear twice. */
  isLink?: true
}

export class FilesRoot {
  readonly #root: string

  /** @throws ErrandError NOT_FOUND { folder } if it is not a readable folder. */
  constructor(folder: string) {
    this.#root = openRoot(requireText(folder, 'the folder of the files'))
  }

  /** The entries of a folder by name, without hidden ones, links that lead outside, and entries that are neither file nor folder. */
  async entries(path: string): Promise<Entry[]> {
    const folder = await this.#locate(path)
    let found: Dirent[]
    try {
      found = await readdir(folder, { withFileTypes: true })
    } catch (error) {
      throw readError(path, error, 'It is not a folder')
    }
    const above = relative(this.#root, folder).split(sep).join('/')
    const entries: Entry[] = []
    for (const each of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const entry = await this.#entry(join(folder, each.name), above === '' ? each.name : `${above}/${each.name}`)
      if (entry?.kind === 'folder' && each.isSymbolicLink()) entries.push({ ...entry, isLink: true })
      else if (entry !== undefined) entries.push(entry)
    }
    return entries
  }

  /** The whole text of a file. @throws ErrandError NOT_FOUND, FORBIDDEN, LIMIT_EXCEEDED; INVALID_INPUT for a file that is not text. */
  async text(path: string): Promise<string> {
    const file = await this.#locate(path)
    const bytes = await readWhole(file, path, async () => (await this.#locate(path)) === file)
    if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8').replace(/^\ufeff/, '')
    throw new ErrandError('INVALID_INPUT', `${path} is not text: only UTF-8 text is read.`, { path })
  }

  /** Resolves to the real path. @throws ErrandError NOT_FOUND, FORBIDDEN */
  async #locate(path: string): Promise<string> {
    requireText(path, 'the path')
    if (path.includes('\0')) throw notFound(path)
    const resolved = resolve(this.#root, path)
    // Also validated before the lookup, so that the answer does not reveal what exists outside.
    this.#require(resolved, path)
    let real: string
    try {
      real = await realpath(resolved)
    } catch {
      // A missing target behind a link that leads outside is refused like an existing one.
      this.#require(await realPrefix(resolved), path)
      throw notFound(path)
    }
    this.#require(real, path)
    return real
  }

  #require(real: string | undefined, path: string): void {
    if (real !== undefined && this.#isVisible(real)) return
    throw new ErrandError(
      'FORBIDDEN',
      `${path} may not be read: only files inside the given folder that are not hidden may be. Paths are relative to that folder, like "notes/plan.md".`,
      { path },
    )
  }

  #isVisible(real: string): boolean {
    const inside = relative(this.#root, real)
    if (inside === '') return true
    if (isOpenLedgerFile(real)) return false
    return !isAbsolute(inside) && inside.split(sep).every((part) => part !== '..' && !part.startsWith('.'))
  }

  async #entry(full: string, path: string): Promise<Entry | undefined> {
    try {
      const real = await realpath(full)
      if (!this.#isVisible(full) || !this.#isVisible(real)) return undefined
      const found = await stat(real)
      if (found.isDirectory()) return { path, kind: 'folder' }
      return found.isFile() ? { path, kind: 'file', bytes: found.size } : undefined
    } catch {
      return undefined // a dangling link, or a file deleted meanwhile
    }
  }
}

/** The real path of the longest existing part of a path; undefined for a dangling link. */
async function realPrefix(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch {
    const found = await lstat(path).catch(() => undefined)
    return found?.isSymbolicLink() ? undefined : realPrefix(dirname(path))
  }
}

function openRoot(folder: string): string {
  try {
    const root = realpathSync(folder)
    if (statSync(root).isDirectory()) return root
  } catch (error) {
    throw new ErrandError('NOT_FOUND', `The folder ${folder} does not exist.`, { folder }, error)
  }
  throw new ErrandError('NOT_FOUND', `${folder} is not a folder. Pass the folder that may be read.`, { folder })
}

/** Opens without following links or waiting for a pipe. `isStill` returns whether the path still leads to the validated file. */
async function readWhole(file: string, path: string, isStill: () => Promise<boolean>): Promise<Buffer> {
  let handle: FileHandle
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw readError(path, error, 'It cannot be opened')
  }
  try {
    const found = await handle.stat()
    const { size } = found
    if (!found.isFile())
      throw new ErrandError('INVALID_INPUT', `${path} is not a file. fs:list lists the contents of a folder.`, { path })
    if (found.nlink > 1) {
      throw new ErrandError(
        'FORBIDDEN',
        `${path} may not be read: it has ${found.nlink} names (hard links), and another one may be outside of the given folder. Put a copy of the file there.`,
        { path },
      )
    }
    if (size > maxFileBytes) {
      throw new ErrandError(
        'LIMIT_EXCEEDED',
        `${path} has ${size} bytes, and files of more than ${maxFileBytes} are not read.`,
        { path, bytes: size, limit: maxFileBytes },
      )
    }
    if (!(await isStill())) throw notFound(path)
    return await readUpTo(handle, maxFileBytes)
  } finally {
    await handle.close()
  }
}

/** Bounded, because a file may grow while it is read. */
async function readUpTo(handle: FileHandle, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  while (length < limit) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(65_536, limit - length)))
    if (bytesRead === 0) break
    length += bytesRead
    pieces.push(buffer.subarray(0, bytesRead))
  }
  return Buffer.concat(pieces)
}

function notFound(path: string): ErrandError {
  return new ErrandError('NOT_FOUND', `There is no file or folder ${path}. fs:list lists what exists.`, { path })
}

/** Omits the real path, so that the model does not see the location of the folder. */
function readError(path: string, error: unknown, what: string): ErrandError {
  const code = (error as { code?: unknown }).code
  if (code === 'ENOENT') return notFound(path)
  return new ErrandError('INVALID_INPUT', `Cannot read ${path} (${String(code)}). ${what}.`, { path }, error)
}
