// `errand run` end to end: a process, a plan, a ledger.
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { systemProcessTable } from '../../../src/commands/process-table.ts'
import { Workplace } from './workplace.ts'

async function isAlive(pid: number): Promise<boolean> {
  return (await systemProcessTable.get(pid))?.zombie === false
}

/** A command that reports its start and then waits until a file appears. */
const untilFile = (file: string) => `echo waiting; while [ ! -e ${file} ]; do sleep 0.02; done`

it('errand run runs the tasks of a plan in order, passes results on, and exits with 0', async () => {
  await using place = new Workplace()
  place.write(
    'plan.yaml',
    `
tasks:
  last: { after: [a, group], run: 'echo "got $ERRAND_RESULT_a" | tee -a order' }
  group:
    after: a
    tasks:
      c: { after: b, run: echo c >> order }
      b: { run: echo b >> order }
  a: { run: echo a | tee -a order }
`,
  )
  const { code, out, err } = await place.errand('run', 'plan.yaml')
  expect({ code, err }).toEqual({ code: 0, err: place.newLedger })
  expect(place.lines('order')).toEqual(['a', 'b', 'c', 'got a'])
  expect(out).toMatch(/^#\d+ a +started$/m)
  expect(out).toMatch(/^#\d+ a +\| a$/m)
  expect(out).toMatch(/^#\d+ group\/b +completed in \d+\.\ds$/m)
  expect(out).toMatch(/✓ 4 tasks completed in /)
})

it('errand run names a cut result at its end, and a later run of the plan finds the whole output in a file', async () => {
  await using place = new Workplace()
  const last = 'last: { after: list, run: \'test -e go && wc -l < "$ERRAND_RESULT_FILE_list" > count\' }'
  place.write('plan.yaml', `tasks: { list: { run: seq 1 20000 }, ${last} }`)
  const first = await place.errand('run', 'plan.yaml')
  expect(first.code).toBe(1)
  const notice = /^! #\d+ list printed more than a result holds: .* is in (.*)$/m.exec(first.out)
  expect(notice?.[1]).toContain(`${place.folder}/ledger.db-outputs/`)
  place.write('go', '')
  const second = await place.errand('run', 'plan.yaml')
  expect([second.code, second.out.includes('printed more')]).toEqual([0, false])
  expect(place.lines('count').map(Number)).toEqual([20_000])
})

it('errand run on a completed plan does nothing, and prints the last result', async () => {
  await using place = new Workplace()
  place.write('plan.json', JSON.stringify({ tasks: { a: { run: 'echo ran >> runs; echo the result' } } }))
  await place.errand('run', 'plan.json')
  const again = await place.errand('run', 'plan.json')
  expect(again).toMatchObject({ code: 0, err: '' })
  expect(again.out).toContain('a | the result')
  expect(again.out).toContain('nothing to do')
  expect(place.lines('runs')).toEqual(['ran'])
})

it('S4-047 errand run ends when no task of the plan can start, ps shows the plan as failed, and a retry continues it', async () => {
  await using place = new Workplace()
  place.write(
    'plan.yaml',
    'name: release\ntasks: { build: { run: test -e ready }, publish: { after: build, run: echo published } }',
  )
  const first = await place.errand('run', 'plan.yaml')
  expect(first.code).toBe(1)
  expect(first.out + first.err).toContain('#3 publish is blocked by #2 build')
  const { out } = await place.errand('ps')
  expect(out).toMatch(/^1 +\w{8} +failed .* release +\w+: .*$/m)
  expect(out).toMatch(/^3 +\w{8} +blocked .* publish +after #2$/m)
  expect((await place.errand('ps', '--ready')).out).not.toContain('release')
  place.write('ready', '')
  await place.errand('retry', '#2')
  expect(await place.errand('run', 'plan.yaml')).toMatchObject({ code: 0 })
  expect((await place.errand('ps', '--all')).out).toMatch(/^1 +\w{8} +completed .* release$/m)
})

it('V-02 errand run runs only the tasks of its own round, and continues each round separately', async () => {
  await using place = new Workplace()
  const plan = (name: string) =>
    `tasks: { ${name}: { run: echo ${name} >> runs }, b: { after: ${name}, run: echo b >> runs } }`
  place.write('first.yaml', plan('a'))
  place.write('second.yaml', plan('c'))
  await place.errand('add', '--run', 'echo stranger >> runs', '--priority', '9')
  const first = await place.errand('run', 'first.yaml', 'a')
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(place.lines('runs')).toEqual(['a'])
  expect((await place.errand('run', 'second.yaml')).code).toBe(0)
  expect(place.lines('runs')).toEqual(['a', 'c', 'b'])
  expect((await place.errand('run', 'first.yaml')).code).toBe(0)
  expect((await place.errand('run', 'first.yaml', '--again')).code).toBe(0)
  expect(place.lines('runs')).toEqual(['a', 'c', 'b', 'b', 'a', 'b'])
  expect((await place.errand('ps', '--ready')).out).toMatch(/^1 +\w{8} +queued .* shell$/m)
})

it('errand run ends when a task waits for one outside of the round that does not run', async () => {
  await using place = new Workplace()
  const { out } = await place.errand('add', '--run', 'echo outside', '--json')
  const { id } = JSON.parse(out)
  place.write('plan.json', JSON.stringify({ tasks: { a: { run: 'echo a >> runs', blockedBy: [id] } } }))
  const waiting = await place.errand('run', 'plan.json')
  expect(waiting.code).not.toBe(0)
  expect(waiting.out + waiting.err).toMatch(/#\d+ a is blocked\n +errand why/)
  expect((await place.errand('ps', '--ready')).out).toMatch(/^1 +\w{8} +queued /m)
})

it('errand run --json prints only the events of the plan, one per line', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks: { a: { run: echo hello }, g: { tasks: { b: { run: "true" } } } }')
  await place.errand('add', '--run', 'echo stranger')
  const { code, out } = await place.errand('run', 'plan.yaml', '--json')
  expect(code).toBe(0)
  const events = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const names = new Set(events.map((event) => event.data.name))
  expect(names).toEqual(new Set(['a', 'g', 'b']))
  const ofA = events.filter((event) => event.data.name === 'a').map((event) => event.type)
  expect(ofA).toEqual(expect.arrayContaining(['task.created', 'task.started', 'output.written', 'task.completed']))
  expect(events.map((event) => event.seq)).toEqual(events.map((event) => event.seq).sort((x, y) => x - y))
})

it('errand run exits with 1 for a failed task, names what it blocks, and the next run does only the rest', async () => {
  await using place = new Workplace()
  const plan = (command: string) => `
tasks:
  a: { run: echo a >> runs }
  g: { tasks: { b: { run: "${command}", after: pre }, pre: { run: echo pre >> runs } } }
  c: { run: echo c >> runs, after: g }
`
  place.write('plan.yaml', plan('echo b >> runs; echo oh >&2; exit 7'))
  const first = await place.errand('run', 'plan.yaml')
  expect(first.code).toBe(1)
  expect(first.out).toMatch(/^✗ #\d+ g\/b failed: .*exited with code 7/m)
  expect(first.out).toMatch(/^✗ #\d+ c is blocked by #\d+ g\/b/m)
  place.write('plan.yaml', plan('echo fixed >> runs'))
  const second = await place.errand('run', 'plan.yaml')
  expect(second.code).toBe(0)
  expect(place.lines('runs').sort()).toEqual(['a', 'b', 'c', 'fixed', 'pre'])
})

it('errand run retries tasks with a retry policy, and prints the attempts', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks: { a: { run: "echo x >> runs; [ $(wc -l < runs) -ge 3 ]", retry: 3 } }')
  const { code, out } = await place.errand('run', 'plan.yaml')
  expect(code).toBe(0)
  expect(out.match(/another attempt follows/g)).toHaveLength(2)
  expect(out).toMatch(/started, attempt 3/)
})

it('errand run leaves a completed task that was changed and names it; --redo runs it again', async () => {
  await using place = new Workplace()
  const plan = (text: string) =>
    `tasks: { a: { run: echo ${text} | tee -a runs }, b: { run: "echo b-$ERRAND_RESULT_a >> runs", after: a } }`
  place.write('plan.yaml', plan('one'))
  await place.errand('run', 'plan.yaml')
  place.write('plan.yaml', plan('two'))
  const left = await place.errand('run', 'plan.yaml')
  expect(left).toMatchObject({ code: 0, err: expect.stringMatching(/"a" was changed after it completed.*--redo a/) })
  expect(place.lines('runs')).toEqual(['one', 'b-one'])
  const redone = await place.errand('run', 'plan.yaml', '--redo', 'a', '--redo', 'b')
  expect(redone).toMatchObject({ code: 0, err: '' })
  expect(place.lines('runs')).toEqual(['one', 'b-one', 'two', 'b-two'])
  expect((await place.errand('run', 'plan.yaml')).out).toContain('nothing to do')
})

it('errand run runs a task that was added to the plan later, after its blockers', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks: { a: { run: echo a } }')
  await place.errand('run', 'plan.yaml')
  place.write('plan.yaml', 'tasks: { a: { run: echo a }, b: { run: "echo $ERRAND_RESULT_a >> runs", after: a } }')
  expect(await place.errand('run', 'plan.yaml')).toMatchObject({ code: 0, err: '' })
  expect(place.lines('runs')).toEqual(['a'])
})

it('errand run makes an open task wait for new and repeated ones', async () => {
  await using place = new Workplace()
  const plan = (more: string, after: string) =>
    `tasks: { a: { run: echo a }, stop: { run: "exit 1" }, c: { run: "echo c >> runs", after: [${after}] } ${more} }`
  place.write('plan.yaml', plan('', 'stop'))
  expect((await place.errand('run', 'plan.yaml')).code).toBe(1)
  place.write('plan.yaml', plan(', b: { run: "echo b >> runs", after: a }', 'a, b'))
  expect((await place.errand('run', 'plan.yaml', 'c')).code).toBe(0)
  expect(place.lines('runs')).toEqual(['b', 'c'])
})

it('errand run keeps a canceled task canceled until --redo names it', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks: { a: { run: echo a >> runs }, b: { run: echo b >> runs, after: a } }')
  await place.errand('run', 'plan.yaml', 'a')
  await place.errand('cancel', (await place.task('b')).id, '--reason', 'not today')
  const { code, out } = await place.errand('run', 'plan.yaml')
  expect(code).toBe(1)
  expect(out).toMatch(/#\d+ b was canceled: not today/)
  expect((await place.errand('run', 'plan.yaml', '--redo', 'b')).code).toBe(0)
  expect(place.lines('runs')).toEqual(['a', 'b'])
})

it('errand run --again starts a new round, and --key finds a named one', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks: { a: { run: echo a >> runs } }')
  for (const args of [
    [],
    [],
    ['--again'],
    [],
    ['--key', 'mon day/1'],
    ['--key', 'mon day/1'],
    ['--key', 'tuesday'],
    [],
  ]) {
    expect((await place.errand('run', 'plan.yaml', ...args)).code).toBe(0)
  }
  expect(place.lines('runs')).toHaveLength(4)
})

it('errand run TARGET runs only the targets and their blockers; the other tasks are held and run later', async () => {
  await using place = new Workplace()
  place.write(
    'plan.yaml',
    'tasks: { a: { run: echo a >> runs }, b: { run: echo b >> runs, after: a }, c: { run: echo c >> runs, after: b }, d: { run: echo d >> runs } }',
  )
  expect((await place.errand('run', 'plan.yaml', 'b')).code).toBe(0)
  expect(place.lines('runs')).toEqual(['a', 'b'])
  expect((await place.task('c')).status).toBe('submitted')
  expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
  expect(place.lines('runs').sort()).toEqual(['a', 'b', 'c', 'd'])
})

it('errand run runs a task with autoStart: false only if it is a target', async () => {
  await using place = new Workplace()
  place.write(
    'plan.yaml',
    'tasks: { a: { run: echo a >> runs }, deploy: { run: echo deploy >> runs, after: a, autoStart: false } }',
  )
  expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
  expect(place.lines('runs')).toEqual(['a'])
  expect((await place.errand('run', 'plan.yaml', 'deploy')).code).toBe(0)
  expect(place.lines('runs')).toEqual(['a', 'deploy'])
})

it('errand run exits with 3 for open questions with the answer command, and continues after the answer', async () => {
  await using place = new Workplace()
  place.write(
    'plan.yaml',
    'tasks: { which: { ask: { question: "Which one?", schema: { enum: [x, y] } } }, b: { run: "echo $ERRAND_RESULT_which >> runs", after: which } }',
  )
  const asked = await place.errand('run', 'plan.yaml')
  expect(asked.code).toBe(3)
  expect(asked.out).toMatch(/\? #\d+ which asks: Which one\?/)
  const [, id] = /errand answer '(#\d+)' 'x\|y'/.exec(asked.out) ?? []
  expect(await place.errand('answer', id ?? '', 'z')).toMatchObject({
    code: 2,
    err: expect.stringContaining('expected one of x, y'),
  })
  expect((await place.errand('answer', id ?? '', 'y')).code).toBe(0)
  expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
  expect(place.lines('runs')).toEqual(['y'])
})

it('errand run answers a question with its default at once without a terminal', async () => {
  await using place = new Workplace()
  place.write(
    'plan.yaml',
    'tasks: { which: { ask: { question: Which?, default: x } }, b: { run: "echo $ERRAND_RESULT_which", after: which } }',
  )
  const { code, out } = await place.errand('run', 'plan.yaml')
  expect(code).toBe(0)
  expect(out).toMatch(/^#\d+ b +\| x$/m)
})

it('errand run refuses an invalid plan before it creates anything', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks:\n  a: { run: echo a >> runs }\n  b: { run: x, afer: a }\n')
  const { code, err } = await place.errand('run', 'plan.yaml')
  expect(code).toBe(2)
  expect(err).toMatch(/plan\.yaml:3:16: .*Did you mean "after"\?/)
  expect(await place.errand('ps')).toMatchObject({ code: 2, err: expect.stringContaining('no ledger') })
})

it('errand run refuses a ledger of an unsupported database', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks: { a: { run: x } }')
  expect(await place.errand('run', 'plan.yaml', '--ledger', 'mysql://x/y')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/PostgreSQL server/),
  })
})

it('errand run continues from the ledger after kill -9', async () => {
  await using place = new Workplace()
  place.write(
    'plan.yaml',
    `tasks: { a: { run: echo a >> runs }, b: { run: "echo b >> runs; ${untilFile('go')}", after: a }, c: { run: echo c >> runs, after: b } }`,
  )
  const first = place.start('run', 'plan.yaml')
  await first.printed(/b +\| waiting/)
  first.kill('SIGKILL')
  await first.ended
  place.write('go', '')
  expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
  expect(place.lines('runs')).toEqual(['a', 'b', 'b', 'c'])
  const { out } = await place.errand('show', (await place.task('b')).id, '--json')
  expect(JSON.parse(out).calls.map((call: { status: string }) => call.status)).toEqual(['failed', 'completed'])
})

it('errand run releases tasks on SIGINT, exits with 130, and the next run continues', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', `tasks: { a: { run: "echo a >> runs; ${untilFile('go')}" } }`)
  const first = place.start('run', 'plan.yaml')
  await first.printed(/a +\| waiting/)
  first.kill('SIGINT')
  expect(await first.ended).toMatchObject({ code: 130, err: expect.stringContaining('Stopping') })
  expect(await place.task('a')).toMatchObject({ status: 'waiting', statusReason: 'released' })
  place.write('go', '')
  expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
})

