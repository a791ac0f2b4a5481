// One task through every vocabulary and the engine: each shows it in its own terms, whichever has changed it, and equivalent operations
// have the same effect.
import { describe, expect, it, onTestFinished } from 'vitest'
import { agent } from '../../src/agents/loop/agent.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { dispatchIntent } from '../../src/agents/routing/handle.ts'
import { boardTools } from '../../src/board/board-tools.ts'
import type { TaskManagerConfig } from '../../src/compat/agent-os.ts'
import { ConsolidationEngine, TaskEngine } from '../../src/compat/day1.ts'
import { createExoExecutor, TaskManager as ExoManager, TaskScheduler } from '../../src/compat/exo.ts'
import { createTaskTools, TaskManager } from '../../src/compat/s07.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { type TaskStatus, taskStatuses } from '../../src/entities/task.ts'
import { history, puppet, reached, waysTo } from '../engine/world.ts'
import { surface } from '../operations/world.ts'
import { openManager } from './agent-os/world.ts'

type Json = Record<string, unknown>

/** The same engine through all vocabularies: Agent OS on its bus (`process`), the others by the engine and its own bus (`json`). */
async function everywhere(config: TaskManagerConfig = {}) {
  const exoExecutor = createExoExecutor()
  const manager = await openManager({ ...config, executors: { exo: exoExecutor, ...config.executors } })
  const engine = manager.engine as unknown as Engine
  const exo = new ExoManager({ engine, executor: exoExecutor })
  const s07 = new TaskManager(engine)
  const day1 = new TaskEngine(engine)
  const tools = boardTools(engine, { as: 'alice', leaseMs: null })
  onTestFinished(() => tools.close())
  const json = surface(engine)
  const process = manager.call

  return {
    engine,
    process,
    exo,
    scheduler: new TaskScheduler(exo),
    s07,
    day1,
    knowledge: new ConsolidationEngine(engine),
    tools,
    json,
    /** The view of a task in each. */
    async seen(id: string) {
      const { task: shown } = (await process('task:get', { taskId: id })) as { task: Json }
      const { task: record } = (await process('ldg:task:get', { taskId: id })) as { task: Json }
      const { task: board } = (await json('board:get', { id })) as { task: Json }
      return {
        engine: (await engine.get(id))?.status,
        exo: (await exo.get(id))?.status,
        process: shown['status'],
        ledger: record['completionStatus'] ?? null,
        canonical: [shown, record, board].map((each) => each['canonicalStatus']),
        board: board['status'],
        s07: (JSON.parse(await s07.get(id)) as Json)['status'],
        day1: (await day1.getTask(id)).status,
        tools: (JSON.parse(await tools.handlers.task_get({ task_id: id })) as Json)['status'],
      }
    },
  }
}

/** Conformance 1.1: the status of one state, by vocabulary. */
const wordsOf: Record<TaskStatus, [process: string, ledger: string | null, board: string, day1: string]> = {
  submitted: ['pending', null, 'pending', 'active'],
  working: ['running', null, 'in_progress', 'active'],
  paused: ['waiting', null, 'in_progress', 'paused'],
  input_required: ['waiting', null, 'in_progress', 'active'],
  waiting: ['waiting', null, 'in_progress', 'active'],
  completed: ['completed', 'success', 'completed', 'completed'],
  canceled: ['killed', 'cancelled', 'deleted', 'failed'],
  failed: ['failed', 'failed', 'failed', 'failed'],
}

function statusIn(state: TaskStatus) {
  const [process, ledger, board, day1] = wordsOf[state]
  return {
    engine: state,
    exo: state,
    process,
    ledger,
    canonical: [state, state, state],
    board,
    s07: board,
    day1,
    tools: board,
  }
}

