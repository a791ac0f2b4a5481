// Where this package lies, and what its manifest says. The package refers to itself by its name, so that it does not matter whether
// this module runs from src or from a chunk in dist.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fromOwnPlace } from './own-require.ts'

/** The folder of package.json; undefined in a bundle of an application that has left the package behind. */
export function packageFolder(): string | undefined {
  try {
    return dirname(fromOwnPlace((require) => require.resolve('errand/package.json')))
  } catch {
    return undefined
  }
}

/** The version of this package; `unknown` in a bundle that has left the package behind. */
export function packageVersion(): string {
  const folder = packageFolder()
  if (folder === undefined) return 'unknown'
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version
}
