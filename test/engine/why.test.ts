// `why` in sentences for people: what the state of a group means, which tasks will never complete and what would help,
// and times.
import { expect, it } from 'vitest'
import { SimulatedClock } from 'xstate'
import { isoTime } from '../../src/core/clock.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { openEngine, puppet, reached, turns } from './world.ts'

it('engine.why lists the running tasks of a group, and how many are left', async () => {
  const hands = puppet()
  const engine = await openEngine({ executors: { work: hands.executor } })
  const group = await engine.create({
    name: 'plan',
    tasks: { first: { executor: 'work' }, later: { tasks: { inner: { executor: 'work' } }, after: 'first' } },
  })
  await hands.started(0)
  const [first] = await engine.children(group)
  const why = await engine.why(group)
  expect(why).toMatchObject({ reason: 'running', tasks: [first!.id] })
  expect(why.message).toBe(
    `#1 plan is a group and ends with its last task: #${first!.seq} first is running, 1 more to come.`,
  )
})

it('engine.why reports what a group waits for when none of its tasks runs', async () => {
  const hands = puppet()
  const engine = await openEngine({ executors: { work: hands.executor } })
  const group = await engine.create({
    name: 'plan',
    tasks: { first: { executor: 'work' }, later: { executor: 'work', after: 'first' }, other: { name: 'by hand' } },
  })
  expect((await engine.why(group)).message).toContain('starts with its first child')
  ;(await hands.started(0)).end.reject(new Error('broke'))
  const [first, later, other] = await engine.children(group)
  await reached(engine, first!, 'failed')
  const why = await engine.why(group)
  expect(why).toMatchObject({ reason: 'children', status: 'working', tasks: [later!.id, other!.id] })
  expect(why.message).toContain(`#${later!.seq} later, blocked; #${other!.seq} by hand, claimable`)
  expect(why.message).not.toContain('by hand.')
})

it('engine.why names the failed or canceled dependencies of a task, and what would help', async () => {
  const engine = await openEngine()
  const [open, failed, canceled] = await engine.create([{ name: 'open' }, { name: 'failed' }, { name: 'canceled' }])
  await engine.start(failed!)
  await engine.fail(failed!, 'broke')
  await engine.cancel(canceled!)
  const ids = [open!.id, failed!.id, canceled!.id]
  const why = await engine.why(await engine.create({ name: 'last', blockedBy: ids }))
  expect(why).toMatchObject({ reason: 'blocked', tasks: ids })
  expect(why.message).toBe(
    [
      `It comes after #${open!.seq} open, not yet completed.`,
      `It comes after #${failed!.seq} failed, which failed. \`retry\` gives a failed task a new attempt, \`unblock\` ends the wait, \`cancel\` ends this task.`,
      `It comes after #${canceled!.seq} canceled, which was canceled and will never complete. \`unblock\` ends the wait, \`cancel\` ends this task.`,
    ].join(' '),
  )
})

it('engine.why names the task with which a chain of dependencies begins, and its state', async () => {
  const engine = await openEngine({ executors: { fails: () => Promise.reject(new Error('no paper')) } })
  const first = await engine.create({ name: 'print', executor: 'fails', autoStart: false })
  const second = await engine.create({ name: 'fold', blockedBy: [first.id] })
  const third = await engine.create({ name: 'post', blockedBy: [second.id] })
  expect((await engine.why(second)).message).toBe('It comes after #1 print, not yet completed.')
  expect((await engine.why(third)).message).toBe(
    'It comes after #2 fold, not yet completed. 2 tasks back, its chain begins: #1 print is submitted.',
  )
  await engine.start(first)
  await engine.settled(first)
  expect((await engine.why(third)).message).toBe(
    'It comes after #2 fold, not yet completed. 2 tasks back, its chain begins: #1 print failed: no paper. `retry` gives it a new attempt.',
  )
})

