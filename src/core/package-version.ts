// The version of this package, read from its package.json.
import { readFileSync } from 'node:fs'

/** `unknown` in a bundle without package.json. */
export function packageVersion(): string {
  try {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    return (JSON.parse(manifest) as { version: string }).version
  } catch {
    return 'unknown'
  }
}
