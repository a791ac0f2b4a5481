// The size of the built page, as a browser loads it over the network.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'

const built = join(import.meta.dirname, '../../dist/page')

it('the page, with all parts that are loaded later, is at most 110 kB compressed', () => {
  const files = globSync('**/*.{html,js,css,svg}', { cwd: built })
  expect(files.length).toBeGreaterThan(3)
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(join(built, file))).length, 0)
  expect(bytes).toBeLessThanOrEqual(110_000)
})
