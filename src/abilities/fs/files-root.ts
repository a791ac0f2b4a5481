// The folder that a model may look into. Every path is led back to its real one and judged by that: nothing outside of the
// folder is reached, whatever a link or a `..` says, and nothing is seen whose name begins with a dot (`.env`, `.git`), nor a
// ledger that this process has open. A file with a second name is not read: nothing says where that one is.

import { isUtf8 } from 'node:buffer'
import { type Dirent, realpathSync, statSync } from 'node:fs'
import { constants, type FileHandle, lstat, open, readdir, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { ErrandError } from '../../core/errors.ts'
import { requireText } from '../../core/parse.ts'
import { isOpenLedgerFile } from '../../ledger/open-files.ts'

/** A larger file is not read, whatever part of it is asked for. */
const maxFileBytes = 4 * 1024 * 1024

/** A file or folder, named from the root with `/`. */
export interface Entry {
  path: string
  kind: 'file' | 'folder'
  /** Undefined for folders. */
  bytes?: number
  /** Only of folders: reached by a link, and so perhaps a second time. */
  isLink?: true
}

export class FilesRoot {
  readonly #root: string

  /** @throws ErrandError NOT_FOUND { folder } when it is no folder that can be read. */
  constructor(folder: string) {
    this.#root = openRoot(requireText(folder, 'the folder of the files'))
  }

  /** What stands in a folder, by name; what is hidden, leads out, or is neither file nor folder is left out. */
  async entries(path: string): Promise<Entry[]> {
    const folder = await this.#locate(path)
    let found: Dirent[]
    try {
      found = await readdir(folder, { withFileTypes: true })
    } catch (error) {
      throw unreadable(path, error, 'It is no folder')
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

  /** The whole text of a file. @throws ErrandError NOT_FOUND, FORBIDDEN, LIMIT_EXCEEDED, INVALID_INPUT for what is no text. */
  async text(path: string): Promise<string> {
    const file = await this.#locate(path)
    const bytes = await readWhole(file, path, async () => (await this.#locate(path)) === file)
    if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8').replace(/^\ufeff/, '')
    throw new ErrandError('INVALID_INPUT', `${path} is not text: only UTF-8 text is read.`, { path })
  }

  /** The real path. @throws ErrandError NOT_FOUND, FORBIDDEN */
  async #locate(path: string): Promise<string> {
    requireText(path, 'the path')
    if (path.includes('\0')) throw notFound(path)
    const wanted = resolve(this.#root, path)
    // Judged before it is looked up as well: whether something exists outside is nobody's business.
    this.#require(wanted, path)
    let real: string
    try {
      real = await realpath(wanted)
    } catch {
      // Behind a link that leads out, what is missing is told like what is there.
      this.#require(await standing(wanted), path)
      throw notFound(path)
    }
    this.#require(real, path)
    return real
  }

  #require(real: string | undefined, path: string): void {
    if (real !== undefined && this.#isVisible(real)) return
    throw new ErrandError(
      'FORBIDDEN',
      `${path} may not be read: only what lies inside the folder that was given, and is not hidden, is. Paths begin at that folder, like "notes/plan.md".`,
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
      return undefined // a link that leads nowhere, or a file that went away meanwhile: there is nothing to list
    }
  }
}

/** The real path of as much of a path as is there; undefined where a link leads nowhere. */
async function standing(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch {
    const found = await lstat(path).catch(() => undefined)
    return found?.isSymbolicLink() ? undefined : standing(dirname(path))
  }
}

function openRoot(folder: string): string {
  try {
    const root = realpathSync(folder)
    if (statSync(root).isDirectory()) return root
  } catch (error) {
    throw new ErrandError('NOT_FOUND', `There is no folder ${folder} to read files from.`, { folder }, error)
  }
  throw new ErrandError('NOT_FOUND', `${folder} is no folder: give the folder that files may be read from.`, { folder })
}

/** Opened without following a link or waiting for a pipe; `isStill` says whether the path still leads to what was judged. */
async function readWhole(file: string, path: string, isStill: () => Promise<boolean>): Promise<Buffer> {
  let handle: FileHandle
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw unreadable(path, error, 'It cannot be opened')
  }
  try {
    const found = await handle.stat()
    const { size } = found
    if (!found.isFile())
      throw new ErrandError('INVALID_INPUT', `${path} is no file. fs:list shows what a folder holds.`, { path })
    if (found.nlink > 1) {
      throw new ErrandError(
        'FORBIDDEN',
        `${path} may not be read: it has ${found.nlink} names (hard links), and another one may lie outside of the folder that was given. Put a copy of it there.`,
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

/** A file may grow while it is read. */
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
  return new ErrandError('NOT_FOUND', `There is no file or folder ${path}. fs:list shows what there is.`, { path })
}

/** Without the real path: where the folder lies is not the model's to know. */
function unreadable(path: string, error: unknown, what: string): ErrandError {
  const code = (error as { code?: unknown }).code
  if (code === 'ENOENT') return notFound(path)
  return new ErrandError('INVALID_INPUT', `Cannot read ${path} (${String(code)}). ${what}.`, { path }, error)
}
