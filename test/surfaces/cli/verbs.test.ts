// The other verbs, from a second process while the first one runs the tasks.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import { main } from '../../../src/surfaces/cli/main.ts'
import { history } from '../../engine/world.ts'
import { fakeIo } from './fake-io.ts'
import { running } from './running-plan.ts'
import { Workplace } from './workplace.ts'

it.each(['answer', 'send'])('errand %s records that the answer came from the command line', async (verb) => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks: { which: { ask: Which? } }')
  expect((await place.errand('run', 'plan.yaml')).code).toBe(3)
  const { id } = await place.task('which')
  expect((await place.errand(verb, id, 'x')).code).toBe(0)
  await using engine = await createEngine({ ledger: join(place.folder, 'ledger.db'), work: false })
  const answered = (await history(engine, id)).find(({ type }) => type === 'task.answered')
  expect(answered?.data).toMatchObject({ answer: 'x', answeredBy: { surface: 'cli' } })
})

it('errand answer refuses a value that does not fit, and says what does', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks: { sure: { ask: { question: Sure?, schema: { type: boolean } } } }')
  expect((await place.errand('run', 'plan.yaml')).code).toBe(3)
  expect(await place.errand('answer', '#2', 'maybe')).toEqual({
    code: 2,
    out: '',
    err: 'errand: "maybe" is not valid: expected a boolean, got a string. Type one of: true, false.\n',
  })
  expect((await place.errand('answer', '#2', 'true')).code).toBe(0)
})

it('errand answer refuses a question that was already answered', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks: { which: { ask: Which? } }')
  expect((await place.errand('run', 'plan.yaml')).code).toBe(3)
  const { id } = await place.task('which')
  expect((await place.errand('answer', id, 'x')).code).toBe(0)
  expect(await place.errand('answer', id, 'y')).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(/^errand: .*has no open question any more.*\n$/),
  })
  const { err } = await place.errand('answer', id, 'y', '--json')
  expect(JSON.parse(err)).toMatchObject({ error: { code: 'NO_QUESTION' } })
  expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
  expect((await place.task('which')).result).toBe('x')
})

it('errand logs -f follows a task to its end; without -f it ends at once', async () => {
  await using place = new Workplace()
  const { run, id } = await running(place)
  expect(await place.errand('logs', id)).toEqual({ code: 0, out: 'waiting\n', err: '' })
  const follow = place.start('logs', id, '-f')
  await follow.printed(/waiting/)
  place.write('go', '')
  expect(await follow.ended).toEqual({ code: 0, out: 'waiting\n', err: '' })
  expect((await run.ended).code).toBe(0)
  const items = (await place.errand('logs', id, '--json')).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).type)
  expect(items[0]).toBe('start')
  expect(items.at(-1)).toBe('end')
})

it('errand logs -f exits with 130 when it is interrupted', async () => {
  await using place = new Workplace()
  const { run, id } = await running(place)
  const follow = place.start('logs', id, '-f')
  await follow.printed(/waiting/)
  follow.kill('SIGINT')
  expect((await follow.ended).code).toBe(130)
  place.write('go', '')
  expect((await run.ended).code).toBe(0)
})

it('verbs of the command line run no task', async () => {
  await using place = new Workplace()
  await place.errand('add', '--run', 'echo ran >> runs')
  for (const args of [['ps'], ['tree'], ['graph'], ['show', '#1'], ['why', '#1'], ['logs', '#1']]) {
    expect((await place.errand(...args)).code).toBe(0)
  }
  expect(place.lines('runs')).toEqual([])
  expect((await place.task('echo ran >> runs').catch(() => place.tasks().then(([task]) => task)))?.status).toBe(
    'submitted',
  )
})

