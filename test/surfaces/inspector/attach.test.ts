// `engine.inspect`: observers are attached and detached at run time, receive the live actors and their events, and cost nothing while there
// is none.
import { createInspector } from '@statelyai/inspect'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { InspectionEvent } from '../../../src/actors/inspection-event.ts'
import { LiveActors } from '../../../src/actors/live-actors.ts'
import type { TaskEvent } from '../../../src/entities/event.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import { writeSnapshot } from '../../../src/machines/task-snapshot.ts'
import { openLedger } from '../../../src/testing/index.ts'
import { ledgerFile, openEngine, puppet, reached, refusalOf, turns } from '../../engine/world.ts'
import { taskRow } from '../../ledger/factories.ts'

const actorsIn = (events: readonly InspectionEvent[]): string[] =>
  events.filter(({ type }) => type === '@xstate.actor').map(({ actorRef }) => actorRef.id)

const started = {
  seq: 1,
  type: 'task.started',
  taskId: 'task-a',
  data: { from: 'submitted', status: 'working', run: 1 },
} as unknown as TaskEvent
const row = { id: 'task-a', name: 'a', status: 'working', attempt: 1, run: 1 } as const
const record = { ...row, snapshot: writeSnapshot(row) }

it('X-002 X-004 an observer that is attached at run time receives every live actor with its state, then all further events', async () => {
  const hands = puppet()
  const engine = await openEngine({ executors: { work: hands.executor } })
  const task = await engine.create({ executor: 'work', name: 'a' })
  await hands.started(0)
  const events: InspectionEvent[] = []
  engine.inspect((event) => events.push(event))
  expect(actorsIn(events)).toEqual(['supervisor', task.id, `run:${task.id}#1`])
  expect(events.map(({ actorRef }) => actorRef.getSnapshot())).toMatchObject([
    { status: 'active', value: { working: 'resting' } },
    { status: 'active', value: 'working', context: { taskId: task.id, name: 'a', attempt: 1, run: 1 } },
    { status: 'active', value: 'live', context: { taskId: task.id, run: 1 } },
  ])
  expect(new Set(events.map(({ rootId }) => rootId))).toEqual(new Set([events[0]?.actorRef.sessionId]))
  hands.runs[0]?.end.resolve(null)
  await engine.idle()
  await turns()
  const sent = events.filter(({ type }) => type === '@xstate.event')
  expect(sent.map(({ actorRef, event }) => [actorRef.id, event?.type])).toEqual(
    expect.arrayContaining([
      [task.id, 'complete'],
      [`run:${task.id}#1`, 'close'],
    ]),
  )
})

it('an observer receives nothing after it is detached, even twice, while another continues to receive', async () => {
  const engine = await openEngine({ executors: { work: () => null } })
  const [first, second]: [InspectionEvent[], InspectionEvent[]] = [[], []]
  const detach = engine.inspect((event) => first.push(event))
  engine.inspect({ next: (event: InspectionEvent) => second.push(event) })
  detach()
  detach()
  await engine.result(await engine.create({ executor: 'work' }))
  expect(first).toHaveLength(1)
  expect(second.length).toBeGreaterThan(5)
})

it('an observer that is attached at run time works like the one given at the start, function or object', async () => {
  const early: InspectionEvent[] = []
  const inspect = { next: (event: InspectionEvent) => early.push(event) }
  const engine = await openEngine({ executors: { work: () => null }, inspect })
  const late: InspectionEvent[] = []
  engine.inspect((event) => late.push(event))
  await engine.result(await engine.create({ executor: 'work' }))
  await turns()
  expect(actorsIn(early)).toEqual(actorsIn(late))
  expect(early.slice(-5)).toEqual(late.slice(-5))
})

it('X-007 an observer that throws is reported and affects neither the engine nor other observers', async () => {
  const reported: unknown[] = []
  const onError = (error: unknown) => reported.push((error as Error).message)
  const engine = await openEngine({ executors: { work: () => 'done' }, onError })
  engine.inspect(() => {
    throw new Error('observer broke')
  })
  const events: InspectionEvent[] = []
  engine.inspect((event) => events.push(event))
  expect(await engine.result(await engine.create({ executor: 'work' }))).toBe('done')
  expect(new Set(reported)).toEqual(new Set(['observer broke']))
  expect(events.length).toBeGreaterThan(5)
})