describe('One task', () => {
  it('X-018 a task has one number and one id in all vocabularies, whichever created it', async () => {
    const { engine, exo, process, s07, tools } = await everywhere()
    await engine.create({ name: 'by the engine' })
    await exo.create('by exo', { description: 'of exo' })
    await process('ldg:task:save', { task: { id: 'task-ledger', goal: 'by the ledger' } })
    await s07.create('by s07')
    await tools.handlers.task_create({ subject: 'by a tool' })
    expect(await s07.list_all()).toBe(
      '[ ] #1: by the engine\n[ ] #2: by exo\n[>] #3: task-ledger\n[ ] #4: by s07\n[ ] #5: by a tool',
    )
    expect(await tools.handlers.task_list()).toBe(await s07.list_all())
    expect((await exo.list()).map(({ name }) => name)).toEqual((await engine.list()).tasks.map(({ name }) => name))
    for (const { id, name } of (await engine.list()).tasks) {
      expect((await process('task:get', { taskId: id }))['task']).toMatchObject({ id })
      expect(JSON.parse(await s07.get(id))).toMatchObject({ subject: name, taskId: id })
    }
  })

  it.each(taskStatuses)('X-018 X-019 a task that is %s has the matching status in every vocabulary', async (state) => {
    const { engine, seen } = await everywhere()
    const task = await engine.create({ name: 'it' })
    for (const status of waysTo[state]) await engine.update(task, { status })
    expect(await seen(task.id)).toEqual(statusIn(state))
  })

  it('X-018 a task changed by each vocabulary in turn looks the same in all at every step', async () => {
    const { engine, exo, s07, tools, seen, json } = await everywhere()
    const { id } = await exo.create('it')
    expect(await seen(id)).toEqual(statusIn('submitted'))
    await s07.update(1, 'in_progress')
    expect(await seen(id)).toEqual(statusIn('working'))
    await exo.update(id, { status: 'paused' })
    expect(await seen(id)).toEqual(statusIn('paused'))
    await json('task:resume', { taskId: id })
    expect(await seen(id)).toEqual(statusIn('working'))
    await tools.handlers.task_update({ task_id: 1, status: 'pending' })
    expect(await seen(id)).toMatchObject({ engine: 'waiting', exo: 'waiting', process: 'pending', board: 'pending' })
    const claimed = await engine.claim(id, { owner: 'ada' })
    expect(await seen(id)).toEqual(statusIn('working'))
    expect(await tools.handlers.task_update({ task_id: 1, status: 'completed' })).toMatch(/worked on by ada/)
    await engine.complete(claimed, { pages: 3 })
    expect(await seen(id)).toEqual(statusIn('completed'))
    expect((await exo.get(id))?.result).toEqual({ pages: 3 })
  })
})

