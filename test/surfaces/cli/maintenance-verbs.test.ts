// The verbs that maintain a ledger: shared limits, dependencies at run time, purging, and the fields of `errand add`.
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/index.ts'
import { delegateLedger } from '../../../src/ledger/delegate-ledger.ts'
import { openLedger, SimulatedClock } from '../../../src/testing/index.ts'
import { Workplace } from './workplace.ts'

const json = ({ out }: { out: string }) => JSON.parse(out)

it('errand limit shows, sets and removes the shared limit', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  const none = { code: 0, out: expect.stringContaining('There are no shared limits'), err: '' }
  expect(await place.errand('limit')).toEqual(none)
  expect(await place.errand('limit', '4')).toEqual({ code: 0, out: 'all tasks: 4 at once\n', err: '' })
  expect((await place.errand('limit', '--executor', 'shell', '2')).out).toBe('shell: 2 at once\n')
  expect((await place.errand('limit')).out).toBe('all tasks: 4 at once\nshell: 2 at once\n')
  expect(json(await place.errand('limit', '--json'))).toEqual({ maxConcurrent: 4, limits: { shell: 2 } })
  expect((await place.errand('limit', '--executor', 'ask')).out).toBe('There is no shared limit for ask.\n')
  expect((await place.errand('limit', 'none')).out).toBe('shell: 2 at once\n')
  expect((await place.errand('limit', 'none', '--executor', 'shell')).out).toBe('There is no shared limit for shell.\n')
  expect(await place.errand('limit')).toEqual(none)
})

it('errand limit applies to a run in another process, and why names it', async () => {
  await using place = new Workplace()
  const untilGo = 'echo up; while [ ! -e go ]; do sleep 0.02; done'
  place.write('plan.yaml', `tasks: { a: { run: "${untilGo}" }, b: { run: "${untilGo}" } }`)
  await place.errand('add', 'other')
  await place.errand('limit', '--executor', 'shell', '1')
  const run = place.start('run', 'plan.yaml')
  await run.printed(/[ab] +\| up/)
  const waiting = (await place.tasks()).find((task) => task.ready && task.executor === 'shell')
  expect(json(await place.errand('why', waiting?.id ?? '', '--json'))).toMatchObject({ reason: 'limit' })
  expect((await place.errand('why', waiting?.id ?? '')).out).toMatch(
    /only 1 open run of the executor shell[^\n]*\n {4}errand limit\n$/,
  )
  place.write('go', '')
  expect((await run.ended).code).toBe(0)
})

it.each([
  [['many'], /whole number of at least 1, or "none", got "many"/],
  [['0'], /whole number of at least 1, or "none", got "0"/],
  [['4', '5'], /Unexpected argument "5"/],
  [['--executor', ''], /--executor takes the name of an executor/],
])('errand limit refuses %j', async (args, words) => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  expect(await place.errand('limit', ...args)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(words) })
})

it('errand block makes a task wait for others, and unblock ends that', async () => {
  await using place = new Workplace()
  for (const name of ['a', 'b', 'c']) await place.errand('add', name)
  expect(await place.errand('block', '#3', '#1', '#2')).toEqual({
    code: 0,
    out: '#3 c blocked, after #1 a, #2 b\n',
    err: '',
  })
  expect((await place.errand('unblock', '#3', '#1')).out).toBe('#3 c blocked, after #2 b\n')
  expect(json(await place.errand('unblock', '#3', '#2', '--json'))).toMatchObject({
    name: 'c',
    blockedBy: [],
    ready: true,
  })
  expect((await place.errand('unblock', '#3', '#2')).out).toBe('#3 c claimable, not blocked\n')
})

it('errand block refuses a cycle, a working task and an unknown one, and changes nothing', async () => {
  await using place = new Workplace()
  for (const name of ['a', 'b']) await place.errand('add', name)
  await place.errand('block', '#2', '#1')
  expect(JSON.parse((await place.errand('block', '#1', '#2', '--json')).err)).toMatchObject({
    error: { code: 'CYCLE' },
  })
  expect(await place.errand('block', '#1', '#9')).toMatchObject({
    code: 2,
    err: expect.stringContaining('no task #9'),
  })
  expect(await place.errand('block', '#1')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Usage: errand block'),
  })
  await place.errand('claim', '#1', '--as', 'ann')
  expect(await place.errand('unblock', '#1', '#2')).toMatchObject({
    code: 2,
    err: expect.stringContaining('it is working'),
  })
  expect((await place.task('a')).blockedBy).toEqual([])
})

