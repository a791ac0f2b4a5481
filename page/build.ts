// Builds the page into dist/page. Exported for the build of the whole package; also runs as a script.

import { join } from 'node:path'
import { build } from 'vite'

/** Replaces the contents of dist/page. @throws Vite's error if the build fails. */
export async function buildPage(): Promise<void> {
  await build({ configFile: join(import.meta.dirname, 'vite.config.ts') })
}

if (import.meta.main) await buildPage()