it('an observer may be an inspector of @statelyai/inspect', async () => {
  const engine = await openEngine()
  const sent: { type: string; name?: string }[] = []
  engine.inspect(createInspector({ send: (event) => sent.push(event) }).inspect)
  await vi.waitFor(() => expect(sent[0]).toMatchObject({ type: '@xstate.actor', name: 'supervisor' }))
})

it('an observer is refused if it is invalid, with an unknown option, and by a closed engine', async () => {
  const engine = await openEngine()
  await refusalOf(() => engine.inspect({} as never, {}), 'INVALID_INPUT')
  await refusalOf(() => engine.inspect(() => {}, { task: 'all' } as never), 'UNKNOWN_OPTION')
  await engine.close()
  await refusalOf(() => engine.inspect(() => {}), 'ENGINE_CLOSED')
})

it('without an inspector no observer is registered with XState, and none remains after detaching', () => {
  const actors = new LiveActors(() => {})
  const { system } = actors.supervisor
  const inspect = vi.spyOn(system, 'inspect')
  actors.startTask(record, started)
  expect(inspect).not.toHaveBeenCalled()
  const events: unknown[] = []
  const detach = actors.inspect((event) => events.push(event), false)
  expect(inspect).toHaveBeenCalledTimes(1)
  detach()
  const received = events.length
  expect(received).toBe(3)
  actors.stop()
  expect(events).toHaveLength(received)
})

it('X-012 an observer sees a task whose snapshot is damaged or of another state in the state of its row, which is reported', async () => {
  const ledger = await openLedger(':memory:')
  onTestFinished(() => ledger.close())
  const snapshots = {
    sound: writeSnapshot({ id: 'sound', name: 'a', status: 'paused', attempt: 2, run: 3 }),
    damaged: '{"version":1',
    other: writeSnapshot({ id: 'other', name: 'a', status: 'waiting', attempt: 2, run: 3 }),
  }
  await ledger.step({
    name: 'plant',
    *decide(tx) {
      for (const [id, snapshot] of Object.entries(snapshots)) {
        yield* tx.task.insert(taskRow({ id, name: 'a', status: 'paused', attempt: 2, run: 3, snapshot }))
      }
    },
  })
  const reported: string[] = []
  const onError = (error: unknown) => reported.push((error as Error).message)
  const engine = await openEngine({ ledger, work: false, onError })
  const seen: unknown[] = []
  engine.inspect(
    ({ type, snapshot }) => {
      if (type === '@xstate.snapshot') seen.push(snapshot)
    },
    { tasks: 'all' },
  )
  await vi.waitFor(() => expect(seen).toHaveLength(3))
  const context = { name: 'a', attempt: 2, run: 3 }
  expect(seen).toMatchObject(
    Object.keys(snapshots).map((taskId) => ({ value: 'paused', context: { taskId, ...context } })),
  )
  expect(reported).toEqual([
    'The snapshot of damaged does not match its row, which is used instead: it is not JSON',
    'The snapshot of other does not match its row, which is used instead: its state is waiting, that of the row is paused',
  ])
})

it('an observer of all tasks sees them from submitted to the end, including those of another engine, with an engine that runs none', async () => {
  const ledger = ledgerFile()
  const hands = puppet()
  const worker = await openEngine({ ledger, executors: { work: hands.executor } })
  const watcher = await openEngine({ ledger, work: false })
  const states: unknown[] = []
  const runs: unknown[] = []
  watcher.inspect(
    ({ type, actorRef, snapshot }) => {
      if (type !== '@xstate.snapshot') return
      const { value, context } = snapshot as { value: unknown; context: { run: number } }
      if (actorRef.id.startsWith('task-')) states.push([value, context.run])
      if (actorRef.id.startsWith('run:')) runs.push(value)
    },
    { tasks: 'all' },
  )
  await turns()
  const task = await worker.create({ executor: 'work', name: 'far away' })
  await hands.started(0)
  await worker.pause(task)
  await worker.resume(task)
  const second = await hands.started(1)
  second.end.resolve(null)
  await worker.settled(task)
  await reached(watcher, task, 'completed')
  await vi.waitFor(() => expect(states.at(-1)).toEqual(['completed', 2]))
  expect(states.filter((state, index) => String(state) !== String(states[index - 1]))).toEqual([
    ['submitted', 0],
    ['working', 1],
    ['paused', 1],
    ['working', 2],
    ['completed', 2],
  ])
  expect(runs.filter((value, index) => value !== runs[index - 1])).toEqual([
    'live',
    'ending',
    'closed',
    'live',
    'ending',
    'closed',
  ])
})