it('errand purge deletes tasks that were settled earlier, and prints how many remain', async () => {
  await using place = new Workplace()
  {
    const clock = new SimulatedClock(0)
    await using engine = await createEngine({ ledger: `${place.folder}/ledger.db`, work: false, clock })
    await engine.cancel(await engine.create({ name: 'old' }))
  }
  for (const name of ['done', 'open']) await place.errand('add', name)
  await place.errand('cancel', '#2')
  expect((await place.errand('purge', '--older-than', '1d')).out).toMatch(
    /^Deleted 1 task in 1 family, with \d+ events; 2 tasks remain\.\n$/,
  )
  expect((await place.errand('purge', '--older-than', '1d')).out).toBe('No task was old enough; 2 tasks remain.\n')
  expect(json(await place.errand('purge', '--older-than', '1d', '--json'))).toEqual({
    tasks: 0,
    families: 0,
    events: 0,
    left: 2,
  })
  expect((await place.tasks()).map((task) => task.name)).toEqual(['done', 'open'])
})

it('errand purge says that it has finished an earlier purge', async () => {
  await using place = new Workplace()
  {
    const inner = await openLedger(`${place.folder}/ledger.db`)
    const ledger = delegateLedger(inner, {
      async step(each) {
        if (each.name === 'remove purged rows') throw new Error('cut off')
        return inner.step(each)
      },
    })
    const clock = new SimulatedClock(0)
    await using engine = await createEngine({ ledger, work: false, clock })
    await engine.cancel(await engine.create({ name: 'old' }))
    clock.increment(1)
    await expect(engine.purge({ before: clock.now() })).rejects.toThrow('cut off')
    await inner.close()
  }
  expect((await place.errand('purge', '--older-than', '1d')).out).toBe(
    'Finished an earlier purge, and no other task was old enough; 0 tasks remain.\n',
  )
})

it('errand purge requires --older-than', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  expect(await place.errand('purge')).toMatchObject({
    code: 2,
    err: expect.stringContaining('errand purge --older-than 30d'),
  })
  expect(await place.errand('purge', '--older-than', '30')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--older-than takes a duration like'),
  })
})

it('errand add accepts role, tags, deadline, policies and a limit of running children', async () => {
  await using place = new Workplace()
  const before = Date.now()
  const flags =
    '--role reviewer --tag a --tag b --deadline 2h --concurrency 2 --on-child-failure fail --on-dependency-failure cancel'
  const { out } = await place.errand('add', 'one', ...flags.split(' '), '--json')
  const task = JSON.parse(out)
  expect(task).toMatchObject({ role: 'reviewer', tags: ['a', 'b'] })
  expect(task.deadline).toBeGreaterThanOrEqual(before + 7_200_000)
  expect(json(await place.errand('add', 'two', '--deadline', '2030-01-31T08:00:00Z', '--json')).deadline).toBe(
    Date.UTC(2030, 0, 31, 8),
  )
  await place.errand('add', 'child', '--parent', '#1', '--run', 'true')
  await place.errand('add', 'after', '--after', '#2', '--on-dependency-failure', 'cancel')
  await place.errand('cancel', '#2')
  expect((await place.task('after')).status).toBe('canceled')
  await place.errand('claim', '#1', '--as', 'ann', '--role', 'reviewer')
  await using engine = await createEngine({ ledger: `${place.folder}/ledger.db`, work: false })
  expect((await engine.why(task.id)).message).toContain('It fails with the first child that fails')
})

it('errand add accepts every other field that has a flag', async () => {
  await using place = new Workplace()
  await place.errand('add', 'parent')
  const flags =
    '--parent #1 --run true --auto-complete all-settled --notify-parent --on-interrupt rerun --timeout 5m --retry {"maxAttempts":3} --metadata {"a":1} --durable-threshold 0.5 --durable-category bug_fix'
  const { out } = await place.errand('add', 'child', ...flags.split(' '), '--json')
  expect(JSON.parse(out)).toMatchObject({
    name: 'child',
    parentId: (await place.task('parent')).id,
    metadata: { a: 1 },
  })
  const ledger = await openLedger(`${place.folder}/ledger.db`)
  onTestFinished(() => ledger.close())
  expect((await ledger.read((tx) => tx.task.get(JSON.parse(out).id)))?.policy).toMatchObject({
    autoComplete: 'all-settled',
    notifyParent: true,
    onInterrupt: 'rerun',
    timeoutMs: 300_000,
    retry: { maxAttempts: 3 },
  })
})

