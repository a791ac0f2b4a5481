// Claims on the command line: claiming, renewing, completing, failing and releasing a task, and the messages of refusals. These
// verbs run no tasks.
import { expect, it } from 'vitest'
import { createEngine } from '../../../src/index.ts'
import { main } from '../../../src/surfaces/cli/main.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { fakeIo } from './fake-io.ts'
import { Workplace } from './workplace.ts'

const json = ({ out }: { out: string }) => JSON.parse(out)
const errorOf = ({ err }: { err: string }) => JSON.parse(err).error

it('errand claim takes the best ready task and prints it with its fence and the command that completes it', async () => {
  await using place = new Workplace()
  await place.errand('add', 'low')
  await place.errand('add', 'high', '--priority', '3', '--description', 'read\nit all')
  const { code, out } = await place.errand('claim', '--as', 'ann')
  expect(code).toBe(0)
  expect(out).toMatch(
    /^#2 high: working, claimed by ann \(claim 1\)\n {2}read\n {2}it all\n {4}errand complete '#2' --as ann --fence 1\n$/,
  )
  expect(json(await place.errand('claim', '--as', 'bob', '--lease', '5m', '--json'))).toMatchObject({
    name: 'low',
    status: 'working',
    owner: 'bob',
    fence: 1,
    leaseUntil: expect.any(Number),
  })
})

it('errand claim exits with 1 and a message when there is no claimable task', async () => {
  await using place = new Workplace()
  await place.errand('add', 'review', '--role', 'reviewer')
  const none = await place.errand('claim', '--as', 'ann')
  expect(none).toMatchObject({ code: 1, out: '' })
  expect(none.err).toMatch(/^errand: There is no task to claim: .*Tasks for a role are claimed with --role\..*\n$/)
  expect((await place.errand('claim', '--as', 'ann', '--tag', 'x', '--role', 'writer')).err).toContain(
    'no task to claim for the role writer, tagged x:',
  )
  const asJson = await place.errand('claim', '--as', 'ann', '--json')
  expect(asJson).toMatchObject({ code: 1, out: '' })
  expect(errorOf(asJson)).toMatchObject({ code: 'NOT_CLAIMABLE', details: { reason: 'none' } })
})

it('S4-058 errand claim filters by role, parent and tag, and leaves tasks with another role', async () => {
  await using place = new Workplace()
  const parent = (await place.errand('add', 'parent', '--run', 'true')).out.trim()
  await place.errand('add', 'any')
  await place.errand('add', 'review', '--role', 'reviewer')
  await place.errand('add', 'tagged', '--tag', 'a', '--tag', 'b')
  await place.errand('add', 'child', '--parent', parent)
  const claim = async (...args: string[]) => json(await place.errand('claim', '--as', 'ann', '--json', ...args)).name
  expect(await claim('--tag', 'b', '--tag', 'a')).toBe('tagged')
  expect(await claim('--parent', '#1')).toBe('child')
  expect(await place.errand('claim', '#3', '--as', 'ann')).toMatchObject({
    code: 1,
    err: expect.stringContaining('for the role reviewer'),
  })
  expect(await claim('--role', 'reviewer')).toBe('any')
  expect(await claim('--role', 'reviewer')).toBe('review')
})

it('S4-052 S4-053 errand claim refuses a claimed or blocked task or one with an executor, and says why', async () => {
  await using place = new Workplace()
  const [first] = [(await place.errand('add', 'first')).out.trim()]
  await place.errand('add', 'second', '--after', '#1')
  await place.errand('add', 'shell', '--run', 'true')
  expect((await place.errand('claim', '#1', '--as', 'ann')).code).toBe(0)
  const second = await place.errand('claim', '#1', '--as', 'bob')
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining('it is worked on by ann') })
  expect(errorOf(await place.errand('claim', '#1', '--as', 'bob', '--json'))).toMatchObject({
    code: 'NOT_CLAIMABLE',
    details: { status: 'working', owner: 'ann' },
  })
  const blocked = await place.errand('claim', '#2', '--as', 'bob', '--json')
  expect(blocked.code).toBe(2)
  expect(errorOf(blocked)).toMatchObject({ code: 'BLOCKED', details: { blockedBy: [first] } })
  expect(await place.errand('claim', '#3', '--as', 'bob')).toMatchObject({
    code: 1,
    err: expect.stringContaining('its executor shell runs it'),
  })
  expect(await place.errand('claim', '#9', '--as', 'bob')).toMatchObject({ code: 2 })
})