it('engine.why says how a settled task ended, and what would help', async () => {
  const engine = await openEngine()
  const [failed, canceled, completed, unexplained] = await engine.create(
    ['failed', 'canceled', 'completed', 'unexplained'].map((name) => ({ name })),
  )
  for (const task of [failed!, completed!, unexplained!]) await engine.start(task)
  await engine.fail(failed!, 'The disk is full.\nTry another one.')
  await engine.cancel(canceled!, 'not needed')
  await engine.complete(completed!, 1)
  await engine.update(unexplained!, { status: 'failed' })
  const messages = await Promise.all(
    [failed!, canceled!, completed!, unexplained!].map(async (task) => (await engine.why(task)).message),
  )
  expect(messages).toEqual([
    '#1 failed failed: The disk is full. `retry` gives it a new attempt.',
    '#2 canceled was canceled: not needed.',
    '#3 completed is completed.',
    '#4 unexplained failed. `retry` gives it a new attempt.',
  ])
})

it('engine.why names the questions of a task, and who may answer them', async () => {
  const asks = (_task: ExecutorTask, run: Run) => run.ask('Go?')
  const asksAnyone = (_task: ExecutorTask, run: Run) => run.ask('Go?', null, { for: 'anyone' })
  const engine = await openEngine({ executors: { asks, asksAnyone } })
  const [one, two] = await engine.create([{ executor: 'asks' }, { executor: 'asksAnyone' }])
  await reached(engine, one!, 'input_required')
  await reached(engine, two!, 'input_required')
  expect((await engine.why(one!)).message).toBe('It waits for a person to answer: "Go?"')
  expect((await engine.why(two!)).message).toBe('It waits for an answer: "Go?"')
})

it('engine.why names a few of many, and counts the others', async () => {
  const engine = await openEngine()
  const many = await engine.create(Array.from({ length: 8 }, (_, n) => ({ name: `n${n}` })))
  const why = await engine.why(await engine.create({ name: 'last', blockedBy: many.map(({ id }) => id) }))
  expect(why.tasks).toHaveLength(8)
  expect(why.message).toContain(`#${many[4]!.seq} n4 and 3 more`)
})

it('engine.why formats times as times', async () => {
  const clock = new SimulatedClock()
  const engine = await openEngine({ clock, executors: { naps: (_task: ExecutorTask, run: Run) => run.sleep(5_000) } })
  const later = await engine.create({ executor: 'naps', notBefore: 60_000 })
  expect(await engine.why(later)).toMatchObject({ at: 60_000, message: 'It may start at 1970-01-01T00:01:00.000Z.' })
  const asleep = await engine.create({ executor: 'naps' })
  await reached(engine, asleep, 'waiting')
  await turns()
  expect((await engine.why(asleep)).message).toBe('It sleeps until 1970-01-01T00:00:05.000Z.')
  expect(isoTime(8.64e15)).toBe('+275760-09-13T00:00:00.000Z')
  expect(isoTime(8.65e15)).toBe('8650000000000000 (epoch ms)')
})

it('engine.why names the verb that continues a task worked on by hand', async () => {
  const engine = await openEngine()
  const task = await engine.create({ name: 'mine' })
  expect((await engine.why(task)).message).toContain('`start`')
  await engine.start(task)
  expect((await engine.why(task)).message).toBe('#1 mine is running by hand.')
  await engine.pause(task)
  expect(await engine.why(task)).toMatchObject({ reason: 'held', message: '#1 mine is paused and waits for `resume`.' })
  await engine.resume(task)
  await engine.update(task, { status: 'input_required' })
  expect(await engine.why(task)).toMatchObject({ reason: 'answer' })
  await engine.answer(task, 'yes')
  await engine.update(task, { status: 'waiting' })
  expect((await engine.why(task)).message).toContain("update({ status: 'working' })")
  await engine.update(task, { status: 'working' })
  expect((await engine.get(task))?.status).toBe('working')
})
