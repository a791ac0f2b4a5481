// `errand run` at a terminal: a pseudo-terminal with a process, typed keys, and the screen.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { main } from '../../../src/surfaces/cli/main.ts'
import { ErrandTerminal, keys } from '../repl/errand-terminal.ts'
import { fakeIo } from './fake-io.ts'

function folderWith(plan: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'errand-terminal-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'plan.yaml'), plan)
  return folder
}

const runPlan = (folder: string, size: { columns?: number; rows?: number } = {}) =>
  new ErrandTerminal({ folder, args: ['run', 'plan.yaml'], ...size })

it('errand run at a terminal waits until its question is answered, also when no other task is left', async () => {
  const folder = folderWith(`
tasks:
  name: { ask: Who are you? }
  beside: { run: echo done }
  greet: { after: name, run: 'echo "hello $ERRAND_RESULT_name"' }
`)
  await using terminal = runPlan(folder)
  await terminal.until(
    ({ lines }) => lines.some((line) => /✓ #\d+ beside/.test(line)) && lines.includes(' Who are you?'),
  )
  terminal.type('Bob')
  await terminal.shows(/› Bob▏/)
  terminal.type(keys.enter)
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen.lines.join('\n')).toContain('greet | hello Bob')
})

it('errand run at a terminal ends with 130 when its question is interrupted, and the next run asks again', async () => {
  const folder = folderWith('tasks: { name: { ask: Who are you? } }')
  await using first = runPlan(folder)
  await first.shows(/^ Who are you\?/)
  first.type(keys.ctrlC)
  expect(await first.ended).toBe(130)
  await using second = runPlan(folder)
  await second.shows(/^ Who are you\?/)
  second.type(`Ann${keys.enter}`)
  expect(await second.ended).toBe(0)
})

it('the prompt keeps its question and the typed text when a question arrives before it, and asks that one afterwards', async () => {
  const folder = folderWith(`
tasks:
  late: { after: gate, ask: What is your quest? }
  gate: { run: 'until [ -e go ]; do sleep 0.02; done' }
  name: { ask: What is your name? }
`)
  await using terminal = runPlan(folder)
  await terminal.shows(/^ What is your name\?/)
  terminal.type('Lance')
  await terminal.shows(/› Lance▏/)
  writeFileSync(join(folder, 'go'), '')
  await terminal.shows(/1 more to answer after this one/)
  terminal.type('lot')
  await terminal.shows(/› Lancelot▏/)
  expect(terminal.screen.lines).toContain(' What is your name?')
  terminal.type(keys.enter)
  await terminal.shows(/^ What is your quest\?/)
  terminal.type(`the grail${keys.enter}`)
  expect(await terminal.ended).toBe(0)
})

it('the prompt counts down to the default, until a key is pressed', async () => {
  const folder = folderWith('tasks: { name: { ask: { question: Who are you?, default: Bob } } }')
  await using terminal = runPlan(folder)
  await terminal.shows(/Who are you\? \(default: Bob in \d+\.\ds unless you press a key\)/)
  terminal.type('Alexan')
  await terminal.shows(/Who are you\? \(default: Bob\)/)
  terminal.type(`der${keys.enter}`)
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen.lines.join('\n')).toContain('name | Alexander')
})

it('errand run without a terminal takes the default of a question that was left open at a terminal', async () => {
  const folder = folderWith('tasks: { name: { ask: { question: Who are you?, default: Bob } } }')
  await using terminal = runPlan(folder)
  await terminal.shows(/Who are you\?/)
  terminal.type(keys.ctrlC)
  expect(await terminal.ended).toBe(130)
  const io = fakeIo({ cwd: folder, env: { ERRAND_LEDGER: join(folder, 'ledger.db') } })
  expect(await main(['run', 'plan.yaml'], io)).toBe(0)
  expect(io.out()).toContain('1 task completed')
})

it('the prompt wraps a long question, always shows what can be answered, and says what fits', async () => {
  const question =
    'Are all of the release notes, the migration guide and the changes of the schema ready to be published today?'
  const folder = folderWith(
    `tasks: { sure: { ask: { question: '${question}', schema: { type: boolean }, default: false } } }`,
  )
  await using terminal = runPlan(folder, { columns: 40 })
  terminal.type('x')
  const asked = ({ lines }: ErrandTerminal['screen']) => lines.join('\n').replaceAll('\n', '').replaceAll('  ', ' ')
  await terminal.until((screen) => asked(screen).includes(`${question} [true|false] (default: false)`))
  const { lines } = terminal.screen
  const prompt = lines.slice(lines.findIndex((line) => line.includes('Are all')))
  expect(Math.max(...prompt.map((line) => line.length))).toBeLessThan(40)
  terminal.type(keys.enter)
  const fits = '"x" is not valid: expected a boolean, got a string. Type one of: true, false.'
  await terminal.until((screen) => asked(screen).includes(fits))
  terminal.type(`true${keys.enter}`)
  expect(await terminal.ended).toBe(0)
})
