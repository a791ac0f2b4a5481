// Builds the page into dist/page. A function, because the build of the whole package calls it; started by itself it does the same.

import { join } from 'node:path'
import { build } from 'vite'

/** Replaces what dist/page holds. Throws what Vite throws when it does not compile. */
export async function buildPage(): Promise<void> {
  await build({ configFile: join(import.meta.dirname, 'vite.config.ts') })
}

if (import.meta.main) await buildPage()
