// The entries of the package under test: by name, or out of another built checkout.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const ownRoot = join(import.meta.dirname, '../..')

/** @param name `errand`, `errand/http` … */
export function loadEntry<M>(packageRoot: string, name: string): Promise<M> {
  if (packageRoot === ownRoot) return import(name) as Promise<M>
  const file = name === 'errand' ? 'index.js' : `${name.slice('errand/'.length)}.js`
  return import(pathToFileURL(join(packageRoot, 'dist', file)).href) as Promise<M>
}
