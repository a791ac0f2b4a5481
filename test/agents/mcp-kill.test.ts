// An agent that dies in the middle of a call of a public MCP server's tool: the call is in doubt like any other.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { programOf } from '../programs.ts'

const program = programOf(import.meta.dirname, 'mcp-process.ts')

/** What the process printed, and the signal that ended it. */
async function play(folder: string, dies = ''): Promise<{ said: string; signal: unknown }> {
  const child = spawn(process.execPath, [program, folder, dies], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { said, signal }
}

it.each([
  ['files:write_file', 'that writes, fails, and the model decides', ['files:write_file', 'failed', 'CALL_INTERRUPTED']],
  [
    'all:echo',
    'that only reads, is made again',
    ['all:echo', 'failed', 'CALL_INTERRUPTED'],
    ['all:echo', 'completed', null],
  ],
])('a call of %s, %s', async (tool, _what, ...expected) => {
  const folder = mkdtempSync(join(tmpdir(), 'errand-mcp-kill-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'))
  expect((await play(folder, tool)).signal).toBe('SIGKILL')
  const { outcome, calls } = JSON.parse((await play(folder)).said) as { outcome: unknown; calls: unknown[][] }
  expect(outcome).toEqual({ status: 'completed', result: 'Done.' })
  expect(calls.filter(([name]) => name === tool)).toEqual(expected)
})
