// Scripts for the REPL: `errand repl` with -e, --file or a pipe, and `runScript` in a program.
import { expect, it } from 'vitest'
import { createEngine } from '../../../src/index.ts'
import { runScript } from '../../../src/surfaces/repl/index.ts'
import { call } from '../cli/agent-workplace.ts'
import { Workplace } from '../cli/workplace.ts'

/** Runs lines with a new engine. */
async function ran(lines: string | string[], context: Record<string, unknown> = {}) {
  await using engine = await createEngine({ work: false })
  const [out, err]: [string[], string[]] = [[], []]
  const collect = (into: string[]) => ({ write: (text: string) => into.push(text) })
  const code = await runScript(engine, lines, { stdout: collect(out), stderr: collect(err), context })
  return { code, out: out.join(''), err: err.join('') }
}

it('X-028 a REPL script runs its lines strictly in order, however long each takes', async () => {
  await using place = new Workplace()
  const stdin = [
    'await new Promise((resolve) => setTimeout(resolve, 50)); console.log("slow")',
    'Promise.resolve("waited for")',
    '/create the third',
    '1 + 3',
  ].join('\n')
  expect(await call(place, ['repl'], { stdin }).ended).toEqual({
    code: 0,
    out: expect.stringMatching(/^slow\nwaited for\n#1 the third created \(task-\w+\)\n4\n$/),
    err: place.newLedger,
  })
})

it.each([
  [
    'a refusal',
    '/pause it',
    2,
    /^errand repl: line 3: INVALID_TRANSITION: Cannot pause #\d+ \w+: it is submitted\..*\n$/,
  ],
  ['an unknown command', '/paus it', 2, /line 3: INVALID_INPUT: There is no command \/paus\. Did you mean/],
  ['an unknown task', '@missing hello', 2, /line 3: NOT_FOUND: There is no task missing\./],
  ['a refusal of a method', 'await resume($)', 2, /line 3: INVALID_TRANSITION: /],
  ['an error of the line', "await Promise.reject(new Error('no'))", 1, /line 3: Uncaught Error: no\n$/],
  ['an error without an await', "throw new TypeError('no')", 1, /line 3: Uncaught TypeError: no\n$/],
  ['a syntax error', 'foo bar', 1, /line 3: Uncaught SyntaxError: /],
  ['a failed task', "await fail(await start($), 'x'); await result($.id)", 1, /line 3: TASK_FAILED: .* failed: x/],
])('X-028 a REPL script ends with %s, with its line number and exit code', async (_what, line, code, words) => {
  const { out, ...ended } = await ran(['/create it --by-hand', '', line, "console.log('never')"])
  expect(ended).toEqual({ code, err: expect.stringMatching(words) })
  expect(out).not.toContain('never')
  expect(ended.err.trim().split('\n')).toHaveLength(1)
})

it('X-028 a REPL script accepts statements over several lines, and refuses an incomplete one at its first line', async () => {
  const twice = ['function twice(x) {', '  return x * 2', '}', 'twice(4)']
  expect(await ran(twice)).toEqual({ code: 0, out: '8\n', err: '' })
  expect(await ran(['1', 'if (true) {', '2'])).toEqual({
    code: 2,
    out: '1\n',
    err: expect.stringMatching(/^errand repl: line 2: INVALID_INPUT: The script ends within/),
  })
})

it('X-028 lines of a REPL script share declarations, accept commands with a dot, and end with /exit', async () => {
  const lines = [
    '#!/usr/bin/env errand',
    'const { a, b } = await given()',
    '.create it --by-hand',
    'a + b',
    '/exit',
    'never',
  ]
  const { code, out } = await ran(lines.join('\r\n'), { given: async () => ({ a: 1, b: 2 }) })
  expect({ code, out: out.replace(/\(.*\)/, '()') }).toEqual({ code: 0, out: '#1 it created ()\n3\n' })
})

it('X-028 `_` is the value of the last line, until a line assigns it', async () => {
  expect((await ran(['6 * 7', 'undefined', '_ / 2', 'Promise.resolve([_])', '_.length'])).out).toBe(
    '42\n21\n[ 21 ]\n1\n',
  )
  const { code, out } = await ran(["_ = 'mine'", '1 + 1', '_'])
  expect(code).toBe(0)
  expect(out.split('\n').slice(-4)).toEqual(['mine', '2', 'mine', ''])
})

it('X-028 `$` is the last task that a line returned', async () => {
  const { code, out } = await ran(["await engine.create({ name: 'a' })", '$.name'])
  expect({ code, name: out.trim().split('\n').at(-1) }).toEqual({ code: 0, name: 'a' })
})

it('X-028 errand repl takes several -e, or --file, and creates the ledger', async () => {
  await using place = new Workplace()
  expect(await place.errand('repl', '-e', '/create one --by-hand', '-e', '/ps', '-e', '$.name')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^#1 one created .*\n#.*\n1 .*claimable.*one\none\n$/),
  })
  const found = await place.errand('repl', '-e', '/ps pending', '-e', '/ps running killed')
  expect(found.out).toMatch(/^#.*\n1 .*claimable.*one\nno tasks\n$/)
  expect(await place.errand('repl', '-e', '/ps runing')).toMatchObject({
    err: expect.stringContaining('Did you mean "running"?'),
  })
  place.write('lines.txt', "/cancel 1 --reason it is enough\n(await tasks['1']).statusReason\n")
  expect(await place.errand('repl', '--file', 'lines.txt')).toMatchObject({
    code: 0,
    out: '#1 one canceled\nit is enough\n',
  })
})

it.each([
  ['both -e and --file', ['-e', '1', '--file', 'x'], /either -e or --file/],
  ['a missing file', ['--file', 'nowhere'], /Cannot read the lines in .*nowhere/],
  ['--json', ['-e', '1', '--json'], /--json has no effect here/],
  ['neither lines nor a terminal', [], /There is no terminal/],
  ['a model without --work', ['-e', '1', '--model', 'script:x'], /--model needs --work/],
])('X-028 errand repl refuses %s', async (_what, args, words) => {
  await using place = new Workplace()
  expect(await place.errand('repl', ...args)).toEqual({ code: 2, out: '', err: expect.stringMatching(words) })
})

it('X-028 errand repl --work runs ready tasks, and follows a task without a message to its end', async () => {
  await using place = new Workplace()
  const lines = [
    '/create greet --executor shell --input {"run": "echo hello; echo there"}',
    '@greet',
    'await result($.id)',
    '/calls greet',
    '/inspect greet',
  ]
  const { code, out, err } = await place.errand('repl', '--work', ...lines.flatMap((line) => ['-e', line]))
  expect({ code, err }).toEqual({ code: 0, err: place.newLedger })
  expect(out).toMatch(/^#1 greet created .*\n· calls shell .*\nhello\nthere\n\{\n +exitCode: 0,/)
  expect(out).toMatch(/^state +completed\naccepts +nothing: it is settled$/m)
})

it('X-028 /tail prints events of other processes until it is interrupted', async () => {
  await using place = new Workplace()
  await place.errand('add', 'first')
  const tail = place.start('repl', '-e', '/events', '-e', '/tail')
  await tail.printed(/#1 first task\.created/)
  // A task that is added before the tail has started is not printed, so tasks are added until one is.
  let printed = false
  const telling = tail.printed(/#\d+ later\d+ task\.created/).then(() => {
    printed = true
  })
  for (let count = 0; !printed; count++) await place.errand('add', `later${count}`)
  await telling
  tail.kill('SIGINT')
  expect((await tail.ended).code).toBe(130)
})

it.each([
  ['throw Object.create(null)', 'Uncaught [Object: null prototype] {}'],
  ['throw { code: 5 }', 'Uncaught { code: 5 }'],
  ['throw { [Symbol.for("nodejs.util.inspect.custom")]() { throw 1 } }', 'Uncaught value, which cannot be shown'],
  ['throw Object.defineProperty(new Error("no"), "code", { get() { throw 1 } })', 'Uncaught Error: no'],
])('X-028 a REPL line that throws any value prints one line: %s', async (line, words) => {
  expect(await ran(line)).toEqual({ code: 1, out: '', err: `errand repl: line 1: ${words}\n` })
})

it('X-028 a REPL line may return a value whose properties throw', async () => {
  const lines = [
    'new Proxy({}, { get() { throw 1 } })',
    '({ [Symbol.for("nodejs.util.inspect.custom")]() { throw new Error("no") } })',
  ]
  expect(await ran(lines)).toEqual({ code: 0, out: '{}\nThe value cannot be shown. Uncaught Error: no\n', err: '' })
})

it('X-028 the REPL finds a task by number, id, prefix of the id, or unique name; a number is never the prefix of an id', async () => {
  const { code, out } = await ran([
    "const one = await create({ name: 'report' }); const two = await create({ name: 'two words' })",
    'const named = async (ref) => (await tasks[ref]).seq',
    "await named('1') + await named('#2')",
    'await named(one.id) === 1 && await named(one.id.slice(0, 12)) === 1',
    "await named('report') + await named('two words') * 10",
    '/pause 9999999',
  ])
  expect({ code, out }).toEqual({ code: 2, out: '3\ntrue\n21\n' })
  const twins = await ran(['/create twin --by-hand', '/create twin --by-hand', '/show twin'])
  expect(twins).toMatchObject({ code: 2, err: expect.stringMatching(/2 open tasks have the name twin: #1, #2\./) })
  const quoted = await ran(['/create two words --by-hand', '/cancel "two words" no need', '/why $'])
  expect(quoted).toMatchObject({ code: 0, out: expect.stringMatching(/\n#1 two words canceled\n/) })
})

it('X-028 abilities are functions in the REPL, and a stream prints its chunks in order', async () => {
  const { code, out, err } = await ran([
    "await abilities.task.create({ name: 'x' }); 0",
    'abilities.task.list({})',
    'for await (const event of abilities.event.feed({ after: 0 })) { console.log(event.type); break }',
    "call('task:why', { taskId: (await tasks.x).id })",
    '/call task:list {"limit": 1}',
    "engine.bus.log({ abilityId: 'task:create' })[0].caller.surface",
  ])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^0\n#.*\n1 .* x\ntask\.created\n.*waits for anybody.*\n#.*\n1 .* x\nrepl\n$/)
})

it('a REPL script names tasks that begin with a dash, and records its changes', async () => {
  await using engine = await createEngine({ work: false })
  await engine.create({ name: '-1' })
  const out: string[] = []
  const stream = { write: (text: string) => out.push(text) }
  expect(
    await runScript(engine, ['/start -1', '/cancel "-1" for a --reason'], { stdout: stream, stderr: stream }),
  ).toBe(0)
  const { events } = await engine.bus.call('event:list', {})
  const requested = events.map(({ type, data }) => [type, (data as { requestedBy?: unknown }).requestedBy])
  expect(requested).toContainEqual(['task.started', { surface: 'repl' }])
  expect(requested).toContainEqual(['task.canceled', { surface: 'repl' }])
})

it('/signal sends a signal with JSON or without, and names what is missing or wrong', async () => {
  const { code, out, err } = await ran(['/create it --by-hand', '/signal it paid {"amount": 12}', '/signal it go'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out.match(/, signal sent\n/g)).toHaveLength(2)
  expect((await ran(['/create it --by-hand', '/signal it'])).err).toMatch(
    /line 2: .*The name of the signal for .* is missing/,
  )
  expect((await ran(['/create it --by-hand', '/signal it paid {amount'])).err).toMatch(/line 2: .*takes JSON/)
})
