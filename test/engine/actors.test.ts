// The XState side: what an inspector sees of tasks, runs and the supervisor, and that no error stops the others.
import { describe, expect, it } from 'vitest'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { openEngine, puppet, reached, refusalOf, turns } from './world.ts'

interface Inspected {
  type: string
  rootId?: string
  actorRef?: {
    id: string
    getSnapshot(): { value?: unknown; status: string; context?: unknown }
    system: { getAll(): object }
  }
  snapshot?: { value?: unknown }
  event?: { type: string }
}

async function setup(executors: Record<string, (task: ExecutorTask, run: Run) => unknown>) {
  const events: Inspected[] = []
  const engine = await openEngine({ executors, inspect: (event) => events.push(event as Inspected) })
  return { engine, events }
}

describe('an inspector', () => {
  it('X-001 X-004 an inspector sees each working task as one actor whose state is the status of the task', async () => {
    const hands = puppet()
    const { engine, events } = await setup({ work: hands.executor })
    const task = await engine.create({ executor: 'work', name: 'a' })
    await hands.started(0)
    const born = events.filter(({ type, actorRef }) => type === '@xstate.actor' && actorRef?.id.startsWith('task-'))
    expect(born.map(({ actorRef }) => actorRef?.id)).toEqual([task.id])
    const actor = born[0]!.actorRef!
    expect(actor.getSnapshot()).toMatchObject({
      value: (await engine.get(task))?.status,
      context: { taskId: task.id, name: 'a', attempt: 1, run: 1 },
    })
    hands.runs[0]?.end.resolve(null)
    await engine.settled(task)
    await turns()
    expect(actor.getSnapshot()).toMatchObject({ value: 'completed', status: 'done' })
  })

  it.each([
    ['paused', (id: string, engine: { pause(id: string): Promise<unknown> }) => engine.pause(id)],
    ['canceled', (id: string, engine: { cancel(id: string): Promise<unknown> }) => engine.cancel(id)],
    [
      'failed',
      (id: string, engine: { fail(id: string, reason: string): Promise<unknown> }) => engine.fail(id, 'enough'),
    ],
  ] as const)('X-001 an inspector sees an actor follow its task to %s, and stop', async (status, leave) => {
    const hands = puppet()
    const { engine, events } = await setup({ work: hands.executor })
    const task = await engine.create({ executor: 'work' })
    await hands.started(0)
    await leave(task.id, engine)
    await engine.idle()
    await turns()
    const actor = events.find(({ actorRef }) => actorRef?.id === task.id)!.actorRef!
    expect(actor.getSnapshot()).toMatchObject({ value: status, status: status === 'canceled' ? 'done' : 'stopped' })
  })

  it('X-002 X-004 an inspector sees one system with the supervisor at its root, and no other actor when nothing runs', async () => {
    const { engine, events } = await setup({ work: () => null })
    await engine.create(Array.from({ length: 20 }, () => ({ executor: 'work' })))
    await engine.idle()
    await turns()
    const actors = events.filter(({ type }) => type === '@xstate.actor')
    expect(new Set(actors.map(({ rootId }) => rootId)).size).toBe(1)
    // A supervisor, twenty tasks, twenty runs.
    expect(actors).toHaveLength(41)
    expect(Object.keys(actors[0]!.actorRef!.system.getAll())).toEqual(['supervisor'])
    await engine.close()
    expect(actors[0]!.actorRef!.getSnapshot()).toMatchObject({ value: 'stopped', status: 'done' })
  })

  it('X-007 an inspector is reported when it throws, and stops nothing', async () => {
    const reported: string[] = []
    const engine = await openEngine({
      executors: { work: () => 'done' },
      inspect: () => {
        throw new Error('inspector broke')
      },
      onError: (error) => reported.push((error as Error).message),
    })
    expect(await engine.result(await engine.create({ executor: 'work' }))).toBe('done')
    await engine.idle()
    expect(engine.status.get().context.slots.used).toBe(0)
    expect(new Set(reported)).toEqual(new Set(['inspector broke']))
  })
})

describe('an error', () => {
  it('X-007 thrown in one task does not affect the supervisor, other tasks and the process', async () => {
    const hands = puppet()
    const unhandled: unknown[] = []
    const note = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', note)
    const engine = await openEngine({
      maxConcurrent: 3,
      executors: {
        sibling: hands.executor,
        throws: () => {
          throw new Error('at once')
        },
        later: async (_task: ExecutorTask, run: Run) => {
          // Not awaited, and rejected after the executor has returned.
          void run.call('forgotten', () => Promise.reject(new Error('later')))
          void run.ask('forgotten?', { type: 7 })
          void Promise.resolve(run.call('other', () => 1))
            .then(() => run.sleep(-1))
            .catch(() => {})
          throw Object.assign(new Error('odd'), { toString: null })
        },
        hostile: () => {
          throw Object.create(null)
        },
      },
    })
    const sibling = await engine.create({ executor: 'sibling' })
    await hands.started(0)
    for (const executor of ['throws', 'later', 'hostile'] as const)
      expect((await engine.settled(await engine.create({ executor }))).status).toBe('failed')
    hands.runs[0]?.end.resolve('alive')
    expect(await engine.result(sibling)).toBe('alive')
    await turns()
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it('X-006 caused by a late command to a settled task is a refusal, and the supervisor continues', async () => {
    const hands = puppet({ stubborn: true })
    const engine = await openEngine({ executors: { work: hands.executor, other: () => 'done' } })
    const task = await engine.create({ executor: 'work' })
    const held = await hands.started(0)
    await engine.complete(task, 'from outside')
    for (const verb of ['pause', 'resume', 'cancel', 'retry', 'start', 'complete'] as const)
      await refusalOf((engine[verb] as (id: string) => Promise<unknown>)(task.id), 'INVALID_TRANSITION')
    await refusalOf(held.run.message('user', 'late'), 'RUN_ENDED')
    held.end.reject(new Error('too late'))
    expect(await engine.result(await engine.create({ executor: 'other' }))).toBe('done')
    await engine.idle()
    expect(await engine.get(task)).toMatchObject({ status: 'completed', result: 'from outside', error: null })
    await reached(engine, task, 'completed')
  })
})