it('S4-059 errand claim records the command line as the source of the claim', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  await place.errand('claim', '--as', 'ann', '--role', 'reviewer')
  await using engine = await createEngine({ ledger: `${place.folder}/ledger.db`, work: false })
  const events = []
  for await (const event of engine.events({ follow: false })) if (event.type === 'task.claimed') events.push(event)
  expect(events).toMatchObject([
    { data: { owner: 'ann', role: 'reviewer', source: 'cli', fence: 1 }, at: expect.any(Number) },
  ])
})

it('errand claim requires a name, from --as or ERRAND_OWNER', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  expect(await place.errand('claim')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/--as NAME, or set ERRAND_OWNER/),
  })
  expect((await place.errand('claim', '--as', '')).code).toBe(2)
  const io = fakeIo({ cwd: place.folder, env: { ERRAND_LEDGER: `${place.folder}/ledger.db`, ERRAND_OWNER: 'env' } })
  expect(await main(['claim', '--json'], io)).toBe(0)
  expect(JSON.parse(io.out()).owner).toBe('env')
})

it.each([
  ['a lease without a unit', ['--lease', '90'], /--lease takes a duration like .* got "90"/],
  ['an unknown parent', ['--parent', '#7'], /no task #7/],
  ['an unknown option', ['--leese', '5m'], /Did you mean "--lease"/],
  ['too many ids', ['#1', '#2'], /Unexpected argument "#2". Usage: errand claim/],
])('errand claim refuses %s', async (_what, args, words) => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  const { code, err } = await place.errand('claim', '--as', 'ann', ...args)
  expect(code).toBe(2)
  expect(err).toMatch(words)
  expect((await place.task('one')).owner).toBeNull()
})

it('errand complete stores a text or JSON result, and the task keeps its owner', async () => {
  await using place = new Workplace()
  for (const name of ['text', 'json', 'nothing']) await place.errand('add', name)
  for (const _name of [1, 2, 3]) await place.errand('claim', '--as', 'ann')
  expect(await place.errand('complete', '#1', '--as', 'ann', 'all', 'done')).toEqual({
    code: 0,
    out: '#1 text completed\n',
    err: '',
  })
  expect(json(await place.errand('complete', '#2', '--as', 'ann', '--result', '{"n":1}', '--json'))).toMatchObject({
    status: 'completed',
    result: { n: 1 },
    owner: 'ann',
    fence: 1,
  })
  expect((await place.errand('complete', '#3', '--as', 'ann', '--fence', '1')).code).toBe(0)
  expect((await place.tasks()).map((task) => task.result)).toEqual(['all done', { n: 1 }, null])
})

it('errand fail stores a reason and a code', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  await place.errand('claim', '--as', 'ann')
  expect(await place.errand('fail', '#1', 'too', 'hard', '--as', 'ann', '--code', 'HARD')).toEqual({
    code: 0,
    out: '#1 one failed: too hard\n',
    err: '',
  })
  expect((await place.task('one')).error).toMatchObject({ code: 'HARD', message: 'too hard' })
  expect(await place.errand('fail', '#1')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Usage: errand fail'),
  })
})

it('errand release lets others claim the task', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  await place.errand('claim', '--as', 'ann', '--lease', '1h')
  expect(await place.errand('release', '#1', '--as', 'ann', '--fence', '1', 'not', 'mine')).toEqual({
    code: 0,
    out: '#1 one released, now claimable\n',
    err: '',
  })
  expect(json(await place.errand('claim', '#1', '--as', 'bob', '--json'))).toMatchObject({ owner: 'bob', fence: 2 })
})

it('errand heartbeat renews the lease of a claim', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  const before = json(await place.errand('claim', '--as', 'ann', '--lease', '1h', '--json'))
  const alive = await place.errand('heartbeat', '#1', '--as', 'ann', '--fence', '1')
  expect(alive.out).toMatch(/^#1 one is claimed by ann \(claim 1\), lease until \S+Z \((59m\d\ds|1h00m) left\)\n$/)
  const after = json(await place.errand('heartbeat', '#1', '--as', 'ann', '--fence', '1', '--json'))
  expect(after.leaseUntil).toBeGreaterThan(before.leaseUntil)
})

it('errand complete requires the fence of a claim with a lease, and says so', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  await place.errand('claim', '--as', 'ann', '--lease', '1h')
  for (const verb of ['complete', 'heartbeat', 'release']) {
    const refused = await place.errand(verb, '#1', '--as', 'ann')
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toBe(
      'errand: The claim of ann on #1 one has a lease, so its number is required: --fence N, as "errand claim" printed it.\n',
    )
  }
})

