// The files of the page, read once. Requests are looked up in this map, so no path can lead outside.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { packageFolder } from '../../../core/package-folder.ts'

export interface PageFile {
  bytes: Uint8Array<ArrayBuffer>
  type: string
  etag: string
}

/** By request path; the page itself is `/`. */
export type PageFiles = ReadonlyMap<string, PageFile>

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

/**
 * The files of the page; undefined if it has not been built.
 * @param basePath where the page is mounted: with one, the page names its files from there, because it is also reached without a slash at its end.
 */
export async function readPage(
  basePath = '',
  folders: readonly string[] = builtPage(),
): Promise<PageFiles | undefined> {
  const folder = folders.find((folder) => existsSync(join(folder, 'index.html')))
  if (folder === undefined) return undefined
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const files = paths.map(async (path): Promise<[string, PageFile]> => {
    const name = pathOf(folder, path)
    const bytes = new Uint8Array(await readFile(path))
    return [name, fileOf(path, name === '/' && basePath !== '' ? withBase(bytes, basePath) : bytes)]
  })
  return new Map(await Promise.all(files))
}

function builtPage(): string[] {
  const folder = packageFolder()
  return folder === undefined ? [] : [join(folder, 'dist/page')]
}

function pathOf(folder: string, path: string): string {
  const name = relative(folder, path).split(sep).join('/')
  return name === 'index.html' ? '/' : `/${name}`
}

function withBase(bytes: Uint8Array, basePath: string): Uint8Array<ArrayBuffer> {
  const text = new TextDecoder().decode(bytes)
  return new TextEncoder().encode(text.replaceAll('="./', `="${basePath}/`))
}

function fileOf(path: string, bytes: Uint8Array<ArrayBuffer>): PageFile {
  return {
    bytes,
    type: types[extname(path)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`,
  }
}
