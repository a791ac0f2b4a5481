// `why` of owners, of families and of tasks that wait for a slot: who works since when, which children keep a parent
// open, which policy applies, and which limit delays a ready task.
import { expect, it } from 'vitest'
import { SimulatedClock } from '../../src/testing/index.ts'
import { ledgerFile, openEngine, puppet, reached } from './world.ts'

it('engine.why names the owner of a claimed task, since when, and when the lease ends', async () => {
  const clock = new SimulatedClock(0)
  const engine = await openEngine({ clock })
  const task = await engine.create({ name: 'review' })
  clock.increment(1_000)
  const claimed = await engine.claim(task, { owner: 'ann', leaseMs: 60_000 })
  clock.increment(5_000)
  await engine.heartbeat(claimed)
  expect(await engine.why(task)).toMatchObject({
    reason: 'running',
    message:
      '#1 review is worked on by ann (claim 1) since 1970-01-01T00:00:01.000Z, whose lease ends at 1970-01-01T00:01:06.000Z.',
  })
  await engine.release(claimed)
  expect((await engine.why(task)).message).toBe(
    'It has no executor and waits for anybody to `claim` it. Its owner released it.',
  )
  await engine.claim(task, { owner: 'bob' })
  expect((await engine.why(task)).message).toBe(
    '#1 review is worked on by bob (claim 2) since 1970-01-01T00:00:06.000Z.',
  )
})

it('engine.why names the siblings of a ready child that occupy all places of their parent', async () => {
  const hands = puppet()
  const engine = await openEngine({ executors: { work: hands.executor } })
  const group = await engine.create({
    name: 'plan',
    concurrency: 1,
    tasks: { first: { executor: 'work' }, second: { executor: 'work' }, third: { executor: 'work', notBefore: 8e15 } },
  })
  const running = await hands.started(0)
  const [first, second, third] = await engine.children(group)
  expect(await engine.why(second!)).toMatchObject({
    reason: 'lane',
    tasks: [first!.id],
    message: `It waits for a slot among its siblings: of the children of #${group.seq} plan only 1 may run at once, and 1 does: #${first!.seq} first.`,
  })
  expect((await engine.why(third!)).reason).toBe('timer')
  expect((await engine.why(group)).message).toContain(
    'is running, 2 more to come. Only 1 of its children may run at once: 1 more waits for a slot.',
  )
  running.end.resolve(null)
  await reached(engine, second!, 'working')
  expect((await engine.why(second!)).reason).toBe('running')
})

it('engine.why names the limit of the ledger that delays a ready task', async () => {
  const hands = puppet()
  const engine = await openEngine({ executors: { work: hands.executor, other: hands.executor } })
  await engine.setSharedLimits({ limits: { work: 1 } })
  await engine.create({ executor: 'work' })
  await hands.started(0)
  const next = await engine.create({ executor: 'work' })
  expect(await engine.why(next)).toMatchObject({
    reason: 'limit',
    tasks: [],
    message:
      'It is ready, but the engines on this ledger together may have only 1 open run of the executor work, and 1 is open. `setSharedLimits` raises the limit.',
  })
  await engine.setSharedLimits({ maxConcurrent: 1 })
  const other = await engine.create({ executor: 'other' })
  expect(await engine.why(other)).toMatchObject({ reason: 'limit' })
  expect((await engine.why(other)).message).toContain('only 1 open run, and 1 is open')
  await engine.setSharedLimits({ maxConcurrent: null, limits: { work: null } })
  await reached(engine, other, 'working')
})

it('engine.why counts what other engines run against a limit of the ledger', async () => {
  const ledger = ledgerFile()
  const hands = puppet()
  const busy = await openEngine({ ledger, executors: { work: hands.executor } })
  const commander = await openEngine({ ledger, work: false })
  await commander.setSharedLimits({ maxConcurrent: 1 })
  await commander.create({ executor: 'work' })
  await hands.started(0)
  const next = await commander.create({ executor: 'work' })
  expect((await commander.why(next)).reason).toBe('limit')
  expect((await busy.why(next)).reason).toBe('limit')
})

it('engine.why reports only the slot for a ready task while there is room under every limit', async () => {
  const engine = await openEngine({ work: false })
  await engine.setSharedLimits({ maxConcurrent: 2, limits: { work: 1 } })
  const group = await engine.create({ name: 'plan', concurrency: 1, tasks: { only: { executor: 'work' } } })
  const [only] = await engine.children(group)
  expect((await engine.why(only!)).reason).toBe('slot')
})

it('engine.why lists the open children of a parent that its children complete, and those that prevent it', async () => {
  const engine = await openEngine({ autoComplete: true })
  const parent = await engine.create({ name: 'all' })
  const claimed = await engine.claim(parent, { owner: 'ann' })
  const [one, two] = await engine.create([
    { name: 'one', parentId: parent.id },
    { name: 'two', parentId: parent.id },
  ])
  expect((await engine.why(claimed)).message).toContain(
    `It completes with the last of its open children: #${one!.seq} one, claimable; #${two!.seq} two, claimable.`,
  )
  await engine.start(one!)
  await engine.fail(one!, 'broke')
  const { message } = await engine.why(claimed)
  expect(message).toContain(`Open below it: #${two!.seq} two, claimable.`)
  expect(message).toContain(
    `#${one!.seq} one failed, so this task does not complete by itself. \`retry\` gives a failed child a new attempt, \`delete\` removes it.`,
  )
})

it('engine.why reports the policy of a parent for a failed child', async () => {
  const engine = await openEngine()
  for (const [onChildFailure, words] of [
    ['fail', 'It fails with the first child that fails for good.'],
    ['cancel-siblings', 'The first child that fails for good cancels the others.'],
  ] as const) {
    const parent = await engine.create({ name: 'all', onChildFailure })
    await engine.create({ name: 'one', parentId: parent.id })
    await engine.start(parent)
    expect((await engine.why(parent)).message).toContain(words)
  }
})

it('engine.why reports that a group with a failed task will fail', async () => {
  const engine = await openEngine()
  const group = await engine.create({ name: 'plan', tasks: { one: {}, two: {} } })
  const [one, two] = await engine.children(group)
  await engine.start(one!)
  await engine.fail(one!, 'broke')
  const why = await engine.why(group)
  expect(why).toMatchObject({ reason: 'children', tasks: [two!.id] })
  expect(why.message).toContain(`#${one!.seq} one failed, so the group fails when all its tasks have settled.`)
})

it('engine.why reports nothing about children that a task never had, or that are done', async () => {
  const engine = await openEngine()
  const parent = await engine.create({ name: 'all' })
  await engine.start(parent)
  expect((await engine.why(parent)).message).toBe('#1 all is running by hand.')
  const child = await engine.create({ name: 'one', parentId: parent.id })
  await engine.start(child)
  await engine.complete(child)
  expect((await engine.why(parent)).message).toBe('#1 all is running by hand.')
})