it('errand run ends running commands on a second interrupt, and the next run starts them again', async () => {
  await using place = new Workplace()
  // \`timeout\` puts its command into a new process group.
  place.write(
    'plan.yaml',
    `tasks: { a: { run: "echo $$ >> pids; [ -e go ] && exit; timeout 60 sh -c 'echo $$ >> pids; echo waiting; sleep 60'" } }`,
  )
  const first = place.start('run', 'plan.yaml')
  await first.printed(/a +\| waiting/)
  first.kill('SIGINT')
  await first.printed(/Stopping/)
  // An interrupt shortly after the first is taken for its echo, so it is repeated until it counts.
  let over = false
  void first.ended.then(() => (over = true))
  await vi.waitFor(
    () => {
      if (!over) first.kill('SIGINT')
      expect(over).toBe(true)
    },
    { timeout: 10_000, interval: 100 },
  )
  expect((await first.ended).code).toBe(130)
  const pids = place.lines('pids').map(Number)
  expect(pids).toHaveLength(2)
  await vi.waitFor(async () => expect(await Promise.all(pids.map(isAlive))).toEqual([false, false]))
  expect((await place.task('a')).status).toBe('working')
  place.write('go', '')
  expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
})

it.each([
  ['deleted', 'rm ledger.db*', /was removed or moved/],
  ['replaced', 'cp ledger.db other; mv -f other ledger.db', /was replaced by another file/],
])('errand run exits with 1 and reports no success when its ledger was %s meanwhile', async (_what, run, message) => {
  await using place = new Workplace()
  place.write('plan.yaml', JSON.stringify({ tasks: { a: { run } } }))
  const { code, out, err } = await place.errand('run', 'plan.yaml')
  expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(message) })
  expect(out).not.toContain('✓')
})

