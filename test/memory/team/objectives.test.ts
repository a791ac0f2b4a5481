// Objectives: any status may follow any other, no other status is accepted, and every change is recorded.
import { describe, expect, it } from 'vitest'
import { objectiveStatuses } from '../../../src/entities/team.ts'
import { SimulatedClock } from '../../../src/testing/simulated-clock.ts'
import { history, refusalOf } from '../../engine/world.ts'
import { type Json, joins, openTeams, type Team, teamTask } from './world.ts'

const objectives = ['Fix the middleware', 'Add tests', 'Write it down']

async function setup(): Promise<
  Team & { taskId: string; clock: SimulatedClock; objective(id: number): Promise<Json> }
> {
  const clock = new SimulatedClock()
  const team = await openTeams({ clock })
  const { taskId } = await teamTask(team, { objectives })
  const objective = async (id: number) =>
    ((await team.call('task:context', { taskId }))['objectives'] as Json[])[id - 1] as Json
  return { ...team, taskId, clock, objective }
}

const pairs = objectiveStatuses.flatMap((from) => objectiveStatuses.map((to) => ({ from, to })))

describe('objective:update', () => {
  it.each(pairs)('S2-026 S2-029 C-65 objective:update changes an objective from $from to $to', async ({ from, to }) => {
    const { call, taskId } = await setup()
    await call('objective:update', { taskId, objectiveId: 1, status: from })
    const before = (await call('objective:log', { taskId }))['changes'] as Json[]
    const { objectives: after } = await call('objective:update', { taskId, objectiveId: 1, status: to })
    expect((after as Json[])[0]).toMatchObject({ id: 1, status: to })
    const { changes } = await call('objective:log', { taskId })
    // The same status is not a change.
    expect((changes as Json[]).slice(before.length)).toMatchObject(from === to ? [] : [{ objectiveId: 1, from, to }])
  })

  it.each(['open', 'DONE', '', 7, null])('S2-024 objective:update refuses the status %j', async (status) => {
    const { call, taskId, engine } = await setup()
    const before = await history(engine)
    await refusalOf(call('objective:update', { taskId, objectiveId: 1, status }), 'INVALID_INPUT')
    expect(await history(engine)).toEqual(before)
  })

  it('S2-023 S2-028 objective:update stores agent and notes and returns all objectives', async () => {
    const { call, taskId } = await setup()
    const { objectives: all } = await call('objective:update', {
      taskId,
      objectiveId: 2,
      status: 'active',
      agentId: 'ada',
      notes: 'half of it',
    })
    expect(all).toEqual([
      { id: 1, description: 'Fix the middleware', status: 'todo', agentId: null, notes: null },
      { id: 2, description: 'Add tests', status: 'active', agentId: 'ada', notes: 'half of it' },
      { id: 3, description: 'Write it down', status: 'todo', agentId: null, notes: null },
    ])
    const { objectives: later } = await call('objective:update', { taskId, objectiveId: 2, status: 'done' })
    expect((later as Json[])[1]).toMatchObject({ status: 'done', agentId: 'ada', notes: 'half of it' })
    const { objectives: cleared } = await call('objective:update', {
      taskId,
      objectiveId: 2,
      status: 'done',
      agentId: null,
      notes: null,
    })
    expect((cleared as Json[])[1]).toMatchObject({ status: 'done', agentId: null, notes: null })
  })

  it('S2-027 objective:update refuses an unknown objective, and any of a task without objectives', async () => {
    const team = await setup()
    const { call, taskId } = team
    const unknown = await refusalOf(call('objective:update', { taskId, objectiveId: 9, status: 'done' }), 'NOT_FOUND')
    expect(unknown.message).toContain('Objective 9 not found')
    expect(unknown.details).toMatchObject({ objectives: [1, 2, 3] })
    const bare = await teamTask(team, { name: 'Bare' })
    const none = await refusalOf(
      call('objective:update', { taskId: bare.taskId, objectiveId: 1, status: 'done' }),
      'NOT_FOUND',
    )
    expect(none.message).toContain('has no objectives')
    await refusalOf(call('objective:update', { taskId: 'task-missing', objectiveId: 1, status: 'done' }), 'NOT_FOUND')
  })

  it('S2-030 objective:update raises updatedAt of the task and is logged with time and agent', async () => {
    const { call, taskId, clock, engine } = await setup()
    const before = await engine.get(taskId)
    clock.increment(1_000)
    await call('objective:update', { taskId, objectiveId: 1, status: 'active', agentId: 'ada' })
    clock.increment(1_000)
    await call('objective:update', { taskId, objectiveId: 1, status: 'blocked', notes: 'no access' })
    await call('objective:update', { taskId, objectiveId: 2, status: 'done', agentId: 'bob' })
    const created = before?.createdAt as number
    expect(await engine.get(taskId)).toMatchObject({ updatedAt: created + 2_000, status: 'submitted' })
    const first = { at: created + 1_000, objectiveId: 1, from: 'todo', to: 'active', agentId: 'ada', notes: null }
    const second = {
      at: created + 2_000,
      objectiveId: 1,
      from: 'active',
      to: 'blocked',
      agentId: 'ada',
      notes: 'no access',
    }
    expect(await call('objective:log', { taskId, objectiveId: 1 })).toEqual({ changes: [first, second] })
    expect((await call('objective:log', { taskId }))['changes']).toHaveLength(3)
    await refusalOf(call('objective:log', { taskId, objectiveId: 9 }), 'NOT_FOUND')
  })

  it('X-023 a task does not change when all its objectives are done', async () => {
    const { call, taskId, engine } = await setup()
    for (const objectiveId of [1, 2, 3]) await call('objective:update', { taskId, objectiveId, status: 'done' })
    expect(await engine.get(taskId)).toMatchObject({ status: 'submitted', completedAt: null })
  })
})

describe('objective:add', () => {
  it('S2-023 objective:add continues the numbers with status todo', async () => {
    const team = await setup()
    const { call, taskId } = team
    const { objectives: all } = await call('objective:add', { taskId, descriptions: ['One more', 'And another'] })
    expect((all as Json[]).map(({ id, status }) => [id, status])).toEqual([
      [1, 'todo'],
      [2, 'todo'],
      [3, 'todo'],
      [4, 'todo'],
      [5, 'todo'],
    ])
    const agent = await joins(team, taskId, 'ada', { objectives: [5] })
    expect((agent.context['objectives'] as Json[])[4]).toMatchObject({ description: 'And another', status: 'active' })
  })

  it('X-022 objective:add gives a task without a team its first objectives', async () => {
    const { engine, call } = await openTeams()
    const { id: taskId } = await engine.create({ name: 'By hand' })
    const { objectives: all } = await call('objective:add', { taskId, descriptions: ['Find it'] })
    expect(all).toMatchObject([{ id: 1, description: 'Find it', status: 'todo' }])
  })

  it('S2-017 objective:add refuses an ended task and more objectives than allowed', async () => {
    const { call, taskId } = await setup()
    const descriptions = Array.from({ length: 998 }, (_, index) => `objective ${index}`)
    const refusal = await refusalOf(call('objective:add', { taskId, descriptions }), 'LIMIT_EXCEEDED')
    expect(refusal.details).toMatchObject({ limit: 'objectives', value: 1_000 })
    await call('task:complete', { taskId })
    await refusalOf(call('objective:add', { taskId, descriptions: ['late'] }), 'INVALID_TRANSITION')
  })
})
