// The audit trail: every ability that changes a task writes events, and these record the requester. A new ability must be listed here, or
// among those that change no task.
import { expect, it } from 'vitest'
import type { Caller } from '../../src/bus/caller.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { timeOf } from '../../src/entities/engine-time.ts'
import type { TaskEvent } from '../../src/entities/event.ts'
import type { Task, TaskStatus } from '../../src/entities/task.ts'
import { openEngine, waysTo } from '../engine/world.ts'

const ann: Caller = { surface: 'http', owner: 'ann', scopes: ['admin'] }
const byAnn = { surface: 'http', owner: 'ann' }

/** It runs nothing by itself, so that all events come from requests. */
const open = () => openEngine({ work: false }) as Promise<unknown> as Promise<Engine>

async function taskIn(engine: Engine, status: TaskStatus, given: object = {}): Promise<Task> {
  const { id } = (await engine.create({ name: 'x', ...given } as never)) as Task
  for (const next of waysTo[status]) await engine.update(id, { status: next })
  return (await engine.get(id)) as Task
}

async function claimed(engine: Engine): Promise<Task> {
  const task = await taskIn(engine, 'submitted')
  return (await engine.claim(task.id, { owner: 'ann' })) as Task
}

async function blocked(engine: Engine) {
  const blocker = await taskIn(engine, 'submitted')
  const task = await taskIn(engine, 'submitted', { blockedBy: [blocker.id] })
  return { taskId: task.id, blockedBy: [blocker.id] }
}

async function team(engine: Engine): Promise<string> {
  const { id } = await taskIn(engine, 'submitted', { objectives: ['one'] })
  await engine.agent.join({ taskId: id, agentId: 'ben' })
  return id
}

async function scheduled(engine: Engine): Promise<{ name: string }> {
  await engine.schedules.put({ name: 'x', cron: '* * * * *', task: { name: 'x' } })
  return { name: 'x' }
}

const inState =
  (status: TaskStatus, more: object = {}) =>
  async (engine: Engine) => ({ taskId: (await taskIn(engine, status)).id, ...more })

/** For each ability that changes a task, a call that first creates what its input needs. */
const calls: Record<string, (engine: Engine) => Promise<object>> = {
  'task:create': async () => ({ name: 'x', tasks: { a: { name: 'a' }, b: { name: 'b', after: 'a' } } }),
  'task:update': inState('submitted', { priority: 3 }),
  'task:start': inState('submitted'),
  'task:pause': inState('working'),
  'task:resume': inState('paused'),
  'task:answer': inState('input_required', { value: 'yes' }),
  'task:cancel': inState('working', { reason: 'no longer needed' }),
  'task:fail': async (engine) => {
    const { id, fence } = await claimed(engine)
    return { taskId: id, owner: 'ann', fence, reason: 'it cannot be done' }
  },
  'task:retry': inState('failed'),
  'task:batch': async (engine) => ({ action: 'cancel', filter: { ids: [(await taskIn(engine, 'submitted')).id] } }),
  // Without a model, no engine begins the fork.
  'task:fork': async (engine) => ({ taskId: (await engine.create({ goal: 'x', autoStart: false })).id }),
  'task:delete': inState('submitted'),
  'task:send': inState('working', { message: 'Hello.' }),
  'task:signal': inState('working', { name: 'paid' }),
  'task:note': inState('working', { text: 'Seen.' }),
  'task:claim': inState('submitted'),
  'task:release': async (engine) => {
    const { id, fence } = await claimed(engine)
    return { taskId: id, owner: 'ann', fence }
  },
  'task:complete': inState('working'),
  'task:block': async (engine) => {
    const { taskId, blockedBy } = await blocked(engine)
    await engine.unblock(taskId, blockedBy)
    return { taskId, blockedBy }
  },
  'task:unblock': blocked,
  'agent:join': async (engine) => ({ taskId: await team(engine), agentId: 'cleo' }),
  'agent:complete': async (engine) => ({ taskId: await team(engine), agentId: 'ben' }),
  'objective:add': async (engine) => ({ taskId: await team(engine), descriptions: ['two'] }),
  'objective:update': async (engine) => ({ taskId: await team(engine), objectiveId: 1, status: 'done' }),
  'board:create': async () => ({ subject: 'x' }),
  'board:update': async (engine) => ({ id: (await taskIn(engine, 'submitted')).id, priority: 3 }),
  'board:claim': async (engine) => ({ id: (await taskIn(engine, 'submitted')).id, as: 'ann' }),
  'board:claim_next': async (engine) => {
    await taskIn(engine, 'submitted')
    return { as: 'ann' }
  },
  'board:complete': async (engine) => ({ id: (await claimed(engine)).id, as: 'ann' }),
  'board:release': async (engine) => ({ id: (await claimed(engine)).id, as: 'ann' }),
  'schedules:trigger': scheduled,
  'schedules:backfill': async (engine) => {
    const to = Math.floor(timeOf(engine))
    return { ...(await scheduled(engine)), from: to - 120_000, to }
  },
  'board:delete': async (engine) => ({ id: (await taskIn(engine, 'submitted')).id }),
}