it('errand run suggests a cancel command with --ledger for tasks that have left the plan', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks: { a: { run: exit 1 }, b: { run: "true", after: a } }')
  await place.errand('run', 'plan.yaml', '--ledger', 'my own.db')
  place.write('plan.yaml', 'tasks: { a: { run: "true" } }')
  const { err } = await place.errand('run', 'plan.yaml', '--ledger', 'my own.db')
  expect(err).toMatch(/"b" is no longer in the plan.*errand cancel '#\d+' --ledger 'my own\.db'" cancels it/)
})

it('two processes of errand run never run one task twice', async () => {
  await using place = new Workplace()
  const tasks = Array.from({ length: 20 }, (_, index) => `t${index}: { run: echo t${index} >> runs }`)
  place.write('plan.yaml', `tasks: { ${tasks.join(', ')} }`)
  const both = await Promise.all([place.start('run', 'plan.yaml').ended, place.start('run', 'plan.yaml').ended])
  expect(both.map(({ code }) => code)).toEqual([0, 0])
  expect(place.lines('runs')).toHaveLength(20)
  expect(new Set(place.lines('runs')).size).toBe(20)
})

it('errand run removes escape sequences from the output of tasks', async () => {
  await using place = new Workplace()
  place.write(
    'plan.yaml',
    `tasks: { "a\\u001b[2J": { run: "printf '\\\\033]0;owned\\\\007red\\\\033[31m\\\\n'; exit 1" } }`,
  )
  const { code, err } = await place.errand('run', 'plan.yaml')
  expect({ code, clean: err.includes('\u001b') }).toEqual({ code: 2, clean: false })
  place.write(
    'plan.yaml',
    `tasks: { a: { name: "x\\u001b[2J", run: "printf '\\\\033]0;owned\\\\007red\\\\033[31m\\\\n'; exit 1" } }`,
  )
  const shown = await place.errand('run', 'plan.yaml')
  const listed = await place.errand('ps', '--all')
  expect(shown.code).toBe(1)
  expect(shown.out).toMatch(/^#\d+ a \| red$/m)
  expect(`${shown.out}${shown.err}${listed.out}`).not.toContain('\u001b')
})

it('errand run offers the agents of a plan the tools of the MCP servers that it names', async () => {
  await using place = new Workplace()
  const program = join(
    import.meta.dirname,
    '../../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
  )
  place.write('note.txt', 'The tide is high.')
  place.write(
    'script.json',
    JSON.stringify([
      { tools: [{ name: 'files_read_text_file', input: { path: join(place.folder, 'note.txt') } }] },
      { text: 'Read.' },
    ]),
  )
  const mcp = `files="${process.execPath}" "${program}" .`
  place.write(
    'plan.yaml',
    JSON.stringify({ model: 'script:script.json', mcp, tasks: { a: { goal: 'Read the note' } } }),
  )
  expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
  expect((await place.task('a')).result).toBe('Read.')
})
