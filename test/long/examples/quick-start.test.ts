// The first program of the README, killed in the middle and started again.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const program = fileURLToPath(new URL('../../../examples/quick-start/count.js', import.meta.url))

/** Runs the program in a folder; kills it with SIGKILL once it has printed `killAt`. Resolves to what it printed. */
function run(folder: string, killAt?: string): Promise<string[]> {
  const child = spawn(process.execPath, [program], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    if (line === killAt) child.kill('SIGKILL')
  })
  return new Promise((resolve) => child.once('close', () => resolve(lines)))
}

it('S0-106 the first program of the README continues after kill -9, and repeats no completed step', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'errand-example-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))

  expect(await run(folder, 'step 4')).toEqual(['step 1', 'step 2', 'step 3', 'step 4'])
  expect(await run(folder)).toEqual(['step 4', 'step 5', 'step 6', 'step 7', 'step 8', 'step 9', 'step 10', 'counted'])
  expect(await run(folder)).toEqual(['counted'])
})
