// A process that has closed its inspector ends by itself: nothing keeps it alive.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const program = fileURLToPath(new URL('close-and-exit.ts', import.meta.url))

it('a process that has closed its inspector and its engine ends by itself', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], { timeout: 20_000 })
  expect(stdout).toBe('closed\n')
  expect(stderr).toBe('')
})
