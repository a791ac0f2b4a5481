// The entries of the package under test: by name, or out of another built checkout.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const ownRoot = join(import.meta.dirname, '../..')

/** @param file Of dist, for another checkout. */
export function loadEntry<M>(packageRoot: string, name: 'errand' | 'errand/http', file: string): Promise<M> {
  if (packageRoot !== ownRoot) return import(pathToFileURL(join(packageRoot, 'dist', file)).href) as Promise<M>
  return (name === 'errand' ? import('errand') : import('errand/http')) as Promise<M>
}