describe('A task of a team', () => {
  const bug = 'Fixed the bug in the refresh of tokens'

  it("X-018 a team's task is one task and one team in all vocabularies, at every step of its life", async () => {
    const { engine, exo, s07, day1, knowledge, tools, seen, json } = await everywhere()
    const { id, branch } = await day1.createTask('Fix Auth', { type: 'bug_fix', objectives: ['Find it', 'Repair it'] })
    expect(await seen(id)).toEqual(statusIn('submitted'))
    expect(await s07.list_all()).toBe('[ ] #1: Fix Auth')
    expect(await exo.get(id)).toMatchObject({ id, name: 'Fix Auth' })
    expect(await json('task:teams', { type: 'bug_fix' })).toMatchObject({
      tasks: [{ id, branch, status: 'submitted' }],
    })

    // One agent joins by each way: ability, method of the engine, method of Day1.
    await json('agent:join', { taskId: id, agentId: 'ada', objectives: [1] })
    await engine.agent.join({ taskId: id, agentId: 'bob' })
    expect((await day1.joinTask(id, 'cleo')).taskContext.activeAgents.map(({ agentId }) => agentId)).toEqual([
      'ada',
      'bob',
      'cleo',
    ])
    await expect(day1.joinTask(id, 'ada')).rejects.toMatchObject({ code: 'ALREADY_ACTIVE' })
    expect(await json('task:context', { taskId: id })).toMatchObject({
      ...(await day1.getTaskContext(id)),
      task: { id },
    })
    for (const agentId of ['ada', 'bob']) {
      const seenBy = { taskId: id, agentId, sessionId: agentId, type: 'insight', content: bug } as const
      await (agentId === 'ada' ? knowledge.recordObservation(seenBy) : json('mem:observe', seenBy))
    }

    // Claimed on the board, paused by another, claimed again: objectives and agents continue.
    expect(JSON.parse(await tools.handlers.task_update({ task_id: 1, status: 'in_progress' }))).toMatchObject({
      owner: 'alice',
    })
    expect(await seen(id)).toEqual(statusIn('working'))
    await exo.update(id, { status: 'paused' })
    expect(await seen(id)).toEqual(statusIn('paused'))
    await json('task:resume', { taskId: id })
    expect(await seen(id)).toEqual(statusIn('working'))
    expect((await day1.getTask(id)).objectives.map(({ status }) => status)).toEqual(['active', 'todo'])
    await day1.updateObjective(id, 2, { status: 'blocked', agentId: 'bob', notes: 'waits for a key' })
    expect((await json('objective:log', { taskId: id, objectiveId: 2 }))['changes']).toMatchObject([
      { from: 'todo', to: 'blocked', agentId: 'bob', notes: 'waits for a key' },
    ])

    await json('agent:complete', { taskId: id, agentId: 'ada', summary: 'Found it' })
    expect((await day1.getTask(id)).agentSummaries).toEqual([{ agentId: 'ada', role: null, summary: 'Found it' }])
    // Neither active agents nor another owner's claim are ignored, whichever way is used.
    await expect(day1.completeTask(id)).rejects.toMatchObject({ code: 'AGENTS_ACTIVE' })
    await expect(day1.completeTask(id, { completeAgents: true })).rejects.toMatchObject({ code: 'NOT_OWNER' })
    expect(await seen(id)).toEqual(statusIn('working'))
    await day1.completeAgent(id, 'bob')
    await engine.agent.complete({ taskId: id, agentId: 'cleo' })
    expect(await json('task:complete', { taskId: id, owner: 'alice', summary: 'Repaired' })).toMatchObject({
      status: 'completed',
      merge: { merged: 1 },
    })
    expect(await seen(id)).toEqual(statusIn('completed'))
    expect(await s07.list_all()).toBe('[x] #1: Fix Auth @alice')
    expect(await day1.getTask(id)).toMatchObject({ resultSummary: 'Repaired', activeAgents: [] })
    expect(await knowledge.facts('main')).toMatchObject([{ text: bug, confidence: 0.8 }])
    expect(await day1.completeTask(id)).toMatchObject({ status: 'completed', mergeResult: { mergedCount: 1 } })
  })

  it.each(['exo', 'board', 's07', 'engine', 'task:complete', 'day1'] as const)(
    "X-018 a team's task completed by %s is completed for all, and its durable facts are on main",
    async (by) => {
      const at = await everywhere()
      const { engine, exo, s07, day1, knowledge, tools, seen, json } = at
      const { id } = await day1.createTask('Fix Auth')
      await day1.joinTask(id, 'ada')
      for (const sessionId of ['s1', 's2'])
        await knowledge.recordObservation({ taskId: id, agentId: 'ada', sessionId, type: 'insight', content: bug })
      await day1.completeAgent(id, 'ada')
      const ways: Record<typeof by, () => Promise<unknown>> = {
        exo: async () => {
          await exo.update(id, { status: 'working' })
          await exo.update(id, { status: 'completed' })
        },
        board: () => tools.handlers.task_update({ task_id: 1, status: 'completed' }),
        s07: () => s07.update(1, 'completed'),
        engine: async () => engine.complete(await engine.start(id)),
        'task:complete': () => json('task:complete', { taskId: id }),
        day1: () => day1.completeTask(id),
      }
      await ways[by]()
      // The engine closes the team after each way of completion.
      for await (const { type } of engine.events({ taskId: id })) if (type === 'team.closed') break
      expect(await seen(id)).toEqual(statusIn('completed'))
      expect(await knowledge.facts('main')).toMatchObject([{ text: bug, confidence: 0.8 }])
      expect(await day1.completeTask(id)).toMatchObject({ status: 'completed', mergeResult: { mergedCount: 1 } })
      const types = (await history(engine, id)).map(({ type }) => type)
      expect(
        ['task.completed', 'agent.completed', 'team.closed'].map(
          (each) => types.filter((type) => type === each).length,
        ),
      ).toEqual([1, 1, 1])
    },
  )
})