it('verbs of the command line take a terminal of 0 columns for one of 80', async () => {
  await using place = new Workplace()
  await place.errand('add', 'Write the report')
  for (const verb of ['ps', 'tree', 'show #1', 'board']) {
    const io = fakeIo({ tty: true, cwd: place.folder, env: { ERRAND_LEDGER: join(place.folder, 'ledger.db') } })
    io.stdout.columns = 0
    expect(await main(verb.split(' '), io)).toBe(0)
    expect(io.out()).toContain('Write the report')
  }
})

it('errand tree says that no task is open, and that it can show the others', async () => {
  await using place = new Workplace()
  await place.errand('add', 'Write the report')
  await place.errand('cancel', '#1')
  expect((await place.errand('tree')).out).toBe('No open tasks; --all shows every tree.\n')
  expect((await place.errand('tree', '--all')).out).toContain('Write the report')
})

it('errand pause exits with 2 for a wrong state, says what would work, and changes the other tasks', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  await place.errand('add', 'two')
  const { code, out, err } = await place.errand('cancel', '#1', '#9', '#2')
  expect(code).toBe(2)
  expect(out).toBe('#1 one canceled\n#2 two canceled\n')
  expect(err).toContain('#9')
  const refused = await place.errand('retry', '#1')
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('it is canceled') })
  expect(JSON.parse((await place.errand('retry', '#1', '--json')).err)).toMatchObject({
    error: { code: 'INVALID_TRANSITION' },
  })
})

it('errand retry gives a new attempt, and with --allow-divergence allows calls that are not recorded', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks: { bad: { run: exit 1 } }')
  expect((await place.errand('run', 'plan.yaml')).code).toBe(1)
  const { id } = await place.task('bad')
  expect((await place.errand('retry', id, '--allow-divergence')).code).toBe(0)
  const engine = await createEngine({ ledger: join(place.folder, 'ledger.db'), work: false })
  const retried = []
  for await (const { type, data } of engine.events({ taskId: id, follow: false })) {
    if (type === 'task.retried') retried.push(data)
  }
  await engine.close()
  expect(retried).toMatchObject([{ attempt: 2, divergence: 'allow' }])
})

it('a task is named by its name if one open task has it, or if no open task and one other has it', async () => {
  await using place = new Workplace()
  for (const name of ['one', 'twin', 'twin', 'one']) await place.errand('add', name)
  expect(await place.errand('cancel', 'one')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/2 open tasks have the name one: #1, #4\. Name one by its number\./),
  })
  expect((await place.errand('cancel', '#1')).code).toBe(0)
  expect((await place.errand('show', 'one')).out).toContain('#4')
  expect((await place.errand('cancel', 'one')).code).toBe(0)
  expect(await place.errand('why', 'one')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/2 tasks have the name one: #1, #4\./),
  })
  expect((await place.errand('why', 'other')).err).toContain('or its name; "errand ps --all" lists them')
})

it('an ambiguous prefix of an id lists the candidates', async () => {
  await using place = new Workplace()
  for (let index = 0; index < 40; index++) await place.errand('add', `t${index}`)
  const ids = (await place.tasks()).map((task) => task.id)
  const letter = ids.map((id) => id[5] ?? '').find((first, index, all) => all.indexOf(first) !== index) ?? ''
  const several = ids.filter((id) => id.startsWith(`task-${letter}`))
  const { code, err } = await place.errand('show', letter)
  expect(code).toBe(2)
  for (const id of several.slice(0, 2)) expect(err).toContain(id)
})

it('errand rm deletes tasks; --children promotes, deletes or protects their children', async () => {
  await using place = new Workplace()
  const names = async () => (await place.tasks()).map((task) => task.name).sort()
  for (const parent of ['p', 'q']) {
    const { out } = await place.errand('add', parent)
    await place.errand('add', `${parent}-child`, '--parent', out.trim())
  }
  expect(await place.errand('rm', '#1', '--children', 'refuse')).toMatchObject({ code: 2 })
  expect((await place.errand('rm', '#1')).code).toBe(0)
  expect(await names()).toEqual(['p-child', 'q', 'q-child'])
  expect((await place.errand('rm', '#3', '--children', 'cascade')).code).toBe(0)
  expect(await names()).toEqual(['p-child'])
  expect(await place.errand('rm', '#1')).toMatchObject({ code: 2, err: expect.stringContaining('no task #1') })
})