it('an observer of all tasks receives the open ones at the start, which are removed from XState at the end', async () => {
  const engine = await openEngine({ executors: { work: () => null } })
  const [open, done] = await engine.create([{ name: 'to claim', autoStart: false }, { executor: 'work' }])
  await engine.settled(done!)
  const events: InspectionEvent[] = []
  const detach = engine.inspect((event) => events.push(event), { tasks: 'all' })
  await turns()
  const seen = events.find(({ actorRef }) => actorRef.id === open!.id)?.actorRef
  expect(seen?.getSnapshot()).toMatchObject({ status: 'active', value: 'submitted', context: { name: 'to claim' } })
  expect(actorsIn(events).some((id) => id.startsWith(done!.id))).toBe(false)
  detach()
  expect(seen?.getSnapshot()).toMatchObject({ status: 'stopped' })
})

it('an observer of all tasks sees one actor for each: that of the run while it works here, else one of its own', async () => {
  const hands = puppet()
  const engine = await openEngine({ executors: { work: hands.executor } })
  const task = await engine.create({ executor: 'work', name: 'a' })
  await hands.started(0)
  const awake = new Set<string>()
  engine.inspect(
    ({ type, actorRef, snapshot }) => {
      if (type === '@xstate.actor') awake.add(actorRef.id)
      if (snapshot !== undefined && snapshot.status !== 'active') awake.delete(actorRef.id)
    },
    { tasks: 'all' },
  )
  await turns()
  await engine.update(task, { name: 'b' })
  await turns()
  expect([...awake]).toEqual(['supervisor', task.id, `run:${task.id}#1`])
  await engine.pause(task)
  await turns()
  expect([...awake]).toEqual(['supervisor', task.id])
  await engine.resume(task)
  await hands.started(1)
  await turns()
  expect([...awake]).toEqual(['supervisor', task.id, `run:${task.id}#2`])
})

it("an observer of the engine's own tasks does not receive the others", async () => {
  const engine = await openEngine()
  await engine.create({ name: 'to claim' })
  const own: InspectionEvent[] = []
  engine.inspect((event) => own.push(event))
  const all: InspectionEvent[] = []
  engine.inspect((event) => all.push(event), { tasks: 'all' })
  await turns()
  expect(actorsIn(all)).toHaveLength(2)
  expect(actorsIn(own)).toHaveLength(1)
})

it('an observer of all tasks sees the newest thousand, and how many are left out; the one without events for longest is dropped', async () => {
  const engine = await openEngine()
  const tasks = await engine.create(Array.from({ length: 1_010 }, () => ({ name: 'one of many' })))
  const stopped = new Set<string>()
  const created = new Set<string>()
  const leftOut: number[] = []
  engine.inspect(
    ({ type, actorRef, snapshot }) => {
      if (type === '@xstate.actor') created.add(actorRef.id)
      if (snapshot?.status === 'stopped') stopped.add(actorRef.id)
    },
    { tasks: 'all', onLeftOut: (count) => leftOut.push(count) },
  )
  await turns()
  expect(created.size).toBe(1_001)
  await vi.waitFor(() => expect(leftOut.at(-1)).toBe(10))
  const [first] = tasks
  expect(created.has(first!.id)).toBe(false)
  await engine.update(tasks[10]!, { name: 'renamed' })
  await engine.claim(first!.id, { owner: 'ann' })
  await turns()
  expect(created.has(first!.id)).toBe(true)
  expect([...stopped]).toEqual([tasks[11]!.id])
  expect(leftOut.at(-1)).toBe(10)
})