describe('Cancellation', () => {
  it('X-020 canceling by any name has the same state and events, and dependents stay blocked', async () => {
    type Everywhere = Awaited<ReturnType<typeof everywhere>>
    const ways: Record<string, (at: Everywhere, id: string) => Promise<unknown>> = {
      'engine.cancel': ({ engine }, id) => engine.cancel(id),
      'engine.update': ({ engine }, id) => engine.update(id, { status: 'canceled' }),
      "the engine's task:cancel": ({ json }, taskId) => json('task:cancel', { taskId, reason: 'enough' }),
      'task:cancel': ({ process }, taskId) => process('task:cancel', { taskId, reason: 'enough' }),
      'task:kill': ({ process }, taskId) => process('task:kill', { taskId, reason: 'enough' }),
      'scheduler.cancel': ({ scheduler }, id) => scheduler.cancel(id),
      'exo update': ({ exo }, id) => exo.update(id, { status: 'canceled' }),
      'board:update': ({ json }, id) => json('board:update', { id, status: 'deleted' }),
      's07 update': ({ s07 }, id) => s07.update(id, 'deleted'),
      task_update: ({ tools }, id) => tools.handlers.task_update({ task_id: id, status: 'deleted' }),
      "s07's task_update": ({ s07 }, id) => createTaskTools(s07).dispatch('task_update', { id, status: 'deleted' }),
      cancel_task: ({ engine }, taskId) =>
        dispatchIntent(engine, { action: 'cancel_task', taskId, confidence: 1, details: {} }),
    }
    /** By effect, the ways that have it. */
    const effects = new Map<string, string[]>()
    for (const [name, cancel] of Object.entries(ways)) {
      const work = puppet()
      const at = await everywhere({ executors: { work: work.executor } })
      const task = await at.engine.create({ name: 'it', executor: 'work' })
      const below = await at.engine.create({ name: 'below', parentId: task.id })
      const after = await at.engine.create({ name: 'after', blockedBy: [task.id] })
      const run = await work.started(0)
      const since = (await history(at.engine)).length
      await cancel(at, task.id)
      await run.aborted
      await reached(at.engine, task, 'canceled')
      expect([name, await at.seen(task.id)]).toEqual([name, statusIn('canceled')])
      const names = new Map([task, below, after].map(({ id, name: of }) => [id, of]))
      const effect = (await history(at.engine))
        .slice(since)
        .filter(({ type }) => type.startsWith('task.'))
        // Not every way takes a reason, and each records its caller.
        .map(({ type, taskId, data: { reason: _reason, requestedBy: _by, ...data } }) => [
          type,
          names.get(taskId),
          data,
        ])
      const key = JSON.stringify([effect, (await at.engine.get(after.id))?.blockedBy.length])
      effects.set(key.replaceAll(task.id, 'it'), [...(effects.get(key.replaceAll(task.id, 'it')) ?? []), name])
    }
    expect([...effects.values()]).toEqual([Object.keys(ways)])
    expect([...effects.keys()][0]).toMatch(/"task\.canceled","it",.*"task\.canceled","below",.*,1\]$/)
  })
})

describe('A dependency of the board', () => {
  it('X-021 a dependency on the board delays the scheduler until the owner of the blocker completes it', async () => {
    const { exo, scheduler, engine, s07, tools } = await everywhere()
    const started: string[] = []
    const task = await exo.create('run')
    await s07.create('write it down')
    await s07.update(1, undefined, [2])
    // Claimed, because the scheduler runs every task without an owner that is ready.
    await tools.handlers.task_update({ task_id: 2, status: 'in_progress' })
    await scheduler.schedule(async ({ name }) => void started.push(name))
    expect(started).toEqual([])
    expect((await exo.get(task.id))?.status).toBe('submitted')
    expect(JSON.parse(await tools.handlers.task_update({ task_id: 2, status: 'completed' }))).toMatchObject({
      unblocked: [1],
    })
    await scheduler.schedule(async ({ name }) => void started.push(name))
    expect(started).toEqual(['run'])
    expect((await engine.get(task.id))?.status).toBe('completed')
    expect(await s07.list_all()).toBe('[x] #1: run\n[x] #2: write it down @alice')
  })

  it('X-021 a task completed by an agent unblocks its dependents on the board', async () => {
    const model = createScriptedModel([{ text: 'All is well.' }])
    const { engine, tools } = await everywhere({ model, executors: { agent: agent() } })
    const goal = await engine.create({ goal: 'Look around' })
    const made = JSON.parse(await tools.handlers.task_create({ subject: 'read it', addBlockedBy: [goal.id] })) as Json
    expect(await engine.result(goal)).toBe('All is well.')
    const { id } = (await engine.bus.call('board:get', { id: made['id'] as number })).task
    expect(JSON.parse(await tools.handlers.task_get({ task_id: id }))).toMatchObject({
      blockedBy: [],
      status: 'pending',
    })
    expect(JSON.parse(await tools.handlers.task_update({ task_id: id, status: 'completed' }))).toMatchObject({
      owner: 'alice',
    })
    expect(await tools.handlers.task_list()).toMatch(/^\[x\] #1: Look around\n\[x\] #2: read it @alice$/)
  })
})
