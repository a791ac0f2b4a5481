// The command line as a function: help, version, misspelled verbs, and the exit codes of verbs that need no ledger.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ErrandError, type ErrorCode } from '../../../src/core/errors.ts'
import { main } from '../../../src/surfaces/cli/main.ts'
import { allVerbs } from '../../../src/surfaces/cli/verbs.ts'
import { exitCodeOf } from '../../../src/surfaces/terminal/exit-code.ts'
import { fakeIo } from './fake-io.ts'

const verbs = await allVerbs()

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'errand-main-'))
  writeFileSync(join(cwd, 'plan.yaml'), 'tasks: { a: { run: x }, b: { run: y, after: a } }')
})
afterAll(() => rmSync(cwd, { recursive: true }))

async function errand(...argv: string[]) {
  const io = fakeIo({ cwd, env: { GIT_CEILING_DIRECTORIES: tmpdir() } })
  return { code: await main(argv, io), out: io.out(), err: io.err() }
}

it('errand without a verb prints the overview and exits with 2', async () => {
  const { code, out, err } = await errand()
  expect(code).toBe(2)
  expect(out).toBe('')
  for (const verb of Object.keys(verbs)) expect(err).toContain(verb)
})

it.each(['help', '--help', '-h'])('errand %s lists every verb', async (word) => {
  const { code, out } = await errand(word)
  expect(code).toBe(0)
  for (const verb of Object.keys(verbs)) expect(out).toContain(verb)
})

it.each(Object.keys(verbs))('errand help %s prints usage and options', async (verb) => {
  const asked = await errand('help', verb)
  expect(asked).toMatchObject({ code: 0, out: expect.stringContaining(`Usage: errand ${verb}`) })
  expect(asked.out).toContain('--ledger')
  expect(await errand(verb, '--help')).toEqual(asked)
})

it.each(['', ...Object.keys(verbs)])('errand help %s breaks lines between words at a terminal', async (verb) => {
  const io = fakeIo({ cwd, tty: true })
  expect(await main(['help', ...(verb === '' ? [] : [verb])], io)).toBe(0)
  const lines = io.out().split('\n')
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  const { out } = await errand('help', ...(verb === '' ? [] : [verb]))
  expect(lines.join(' ').split(/\s+/)).toEqual(out.split(/\s+/))
})

it('errand --version prints the version of the package', async () => {
  expect((await errand('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/)
})

it('errand suggests the nearest verb for an unknown one', async () => {
  expect(await errand('cancle')).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean "cancel"?') })
  expect(await errand('constructor')).toMatchObject({ code: 2, err: expect.stringContaining('no verb') })
})

it.each([
  ['an unknown option', ['run', 'plan.yaml', '--agian'], /Did you mean "--again"/],
  ['a missing plan', ['run', 'other.yaml'], /^errand: Cannot read the plan other\.yaml: there is no such file\.\n$/],
  ['a misspelt plan', ['run', 'paln.yaml'], /there is no such file\. Did you mean "plan\.yaml"\?\n$/],
  ['an unknown target', ['run', 'plan.yaml', 'c'], /no task "c"/],
  ['an invalid concurrency', ['run', 'plan.yaml', '--concurrency', '0'], /at least 1/],
  ['--key beside --again', ['run', 'plan.yaml', '--key', 'k', '--again'], /only one of them/],
  ['a missing ledger', ['ps', '--ledger', 'none.db'], /There is no ledger at .*none\.db/],
  ['an unknown status', ['ps', '--status', 'runing'], /--status takes one of/],
  ['an unknown machine', ['graph', '--machine', 'tusk'], /Did you mean "task"\?/],
  ['--run beside --executor', ['add', '--run', 'x', '--executor', 'y'], /either --run or --executor/],
  ['a task with no name and nothing to do', ['add'], /needs a name/],
  ['input that is not JSON', ['add', '--executor', 'x', '--input', '{'], /--input takes JSON/],
  ['an invalid time', ['add', 'x', '--not-before', 'soon'], /--not-before takes/],
])('errand refuses %s with exit code 2 and says what would work', async (_what, argv, message) => {
  const { code, out, err } = await errand(...argv)
  expect(err).toMatch(message)
  expect({ code, out }).toEqual({ code: 2, out: '' })
})

it('errand prints errors as JSON with --json', async () => {
  const { err } = await errand('run', 'other.yaml', '--json')
  expect(JSON.parse(err)).toMatchObject({ error: { code: 'NOT_FOUND' } })
})

it('errand graph draws a plan and the lifecycles without a ledger', async () => {
  expect((await errand('graph', 'plan.yaml')).out).toBe('flowchart LR\n  t0["a"]\n  t1["b"]\n  t0 --> t1\n')
  expect((await errand('graph', '--machine', 'task')).out).toContain('submitted --> working: start')
  expect((await errand('graph', '--machine', 'call')).out).toContain('pending --> in_progress: begin')
})

it('errand run --dry-run lists the tasks in order, and creates no ledger', async () => {
  const { code, out } = await errand('run', 'plan.yaml', '--dry-run', '--ledger', 'dry.db', 'a')
  expect(code).toBe(0)
  expect(out.split('\n').slice(1, 3)).toEqual([
    'create  a     it is new',
    'hold    b     it is new, no target needs it',
  ])
  const json = await errand('run', 'plan.yaml', '--dry-run', '--ledger', 'dry.db', '--json')
  expect(
    json.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).action),
  ).toEqual(['create', 'create'])
  expect((await errand('ps', '--ledger', 'dry.db')).code).toBe(2)
})

it('errand --json escapes control characters of names, in errors too', async () => {
  const name = 'a\u009b2Jb\u202ec'
  const ledger = join(cwd, 'names.db')
  expect((await errand('add', name, '--ledger', ledger)).code).toBe(0)
  const { out } = await errand('ps', '--all', '--json', '--ledger', ledger)
  expect(out).toContain('a\\u009b2Jb\\u202ec')
  expect(JSON.parse(out)).toMatchObject({ name })
  const { err } = await errand('show', `${name}d`, '--json', '--ledger', ledger)
  expect(err).toContain('\\u202e')
  expect(err).not.toContain('\u202e')
})

it('exit codes distinguish wrong requests from other errors', () => {
  expect(exitCodeOf(new ErrandError('INVALID_TRANSITION', 'x'))).toBe(2)
  expect(exitCodeOf(new ErrandError('NOT_OFFERED', 'x'))).toBe(2)
  expect(exitCodeOf(new ErrandError('LEDGER_CORRUPT', 'x'))).toBe(1)
  expect(exitCodeOf(new Error('x'))).toBe(1)
  // From another copy of the package, which has more codes.
  expect(exitCodeOf(new ErrandError('NEWER_THAN_THIS' as ErrorCode, 'x'))).toBe(1)
})
