// `errand repl` at a pseudo-terminal: one short session. test/long types the rest.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { keys, ReplTerminal } from './repl-terminal.ts'

it('X-028 the REPL at a terminal creates, shows and cancels a task, evaluates JavaScript, and exits with 0', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'errand-repl-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await using repl = new ReplTerminal({ folder, columns: 160 })
  await repl.ready()
  expect(await repl.enter('/create first it --by-hand')).toMatch(/^#1 first it created/)
  expect(await repl.enter('(await tasks["first it"]).seq + 1')).toBe('2')
  expect(await repl.enter('/cancel 1 enough')).toContain('#1 first it canceled')
  expect(await repl.enter('/show 1')).toMatch(/^#1 first it: canceled(?:\n.*)*enough/)
  repl.type(keys.ctrlD)
  expect(await repl.ended).toBe(0)
})
