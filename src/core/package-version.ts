// The version of this package, as its manifest says.
import { readFileSync } from 'node:fs'

/** In a bundle, which has left the manifest behind, nobody knows: `unknown`. */
export function packageVersion(): string {
  try {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    return (JSON.parse(manifest) as { version: string }).version
  } catch {
    return 'unknown'
  }
}