it('an observer of all tasks keeps a failed one, which counts as none of the open tasks and is the first to be dropped', async () => {
  const engine = await openEngine()
  const leftOut: number[] = []
  const stopped: string[] = []
  engine.inspect(({ snapshot, actorRef }) => void (snapshot?.status === 'stopped' && stopped.push(actorRef.id)), {
    tasks: 'all',
    maxTasks: 3,
    onLeftOut: (count) => leftOut.push(count),
  })
  await engine.create({ name: 'oldest' })
  const [fails] = await engine.create([{ name: 'fails' }, { name: 'open' }])
  const { fence } = (await engine.claim(fails!.id, { owner: 'ann' })) as { fence: number }
  await engine.fail(fails!.id, 'it cannot be done', { owner: 'ann', fence })
  await turns()
  expect(stopped).toEqual([])
  await engine.create({ name: 'newest' })
  await vi.waitFor(() => expect(stopped).toEqual([fails!.id]))
  expect(leftOut).toEqual([])
  await engine.create({ name: 'too many' })
  await vi.waitFor(() => expect(leftOut).toEqual([1]))
})

it('an observer of all tasks sees as many as it asks for', async () => {
  const engine = await openEngine()
  await engine.create(Array.from({ length: 5 }, () => ({ name: 'one of few' })))
  const seen = (maxTasks: number): Set<string> => {
    const ids = new Set<string>()
    const observer = ({ type, actorRef }: InspectionEvent) => void (type === '@xstate.actor' && ids.add(actorRef.id))
    engine.inspect(observer, { tasks: 'all', maxTasks })
    return ids
  }
  const few = seen(2)
  await turns()
  expect(few.size).toBe(3)
  const more = seen(4)
  await turns()
  expect(more.size).toBe(5)
  await refusalOf(() => engine.inspect(() => {}, { tasks: 'all', maxTasks: 0 }), 'INVALID_INPUT')
})

it('an observer of all tasks leaves no run behind that another engine has continued', async () => {
  const ledger = ledgerFile()
  const hands = puppet()
  const executors = {
    asks: async (_task: ExecutorTask, run: Run) => {
      await run.ask('Go on?')
      return run.number
    },
    held: hands.executor,
  }
  const first = await openEngine({ ledger, executors, maxConcurrent: 1 })
  const second = await openEngine({ ledger, executors, work: false })
  first.inspect(() => {}, { tasks: 'all' })
  const task = await first.create({ executor: 'asks' })
  await reached(first, task, 'input_required')
  const held = await first.create({ executor: 'held' })
  await hands.started(0)
  await second.work()
  await second.answer(task, 'yes')
  expect(await first.result(task)).toBe(2)
  hands.runs[0]?.end.resolve(null)
  await first.settled(held)
  await first.idle()
  await turns()
  const left: InspectionEvent[] = []
  first.inspect((event) => left.push(event))
  expect(actorsIn(left)).toEqual(['supervisor'])
})

it('an observer of all tasks sees no more than it asks for, those that have worked here included', async () => {
  const engine = await openEngine({ executors: { asks: (_task: ExecutorTask, run: Run) => run.ask('Go on?') } })
  const awake = new Set<string>()
  const leftOut: number[] = []
  engine.inspect(
    ({ type, actorRef, snapshot }) => {
      if (!actorRef.id.startsWith('task-')) return
      if (type === '@xstate.actor') awake.add(actorRef.id)
      if (snapshot !== undefined && snapshot.status !== 'active') awake.delete(actorRef.id)
    },
    { tasks: 'all', maxTasks: 5, onLeftOut: (count) => leftOut.push(count) },
  )
  const tasks = await engine.create(Array.from({ length: 20 }, () => ({ executor: 'asks' })))
  for (const task of tasks) await reached(engine, task, 'input_required')
  await turns()
  expect(awake.size).toBe(5)
  await vi.waitFor(() => expect(leftOut.at(-1)).toBe(15))
})