it.each([
  [['--auto-complete', 'all'], /--auto-complete takes one of true, false, all-settled, got "all"/],
  [['--notify-parent'], /`notifyParent` has no effect on "one": it has no parent/],
  [['--timeout', '5'], /--timeout takes a duration/],
  [['--durable-threshold', 'x'], /--durable-threshold takes a number/],
  [['--metadata', '{'], /--metadata takes JSON/],
  [['--deadline', 'soon'], /--deadline takes a time that exists, like .* or a duration like 5m, got "soon"/],
  [['--deadline', '2027-02-30'], /--deadline takes a time that exists, like .* got "2027-02-30"/],
  [['--not-before', '2027-04-31T08:00'], /--not-before takes a time that exists/],
  [['--deadline', '90'], /--deadline takes a time that exists, like .* got "90"/],
  [['--not-before', '5'], /--not-before takes a time/],
  [['--on-child-failure', 'cancel'], /--on-child-failure takes one of ignore, fail, cancel-siblings, got "cancel"/],
  [['--on-dependency-failure', 'blok'], /Did you mean "block"\?/],
  [['--concurrency', '0'], /--concurrency takes a whole number of at least 1/],
  [['--role', 'x', '--run', 'true'], /`role` has no effect on/],
  [['--roll', 'x'], /Did you mean "--role"\?/],
])('errand add refuses %j', async (args, words) => {
  await using place = new Workplace()
  expect(await place.errand('add', 'one', ...args)).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(words),
  })
})

it('errand help lists every verb, and each has a usage', async () => {
  await using place = new Workplace()
  const { out } = await place.errand('help')
  for (const verb of [
    'claim',
    'heartbeat',
    'release',
    'complete',
    'fail',
    'block',
    'unblock',
    'limit',
    'purge',
    'ledger',
  ]) {
    expect(out).toMatch(new RegExp(`^  ${verb} +\\w`, 'm'))
    const help = await place.errand('help', verb)
    expect(help).toMatchObject({ code: 0, out: expect.stringMatching(new RegExp(`^Usage: errand ${verb}`)) })
    expect((await place.errand(verb, '--help')).out).toBe(help.out)
  }
})

it('verbs of the command line refuse a missing ledger', async () => {
  await using place = new Workplace()
  for (const args of [
    ['claim', '--as', 'a'],
    ['complete', '#1'],
    ['limit'],
    ['purge', '--older-than', '1d'],
    ['ps', '--watch'],
  ]) {
    expect(await place.errand(...args)).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no ledger at'),
    })
  }
})

it('errand ledger copy and restore copy a ledger and put the copy back', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  const copied = await place.errand('ledger', 'copy', 'ledger.db', 'backup.db')
  expect(copied).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Copied 1 task \(\d+ rows in all\) from \S+\/ledger\.db to \S+\/backup\.db/),
    err: '',
  })
  await place.errand('add', 'two')
  const restored = await place.errand('ledger', 'restore', 'backup.db', '--json')
  expect(json(restored)).toMatchObject({ to: `${place.folder}/ledger.db`, tables: { task: 1 }, isContinued: false })
  expect((await place.tasks()).map(({ name }) => name)).toEqual(['one'])
})

it('errand ledger check explains what is wrong in a ledger, and such a ledger is copied, but not restored', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  const sound = await place.errand('ledger', 'check')
  expect(sound).toMatchObject({ code: 0, out: expect.stringMatching(/ledger\.db is sound: 1 task, \d+ rules\.\n$/) })
  await place.errand('ledger', 'copy', 'ledger.db', 'backup.db')
  const database = new Database(`${place.folder}/backup.db`)
  database.exec(`update task set depth = 3`)
  database.close()
  const { code, out } = await place.errand('ledger', 'check', 'backup.db')
  expect(code).toBe(1)
  expect(out).toMatch(/^task-depth: .*\n {2}.*\n1 violation in \S+\/backup\.db \(1 task, \d+ rules\)\.\n$/)
  expect(json(await place.errand('ledger', 'check', 'backup.db', '--json'))).toMatchObject({
    counts: { 'task-depth': 1 },
  })
  expect(await place.errand('ledger', 'restore', 'backup.db')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/backup\.db is not restored: .*errand ledger check/),
  })
  expect((await place.tasks()).map(({ name }) => name)).toEqual(['one'])
  expect((await place.errand('ledger', 'copy', 'backup.db', 'other.db')).code).toBe(0)
})

it.each([
  [['ledger'], /Say what to do: errand ledger copy, /],
  [['ledger', 'copy', 'ledger.db'], /ledger copy FROM TO/],
  [['ledger', 'copy', 'ledgr.db', 'backup.db'], /There is no ledger at .* Did you mean .*ledger\.db/],
  [['ledger', 'copy', 'ledger.db', 'plan.yaml'], /exists already, and a copy replaces nothing/],
  [['ledger', 'restore', 'ledger.db'], /cannot be copied to itself/],
  [['ledger', 'copy', 'ledger.db', ':memory:'], /A ledger in memory cannot hold a copy/],
  [['ledger', 'copy', 'ledger.db', 'mysql://here/db'], /not a URL like "mysql:/],
  [['ledger', 'check', 'mysql://here/db'], /not a URL like "mysql:/],
  [['ledger', 'restore', 'missing.db'], /There is no ledger at/],
])('errand refuses %j', async (args, words) => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  place.write('plan.yaml', '')
  expect(await place.errand(...args)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(words) })
})