it('errand ps says how many tasks it leaves out and how to see them, and says so when it lists none', async () => {
  await using place = new Workplace()
  await place.errand('add', 'a')
  expect(await place.errand('ps')).toMatchObject({ err: '' })
  await place.errand('add', 'b')
  await place.errand('cancel', '#1')
  const one = '1 task that has ended is not shown; "errand ps --all" lists all tasks.\n'
  expect(await place.errand('ps')).toMatchObject({ code: 0, out: expect.stringMatching(/^2 .* b$/m), err: one })
  expect(await place.errand('ps', '--json')).toMatchObject({ err: '' })
  await place.errand('cancel', '#2')
  const both = one.replace('1 task that has ended is', '2 tasks that have ended are')
  expect(await place.errand('ps')).toEqual({ code: 0, out: 'No open tasks.\n', err: both })
  expect(await place.errand('ps', '--status', 'failed')).toEqual({ code: 0, out: 'No task matches.\n', err: '' })
  expect((await place.errand('ps', '--all')).err).toBe('')
})

it('a table in a pipe is not cut, and one on a narrow terminal keeps the names readable', async () => {
  await using place = new Workplace()
  const name = `a very long name ${'x'.repeat(300)}`
  await place.errand('add', name)
  const list = async (columns: number | undefined) => {
    const io = fakeIo({
      tty: columns !== undefined,
      cwd: place.folder,
      env: { ERRAND_LEDGER: `${place.folder}/ledger.db` },
    })
    Object.assign(io.stdout, { columns })
    expect(await main(['ps'], io)).toBe(0)
    return io.out()
  }
  expect(await list(undefined)).toContain(name)
  expect(await list(40)).toMatch(/^# +status +time +name\n1 +claimable +age \d.\ds +a very long nam.*…$/m)
})

it('errand pause of a task that does not work advises only what the command line has, and what would be accepted', async () => {
  await using place = new Workplace()
  await place.errand('add', 'idle', '--executor', 'elsewhere')
  const { code, err } = await place.errand('pause', '#1')
  expect(code).toBe(2)
  expect(err).toMatch(/Cannot pause #1 idle: it is submitted\. .* To hold it back, `block` it by another task\.$/m)
  await place.errand('add', 'blocker')
  expect((await place.errand('block', '#1', '#2')).out).toBe('#1 idle blocked, after #2 blocker\n')
  await place.errand('cancel', '#1')
  expect((await place.errand('pause', '#1')).err).not.toContain('block')
})

it('errand show names its parent and its open dependencies by their numbers, and cuts no name', async () => {
  await using place = new Workplace()
  await place.errand('add', 'parent')
  await place.errand('add', 'first')
  const name = 'a long name '.repeat(20).trim()
  await place.errand('add', name, '--parent', '#1', '--after', '#2')
  const { out } = await place.errand('show', '#3')
  expect(out).toMatch(new RegExp(`^#3 ${name}: blocked$`, 'm'))
  expect(out).toMatch(/^parentId +#1$/m)
  expect(out).toMatch(/^blockedBy +#2$/m)
})

it('errand add prints the id alone for a script, and the number, name and state at a terminal', async () => {
  await using place = new Workplace()
  expect((await place.errand('add', 'one')).out).toMatch(/^task-\w+\n$/)
  const io = fakeIo({ tty: true, cwd: place.folder, env: { ERRAND_LEDGER: join(place.folder, 'ledger.db') } })
  expect(await main(['add', 'two'], io)).toBe(0)
  expect(io.out()).toMatch(/^#2 two claimable \(task-\w+\)\n$/)
})