it('errand complete, fail, heartbeat and release refuse a stale claim and name the current owner', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  await place.errand('claim', '--as', 'ann', '--lease', '1h')
  await place.errand('release', '#1', '--as', 'ann', '--fence', '1')
  const refused = await place.errand('complete', '#1', '--as', 'ann', '--fence', '1')
  expect(refused.code).not.toBe(0)
  await place.errand('claim', '#1', '--as', 'bob', '--lease', '1h')
  for (const args of [
    ['complete', '#1'],
    ['fail', '#1', 'broke'],
    ['heartbeat', '#1'],
    ['release', '#1'],
  ]) {
    const stale = await place.errand(...args, '--as', 'ann', '--fence', '1')
    expect(stale).toMatchObject({ code: 1, out: '' })
    expect(stale.err).toMatch(
      /^errand: The claim of ann \(number 1\) on #1 one is no longer valid: bob has claimed it since \(claim 2\)\. "errand claim '#1'" claims it again\.\n$/,
    )
    const asJson = await place.errand(...args, '--as', 'ann', '--fence', '1', '--json')
    expect(errorOf(asJson)).toMatchObject({ code: 'STALE_CLAIM', details: { owner: 'bob', fence: 2, quoted: 1 } })
  }
  expect(await place.task('one')).toMatchObject({ status: 'working', owner: 'bob' })
})

it('errand complete distinguishes a client that never claimed the task from a former owner', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  const never = await place.errand('complete', '#1', '--as', 'bob')
  expect(never.err).toMatch(
    /^errand: bob has no such claim on #1 one: it was never claimed\. "errand claim '#1'" claims it\.\n$/,
  )
  await place.errand('claim', '#1', '--as', 'ann')
  await place.errand('release', '#1', '--as', 'ann')
  const former = await place.errand('complete', '#1', '--as', 'ann', '--fence', '1')
  expect(former.err).toContain('is no longer valid: it was released or its lease is over')
  const unnumbered = await place.errand('complete', '#1', '--as', 'ann')
  expect(unnumbered.err).toContain('ann has no such claim on #1 one: the task is unclaimed.')
  const invented = await place.errand('complete', '#1', '--as', 'bob', '--fence', '7')
  expect(invented.err).toContain('bob has no such claim on #1 one: its latest claim has the number 1.')
  expect(await place.task('one')).toMatchObject({ status: 'waiting', owner: null })
})

it('errand complete refuses an expired claim once another client has claimed the task', async () => {
  await using place = new Workplace()
  const clock = new SimulatedClock(0)
  {
    await using engine = await createEngine({ ledger: `${place.folder}/ledger.db`, work: false, clock })
    const task = await engine.create({ name: 'one' })
    await engine.claim(task, { owner: 'ann', leaseMs: 1_000 })
  }
  expect((await place.errand('ps')).out).toMatch(/^1 +\w{8} +working +ann \(lease over\) /m)
  expect(json(await place.errand('claim', '--as', 'bob', '--json'))).toMatchObject({ owner: 'bob', fence: 2 })
  expect((await place.errand('complete', '#1', '--as', 'ann', '--fence', '1')).err).toContain(
    'bob has claimed it since (claim 2)',
  )
})

it('S4-055 errand complete names the owner of a claimed task, and the commands that need no claim', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  await place.errand('claim', '--as', 'ann')
  expect(await place.errand('complete', '#1', '--as', 'eve')).toEqual({
    code: 1,
    out: '',
    err: 'errand: #1 one is claimed by ann, not by eve. "errand pause" and "errand cancel" need no claim.\n',
  })
  const unsaid = await place.errand('complete', '#1')
  expect(unsaid).toMatchObject({
    code: 1,
    err: expect.stringContaining('give your name with --as NAME or ERRAND_OWNER'),
  })
  expect(errorOf(await place.errand('complete', '#1', '--json'))).toMatchObject({ code: 'NOT_OWNER' })
  expect((await place.errand('complete', '#1', '--as', 'ann')).code).toBe(0)
  expect(await place.task('one')).toMatchObject({ status: 'completed', owner: 'ann' })
})

it('errand pause and errand cancel need no claim', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  await place.errand('claim', '--as', 'ann')
  expect(await place.errand('pause', '#1')).toMatchObject({ code: 0, out: '#1 one paused\n' })
  expect(await place.errand('cancel', '#1')).toMatchObject({ code: 0, out: '#1 one canceled\n' })
})