/**
 * Abilities that change no task: heartbeats, mail, numbers, schedules, memory (which has a record of its own), models and the bus. And
 * `task:receive`, which is `task:signal` for the task of a token.
 */
const changesNoTask =
  /^(?:task:(?:heartbeat|route|receive)|board:(?:heartbeat|open|send|request|respond)|schedules:(?:put|pause|resume|remove)|mem:|model:|bus:)/

async function eventsOfCall(engine: Engine, abilityId: string, caller: Caller): Promise<TaskEvent[]> {
  const input = await calls[abilityId]?.(engine)
  const list = (after: number) => engine.bus.call('event:list', { after, limit: 5_000 })
  const { seq } = await list(0)
  await engine.bus.call(abilityId as string, input, { caller })
  return (await list(seq)).events as TaskEvent[]
}

const whoAsked = ({ data }: TaskEvent) => data['requestedBy']

it('the table of this test contains every ability that changes a task', async () => {
  const engine = await open()
  const changing = engine.bus.abilities().filter(({ access, id }) => access !== 'read' && !changesNoTask.test(id))
  expect(changing.map(({ id }) => id).sort()).toEqual(Object.keys(calls).sort())
})

it.each(Object.keys(calls))('the events of a change record its requester: %s', async (abilityId) => {
  const engine = await open()
  const events = await eventsOfCall(engine, abilityId, ann)
  expect(events.length).toBeGreaterThan(0)
  expect(events.map(whoAsked)).toEqual(events.map(() => byAnn))
})

it('the events of a call by the program itself record no requester, only its instance', async () => {
  const engine = await open()
  const events = await eventsOfCall(engine, 'task:cancel', { surface: 'library' })
  expect(events).toMatchObject([{ type: 'task.canceled', instanceId: engine.instanceId }])
  expect(events.map(whoAsked)).toEqual([undefined])
})

it('a change of a whole family records the requester in the event of the first task, which the others refer to', async () => {
  const engine = await open()
  const root = await taskIn(engine, 'submitted', { tasks: { a: { name: 'a' } } })
  const { seq } = await engine.bus.call('event:list', { limit: 1 })
  await engine.bus.call('task:cancel', { taskId: root.id }, { caller: ann })
  const { events } = await engine.bus.call('event:list', { after: seq, limit: 100 })
  const [first, ...below] = events.filter(({ type }) => type === 'task.canceled')
  expect(first).toMatchObject({ taskId: root.id, data: { requestedBy: byAnn } })
  expect(below.map(({ data }) => data['cascadedFrom'])).toEqual([root.id])
})

it('a change by the model of a task records that task as the requester', async () => {
  const engine = await open()
  const parent = await taskIn(engine, 'submitted', { tasks: { a: { name: 'a' } } })
  const [child] = await engine.children(parent.id)
  const { seq } = await engine.bus.call('event:list', { limit: 1 })
  const caller: Caller = { surface: 'model', taskId: parent.id }
  await engine.bus.call('task:cancel', { taskId: (child as Task).id }, { caller })
  const { events } = await engine.bus.call('event:list', { after: seq, limit: 100 })
  expect(events[0]).toMatchObject({ data: { requestedBy: { surface: 'model', taskId: parent.id } } })
})
