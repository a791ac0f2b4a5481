// `errand run` as its users meet it: a process, a plan, a ledger.
import { describe, expect, test, vi } from 'vitest'
import { systemProcessTable } from '../../../src/executors/process-table.ts'
import { Workplace } from './workplace.ts'

async function isAlive(pid: number): Promise<boolean> {
  return (await systemProcessTable.get(pid))?.zombie === false
}

/** A command that says when it runs and then waits until a file appears. */
const untilFile = (file: string) => `echo waiting; while [ ! -e ${file} ]; do sleep 0.02; done`

describe('errand run', () => {
  test('runs a plan in its order, hands results on, and ends with 0', async () => {
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
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(place.lines('order')).toEqual(['a', 'b', 'c', 'got a'])
    expect(out).toMatch(/^a +started$/m)
    expect(out).toMatch(/^a +\| a$/m)
    expect(out).toMatch(/^group\/b +completed in \d+\.\ds$/m)
    expect(out).toMatch(/✓ 4 tasks completed in /)
  })

  test('a second time does nothing, and still tells what the last task said', async () => {
    await using place = new Workplace()
    place.write('plan.json', JSON.stringify({ tasks: { a: { run: 'echo ran >> runs; echo the result' } } }))
    await place.errand('run', 'plan.json')
    const again = await place.errand('run', 'plan.json')
    expect(again).toMatchObject({ code: 0, err: '' })
    expect(again.out).toContain('a | the result')
    expect(again.out).toContain('nothing to do')
    expect(place.lines('runs')).toEqual(['ran'])
  })

  test('of a plan in which nothing can move any more ends, `ps` shows the plan as failed, and a retry goes on with it (S4-047)', async () => {
    await using place = new Workplace()
    place.write(
      'plan.yaml',
      'name: release\ntasks: { build: { run: test -e ready }, publish: { after: build, run: echo published } }',
    )
    const first = await place.errand('run', 'plan.yaml')
    expect(first.code).toBe(1)
    expect(first.out + first.err).toContain('publish (#3) is blocked by build (#2)')
    const { out } = await place.errand('ps')
    expect(out).toMatch(/^1 +\w{6} +failed .* release$/m)
    expect(out).toMatch(/^3 +\w{6} +blocked .* publish$/m)
    expect((await place.errand('ps', '--ready')).out).not.toContain('release')
    place.write('ready', '')
    await place.errand('retry', '#2')
    expect(await place.errand('run', 'plan.yaml')).toMatchObject({ code: 0 })
    expect((await place.errand('ps', '--all')).out).toMatch(/^1 +\w{6} +completed .* release$/m)
  })

  test('V-02 runs the tasks of its own round and nothing else in the ledger, and goes on with each round by itself', async () => {
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
    expect((await place.errand('ps', '--ready')).out).toMatch(/^1 +\w{6} +queued .* shell$/m)
  })

  test('of a task that waits for one outside of the round ends while nobody works on that one', async () => {
    await using place = new Workplace()
    const { out } = await place.errand('add', '--run', 'echo outside', '--json')
    const { id } = JSON.parse(out)
    place.write('plan.json', JSON.stringify({ tasks: { a: { run: 'echo a >> runs', blockedBy: [id] } } }))
    const waiting = await place.errand('run', 'plan.json')
    expect(waiting.code).not.toBe(0)
    expect(waiting.out + waiting.err).toMatch(/a \(#\d+\) is submitted\n +errand why/)
    expect((await place.errand('ps', '--ready')).out).toMatch(/^1 +\w{6} +queued /m)
  })

  test('with --json prints nothing but the events of the plan, one a line', async () => {
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

  test('that fails ends with 1, names what failed and what that blocks; fixed and run again it does only the rest', async () => {
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
    expect(first.out).toMatch(/^✗ g\/b \(#\d+\) failed: .*exited with code 7/m)
    expect(first.out).toMatch(/^✗ c \(#\d+\) is blocked by g\/b/m)
    place.write('plan.yaml', plan('echo fixed >> runs'))
    const second = await place.errand('run', 'plan.yaml')
    expect(second.code).toBe(0)
    expect(place.lines('runs').sort()).toEqual(['a', 'b', 'c', 'fixed', 'pre'])
  })

  test('tries again what may be retried, with its attempts', async () => {
    await using place = new Workplace()
    place.write('plan.yaml', 'tasks: { a: { run: "echo x >> runs; [ $(wc -l < runs) -ge 3 ]", retry: 3 } }')
    const { code, out } = await place.errand('run', 'plan.yaml')
    expect(code).toBe(0)
    expect(out.match(/another attempt follows/g)).toHaveLength(2)
    expect(out).toMatch(/started, attempt 3/)
  })

  test('leaves a completed task that was changed, names it, and runs it anew with --redo', async () => {
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

  test('runs a task that was added to the plan later, after what it comes after', async () => {
    await using place = new Workplace()
    place.write('plan.yaml', 'tasks: { a: { run: echo a } }')
    await place.errand('run', 'plan.yaml')
    place.write('plan.yaml', 'tasks: { a: { run: echo a }, b: { run: "echo $ERRAND_RESULT_a >> runs", after: a } }')
    expect(await place.errand('run', 'plan.yaml')).toMatchObject({ code: 0, err: '' })
    expect(place.lines('runs')).toEqual(['a'])
  })

  test('tells an open task of new and redone ones that it is to come after', async () => {
    await using place = new Workplace()
    const plan = (more: string, after: string) =>
      `tasks: { a: { run: echo a }, stop: { run: "exit 1" }, c: { run: "echo c >> runs", after: [${after}] } ${more} }`
    place.write('plan.yaml', plan('', 'stop'))
    expect((await place.errand('run', 'plan.yaml')).code).toBe(1)
    place.write('plan.yaml', plan(', b: { run: "echo b >> runs", after: a }', 'a, b'))
    expect((await place.errand('run', 'plan.yaml', 'c')).code).toBe(0)
    expect(place.lines('runs')).toEqual(['b', 'c'])
  })

  test('keeps a canceled task canceled, until --redo names it', async () => {
    await using place = new Workplace()
    place.write('plan.yaml', 'tasks: { a: { run: echo a >> runs }, b: { run: echo b >> runs, after: a } }')
    await place.errand('run', 'plan.yaml', 'a')
    await place.errand('cancel', (await place.task('b')).id, '--reason', 'not today')
    const { code, out } = await place.errand('run', 'plan.yaml')
    expect(code).toBe(1)
    expect(out).toMatch(/b \(#\d+\) was canceled: not today/)
    expect((await place.errand('run', 'plan.yaml', '--redo', 'b')).code).toBe(0)
    expect(place.lines('runs')).toEqual(['a', 'b'])
  })

  test('begins a new round with --again, and finds a named one by --key', async () => {
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

  test('with targets runs only these and what they come after; the rest is there, held, and runs later', async () => {
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

  test('runs a task with autoStart: false only when it is asked for', async () => {
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

  test('whose questions alone are open ends with 3 and the command that answers; answered, it goes on', async () => {
    await using place = new Workplace()
    place.write(
      'plan.yaml',
      'tasks: { which: { ask: { question: "Which one?", schema: { enum: [x, y] } } }, b: { run: "echo $ERRAND_RESULT_which >> runs", after: which } }',
    )
    const asked = await place.errand('run', 'plan.yaml')
    expect(asked.code).toBe(3)
    expect(asked.out).toMatch(/\? which \(#\d+\) asks: Which one\?/)
    const [, id] = /errand answer (\w+) 'x\|y'/.exec(asked.out) ?? []
    expect(await place.errand('answer', id ?? '', 'z')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Which one?'),
    })
    expect((await place.errand('answer', id ?? '', 'y')).code).toBe(0)
    expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
    expect(place.lines('runs')).toEqual(['y'])
  })

  test('off a terminal lets a default answer at once', async () => {
    await using place = new Workplace()
    place.write(
      'plan.yaml',
      'tasks: { which: { ask: { question: Which?, default: x } }, b: { run: "echo $ERRAND_RESULT_which", after: which } }',
    )
    const { code, out } = await place.errand('run', 'plan.yaml')
    expect(code).toBe(0)
    expect(out).toMatch(/^b +\| x$/m)
  })

  test('refuses a bad plan before anything is created', async () => {
    await using place = new Workplace()
    place.write('plan.yaml', 'tasks:\n  a: { run: echo a >> runs }\n  b: { run: x, afer: a }\n')
    const { code, err } = await place.errand('run', 'plan.yaml')
    expect(code).toBe(2)
    expect(err).toMatch(/plan\.yaml:3:16: .*Did you mean "after"\?/)
    expect(await place.errand('ps')).toMatchObject({ code: 2, err: expect.stringContaining('no ledger') })
  })

  test('refuses a ledger that is not offered yet', async () => {
    await using place = new Workplace()
    place.write('plan.yaml', 'tasks: { a: { run: x } }')
    expect(await place.errand('run', 'plan.yaml', '--ledger', 'postgres://x/y')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/not offered/i),
    })
  })

  test('killed in the middle goes on where the ledger stands', async () => {
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

  test('lets go on SIGINT, ends with 130, and goes on with the next run', async () => {
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

  test('ends the commands that run when it is told to stop at once, and runs them anew', async () => {
    await using place = new Workplace()
    // \`timeout\` puts its command into a process group of its own.
    place.write(
      'plan.yaml',
      `tasks: { a: { run: "echo $$ >> pids; [ -e go ] && exit; timeout 60 sh -c 'echo $$ >> pids; echo waiting; sleep 60'" } }`,
    )
    const first = place.start('run', 'plan.yaml')
    await first.printed(/a +\| waiting/)
    first.kill('SIGINT')
    await first.printed(/Stopping/)
    // What follows the first within an echo's time is no second one, so it is pressed until it counts.
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

  test.each([
    ['deleted', 'rm ledger.db*', /was deleted or moved/],
    ['replaced', 'cp ledger.db other; rm ledger.db; mv other ledger.db', /was replaced by another file/],
  ])('ends with 1 and no word of success when its ledger was %s meanwhile', async (_what, run, message) => {
    await using place = new Workplace()
    place.write('plan.yaml', JSON.stringify({ tasks: { a: { run } } }))
    const { code, out, err } = await place.errand('run', 'plan.yaml')
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(message) })
    expect(out).not.toContain('✓')
  })

  test('names its ledger in the command that drops what has left the plan', async () => {
    await using place = new Workplace()
    place.write('plan.yaml', 'tasks: { a: { run: exit 1 }, b: { run: "true", after: a } }')
    await place.errand('run', 'plan.yaml', '--ledger', 'my own.db')
    place.write('plan.yaml', 'tasks: { a: { run: "true" } }')
    const { err } = await place.errand('run', 'plan.yaml', '--ledger', 'my own.db')
    expect(err).toMatch(/"b" is no longer in the plan.*errand cancel task-\S+ --ledger 'my own\.db'" cancels it/)
  })

  test('twice at once never runs one task twice, and both end well', async () => {
    await using place = new Workplace()
    const tasks = Array.from({ length: 20 }, (_, index) => `t${index}: { run: echo t${index} >> runs }`)
    place.write('plan.yaml', `tasks: { ${tasks.join(', ')} }`)
    const both = await Promise.all([place.start('run', 'plan.yaml').ended, place.start('run', 'plan.yaml').ended])
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    expect(place.lines('runs')).toHaveLength(20)
    expect(new Set(place.lines('runs')).size).toBe(20)
  })

  test('shows nothing of what a task prints that could command the terminal', async () => {
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
    expect(shown.out).toMatch(/^a \| red$/m)
    expect(`${shown.out}${shown.err}${listed.out}`).not.toContain('\u001b')
  })
})