it('errand complete refuses a task that was never started', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  expect(await place.errand('complete', '#1')).toMatchObject({
    code: 2,
    err: expect.stringContaining('it is submitted'),
  })
  expect(await place.errand('heartbeat', '#1', '--as', 'ann')).toMatchObject({ code: 1 })
  expect((await place.task('one')).status).toBe('submitted')
})

it.each([
  ['a fence without an owner', ['complete', '#1', '--fence', '1'], /--fence needs the name of the owner/],
  ['a fence that is not a number', ['complete', '#1', '--as', 'ann', '--fence', 'x'], /--fence takes a whole number/],
  ['a result that is not JSON', ['complete', '#1', '--result', '{'], /--result takes JSON, like '\{"ok": true\}'/],
  ['two results', ['complete', '#1', '--result', '1', 'two'], /The result is given twice: by --result and as "two"/],
  ['a heartbeat without a name', ['heartbeat', '#1'], /Your name is missing/],
  ['a release without a name', ['release', '#1'], /Your name is missing/],
  ['a missing task', ['complete'], /An argument is missing. Usage: errand complete/],
])('errand complete, heartbeat and release refuse %s', async (_what, args, words) => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  const { code, out, err } = await place.errand(...args)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(words)
})

it('errand complete works on an unclaimed task even if ERRAND_OWNER is set', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  {
    await using engine = await createEngine({ ledger: `${place.folder}/ledger.db`, work: false })
    await engine.start((await place.task('one')).id)
  }
  const io = fakeIo({ cwd: place.folder, env: { ERRAND_LEDGER: `${place.folder}/ledger.db`, ERRAND_OWNER: 'env' } })
  expect(await main(['complete', '#1', 'done'], io)).toBe(0)
})

it('errand ps, show, tree and why show the owner of a task', async () => {
  await using place = new Workplace()
  await place.errand('add', 'free')
  await place.errand('add', 'taken', '--deadline', '2030-01-31T08:00:00Z')
  await place.errand('add', 'shell', '--run', 'true')
  await place.errand('claim', '#2', '--as', 'ann', '--lease', '5m')
  const { out } = await place.errand('ps')
  expect(out).toMatch(/^# +id +status +owner +time +attempt +name$/m)
  expect(out).toMatch(/^1 +\w{8} +claimable +age \d/m)
  expect(out).toMatch(/^2 +\w{8} +working +ann \([45]m\d\ds left\) /m)
  expect(out).toMatch(/^3 +\w{8} +queued +age \d/m)
  const shown = (await place.errand('show', '#2')).out
  expect(shown).toMatch(/^#2 taken: working, claimed by ann \(claim 1\), lease until 20\S+Z \([45]m\d\ds left\)$/m)
  expect(shown).toMatch(/^leaseUntil +20\d\d-\S+Z$/m)
  expect(shown).toMatch(/^deadline +2030-01-31T08:00:00.000Z$/m)
  expect((await place.errand('show', '#1')).out).not.toMatch(/^fence/m)
  expect((await place.errand('tree')).out).toMatch(/^#1 free claimable /m)
  expect((await place.errand('why', '#2')).out).toMatch(
    /^#2 taken is worked on by ann \(claim 1\) since \S+Z, whose lease ends at \S+Z\.$/m,
  )
  expect(json(await place.errand('why', '#1', '--json'))).toMatchObject({ reason: 'claim' })
})

it('errand ps filters by owner, by tag and by readiness', async () => {
  await using place = new Workplace()
  await place.errand('add', 'mine', '--tag', 'x')
  await place.errand('claim', '--as', 'ann')
  await place.errand('add', 'free', '--tag', 'x', '--tag', 'y')
  await place.errand('add', 'shell', '--run', 'true')
  await place.errand('add', 'later', '--run', 'true', '--after', '#3')
  const names = async (...args: string[]) =>
    (await place.errand('ps', '--json', ...args)).out
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line).name as string]))
  expect(await names('--owner', 'ann')).toEqual(['mine'])
  expect(await names('--owner', 'bob')).toEqual([])
  expect(await names('--tag', 'x')).toEqual(['mine', 'free'])
  expect(await names('--tag', 'x', '--tag', 'y')).toEqual(['free'])
  expect(await names('--ready')).toEqual(['free', 'shell'])
  expect(await names('--ready', '--tag', 'y')).toEqual(['free'])
})
