// Day1's engines over the real engine: tasks of several agents, their memory, and the errors of both.
import { describe, expect, expectTypeOf, it } from 'vitest'
import * as day1Entry from '../../src/compat/day1.ts'
import {
  ConsolidationEngine,
  ConsolidationError,
  type Observation,
  TaskEngine,
  TaskEngineError,
  TaskNotFoundError,
} from '../../src/compat/day1.ts'
import { ErrandError } from '../../src/core/errors.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { openEngine } from '../engine/world.ts'

/** Both engines on one ledger, and a helper that records an agent's observations. */
async function day1() {
  const engine = (await openEngine({ work: false })) as unknown as Engine
  const tasks = new TaskEngine(engine)
  const memory = new ConsolidationEngine(engine)
  return {
    engine,
    tasks,
    memory,
    see: (taskId: string, agentId: string, type: Observation['type'], content: string, sessionId = `${agentId}-1`) =>
      memory.recordObservation({ sessionId, type, content, taskId, agentId }),
    textsOn: async (branch: string) => (await memory.facts(branch)).map(({ text }) => text),
    branches: async () =>
      Object.fromEntries(
        (await engine.bus.call('mem:branches', {})).branches.map(({ name, status, parent }) => [
          name,
          { status, parent },
        ]),
      ),
  }
}

async function thrownBy(work: () => Promise<unknown>): Promise<unknown> {
  const value = await work().catch((error: unknown) => ({ error }))
  if (typeof value === 'object' && value !== null && 'error' in value) return value.error
  throw new Error(`Nothing was refused: got ${JSON.stringify(value)}`)
}

describe('the entry', () => {
  it('errand/day1 exports the two engines of the document and their errors', () => {
    expect(new Set(Object.keys(day1Entry))).toEqual(
      new Set(['TaskEngine', 'ConsolidationEngine', 'TaskEngineError', 'TaskNotFoundError', 'ConsolidationError']),
    )
    expectTypeOf<day1Entry.Task['status']>().toEqualTypeOf<'active' | 'paused' | 'completed' | 'failed'>()
    expectTypeOf<day1Entry.Objective['status']>().toEqualTypeOf<'todo' | 'active' | 'done' | 'blocked'>()
  })
})

describe('the lifecycle of the document', () => {
  it("S2-001 S2-010 S2-018 S2-031 S2-033 S2-034 S2-037 S2-046 a team's task goes from creation over the work of two agents to facts on main", async () => {
    const { tasks, memory, see, textsOn, branches } = await day1()

    const task = await tasks.createTask('fix-auth', { parentBranch: 'main', objectives: ['Repair it', 'Review it'] })
    expect(task).toMatchObject({ name: 'fix-auth', status: 'active', branch: 'task/fix-auth', parentBranch: 'main' })

    const implementer = await tasks.assignAgent(task.id, 'agent_1', { role: 'implementer', assignedObjectives: [1] })
    const reviewer = await tasks.assignAgent(task.id, 'agent_2', { role: 'reviewer', assignedObjectives: [2] })
    expect([implementer.agentBranch, reviewer.agentBranch]).toEqual(['task/fix-auth/agent_1', 'task/fix-auth/agent_2'])
    expect(reviewer.taskContext.activeAgents).toEqual([
      { agentId: 'agent_1', role: 'implementer', objectives: [1] },
      { agentId: 'agent_2', role: 'reviewer', objectives: [2] },
    ])

    // Each works separately: its findings are visible neither to the other nor to the task.
    await see(task.id, 'agent_1', 'decision', 'Tokens are refreshed by the middleware before they expire')
    await see(task.id, 'agent_1', 'tool_use', 'npm test')
    await see(task.id, 'agent_1', 'insight', 'The sign-in form loads slowly')
    await memory.consolidateSession('agent_1-1')
    await see(task.id, 'agent_1', 'decision', 'Tokens are refreshed by the middleware before they expire', 'agent_1-2')
    await see(task.id, 'agent_2', 'decision', 'Tokens are refreshed by the middleware before they expire')
    expect(await textsOn('task/fix-auth/agent_1')).toHaveLength(2)
    expect(await textsOn('task/fix-auth/agent_2')).toEqual([])
    expect(await textsOn('task/fix-auth')).toEqual([])

    // Session and agent consolidation, and a merge into the branch of the task.
    expect(await tasks.completeAgent(task.id, 'agent_1', { summary: 'The middleware refreshes tokens.' })).toEqual({
      mergedCount: 2,
      rejectedCount: 0,
      conflicts: [],
      mergeId: expect.any(String),
      consolidation: {
        observationsProcessed: 1,
        factsCreated: 0,
        factsUpdated: 1,
        factsDeduplicated: 0,
        summary: 'The middleware refreshes tokens.',
      },
    })
    const fresh = await tasks.joinTask(task.id, 'agent_3')
    expect(fresh.taskContext.agentSummaries).toEqual([
      { agentId: 'agent_1', role: 'implementer', summary: 'The middleware refreshes tokens.' },
    ])
    expect(fresh.taskContext.progress).toEqual({ total: 2, done: 1, active: 1, todo: 0, blocked: 0 })
    await tasks.completeAgent(task.id, 'agent_3')
    await tasks.completeAgent(task.id, 'agent_2')
    expect(await memory.facts('task/fix-auth', { category: 'decision' })).toMatchObject([{ confidence: 0.9 }])

    // The facts of the task are classified, and durable ones are merged into main.
    const done = await tasks.completeTask(task.id, { resultSummary: 'Users stay signed in.' })
    expect(done).toMatchObject({
      taskId: task.id,
      status: 'completed',
      mergeResult: { mergedCount: 1, rejectedCount: 0, conflicts: [] },
      ephemeralCount: 1,
    })
    expect(done.durableFactIds).toHaveLength(1)
    expect(await textsOn('main')).toEqual(['Tokens are refreshed by the middleware before they expire'])
    expect(await textsOn('task/fix-auth')).toContain('The sign-in form loads slowly')
    expect(await tasks.getTask(task.id)).toMatchObject({
      status: 'completed',
      canonicalStatus: 'completed',
      resultSummary: 'Users stay signed in.',
      objectives: [
        { id: 1, status: 'done' },
        { id: 2, status: 'done' },
      ],
      activeAgents: [],
    })
    expect(await branches()).toEqual({
      main: { status: 'active' },
      'task/fix-auth': { status: 'merged', parent: 'main' },
      'task/fix-auth/agent_1': { status: 'merged', parent: 'task/fix-auth' },
      'task/fix-auth/agent_2': { status: 'merged', parent: 'task/fix-auth' },
      'task/fix-auth/agent_3': { status: 'merged', parent: 'task/fix-auth' },
    })

    // Each step is in the history, and repeating it changes nothing.
    const history = await memory.history()
    expect(new Set(history.map(({ type }) => type))).toEqual(
      new Set(['session_end', 'agent_complete', 'merge', 'task_checkpoint']),
    )
    expect(await tasks.completeTask(task.id)).toEqual(done)
    expect(await memory.history()).toEqual(history)
  })
})

describe('TaskEngine', () => {
  it('S2-001 S2-006 S2-025 createTask creates an active task whose objectives are numbered and todo', async () => {
    const { tasks } = await day1()
    const given = {
      description: 'Sessions end too early',
      objectives: ['Find it', { description: 'Mend it' }],
      type: 'bug_fix',
      tags: ['auth'],
    }
    const task = await tasks.createTask('Fix OAuth2 Bug', given)
    expect(task).toEqual({
      id: expect.any(String),
      name: 'Fix OAuth2 Bug',
      description: 'Sessions end too early',
      type: 'bug_fix',
      tags: ['auth'],
      status: 'active',
      canonicalStatus: 'submitted',
      branch: 'task/fix-oauth2-bug',
      parentBranch: 'main',
      resultSummary: null,
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
      completedAt: null,
      objectives: [
        { id: 1, description: 'Find it', status: 'todo', agentId: null, notes: null },
        { id: 2, description: 'Mend it', status: 'todo', agentId: null, notes: null },
      ],
      activeAgents: [],
      agentSummaries: [],
    })
    expect(await tasks.getTask(task.id)).toEqual(task)
    expect(await tasks.createTask('Plain', { description: '' })).toMatchObject({ description: '', type: null })
  })

  it('S2-004 S2-005 S2-008 createTask gives each task a branch of its own below an existing one, or creates neither', async () => {
    const { tasks } = await day1()
    const branches = [await tasks.createTask('Twice'), await tasks.createTask('Twice'), await tasks.createTask('???')]
    expect(new Set(branches.map(({ branch }) => branch)).size).toBe(3)
    const below = await tasks.createTask('Below', { parentBranch: 'task/twice' })
    expect(below.parentBranch).toBe('task/twice')
    const refusal = await thrownBy(() => tasks.createTask('Nowhere', { parentBranch: 'task/none' }))
    expect(refusal).toMatchObject({ name: 'TaskEngineError', code: 'NOT_FOUND', details: { branch: 'task/none' } })
    expect(refusal).not.toBeInstanceOf(TaskNotFoundError)
    expect(await tasks.listTasks()).toHaveLength(4)
  })

  it('S2-007 listTasks returns the latest first, twenty by default, by status and type', async () => {
    const { engine, tasks } = await day1()
    for (let n = 1; n <= 22; n++) await tasks.createTask(`task ${n}`, { type: n % 2 === 0 ? 'even' : 'odd' })
    const names = async (...args: Parameters<TaskEngine['listTasks']>) =>
      (await tasks.listTasks(...args)).map(({ name }) => name)
    expect(await names()).toEqual(Array.from({ length: 20 }, (_, index) => `task ${22 - index}`))
    expect(await names({ type: 'odd', limit: 2 })).toEqual(['task 21', 'task 19'])

    const [paused, failed, done] = await tasks.listTasks({ limit: 3 })
    await engine.update(paused!.id, { status: 'working' })
    await engine.pause(paused!.id)
    await engine.cancel(failed!.id, 'not needed')
    await tasks.completeTask(done!.id)
    expect(await tasks.listTasks({ status: 'paused' })).toMatchObject([{ id: paused!.id, canonicalStatus: 'paused' }])
    expect(await tasks.listTasks({ status: 'failed' })).toMatchObject([{ id: failed!.id, canonicalStatus: 'canceled' }])
    expect(await tasks.listTasks({ status: 'completed' })).toMatchObject([{ id: done!.id }])
    expect(await names({ status: 'active', limit: 100 })).toHaveLength(19)
  })

  it('S2-011 S2-024 S2-026 S2-028 S2-029 updateObjective changes an objective from any status to any other, and refuses unknown statuses', async () => {
    const { tasks } = await day1()
    const { id } = await tasks.createTask('t', { objectives: ['one', 'two'] })
    const before = await tasks.getTask(id)
    const done = await tasks.updateObjective(id, 1, { status: 'done', agentId: 'ann', notes: 'at once' })
    expect(done.objectives[0]).toEqual({ id: 1, description: 'one', status: 'done', agentId: 'ann', notes: 'at once' })
    expect(done.updatedAt).toBeGreaterThanOrEqual(before.updatedAt)
    for (const status of ['active', 'blocked', 'active', 'todo'] as const) {
      expect((await tasks.updateObjective(id, 2, { status })).objectives[1]).toMatchObject({ status })
    }
    const refusal = await thrownBy(() => tasks.updateObjective(id, 2, { status: 'finished' as never }))
    expect(refusal).toMatchObject({ name: 'TaskEngineError', code: 'INVALID_INPUT' })
    await tasks.assignAgent(id, 'bob', { assignedObjectives: [2] })
    expect((await tasks.getTask(id)).objectives[1]).toMatchObject({ status: 'active', agentId: 'bob' })
  })

  it('S2-039 S2-045 S2-048 getTaskContext and renderTaskContext return the context as an object and as text', async () => {
    const { tasks } = await day1()
    const { id } = await tasks.createTask('Fix auth', { description: 'Sessions end', type: 'bug_fix' })
    expect(await tasks.getTaskContext(id)).toMatchObject({
      task: { id, name: 'Fix auth', description: 'Sessions end', type: 'bug_fix', resultSummary: null },
      objectives: [],
      keyFacts: [],
      progress: { total: 0, done: 0, active: 0, todo: 0, blocked: 0 },
    })
    expect(await tasks.renderTaskContext(id)).toContain('Task Context: Fix auth')
  })

  it('S2-036 S2-037 completeTask completes open agents and archives branches only if requested', async () => {
    const { tasks, branches } = await day1()
    const { id } = await tasks.createTask('t', { objectives: ['one'] })
    await tasks.assignAgent(id, 'ann')
    expect(await thrownBy(() => tasks.completeTask(id))).toMatchObject({
      code: 'AGENTS_ACTIVE',
      details: { agents: ['ann'] },
    })
    expect(
      await thrownBy(() => tasks.completeTask(id, { completeAgents: true, requireObjectives: true })),
    ).toMatchObject({
      code: 'OBJECTIVES_OPEN',
    })
    expect((await tasks.getTask(id)).activeAgents).toHaveLength(1)
    const done = await tasks.completeTask(id, { completeAgents: true, mergeToParent: false, archiveBranches: true })
    expect(done).toMatchObject({ status: 'completed', mergeResult: null })
    expect(await branches()).toMatchObject({
      'task/t': { status: 'archived' },
      'task/t/ann': { status: 'archived' },
    })
  })

  it('X-022 TaskEngine works with a task created elsewhere', async () => {
    const { engine, tasks } = await day1()
    const { id } = await engine.create({ name: 'Plain' })
    expect(await tasks.getTask(id)).toMatchObject({ branch: null, objectives: [] })
    expect(await tasks.assignAgent(id, 'ann')).toMatchObject({ agentBranch: 'task/plain/ann' })
    await tasks.completeAgent(id, 'ann')
    expect(await tasks.completeTask(id)).toMatchObject({ status: 'completed' })
  })
})

describe('ConsolidationEngine', () => {
  it('S2-060 S2-061 S2-064 S2-068 S2-069 S2-070 consolidateSession turns observations into facts once', async () => {
    const { memory } = await day1()
    const none = { observationsProcessed: 0, factsCreated: 0, factsUpdated: 0, factsDeduplicated: 0 }
    expect(await memory.consolidateSession('empty')).toEqual(none)
    for (const type of ['insight', 'decision', 'discovery', 'tool_use', 'error'] as const) {
      await memory.recordObservation({
        sessionId: 's1',
        type,
        content: `seen as ${type}: ${type.repeat(3)}`,
        outcome: 'ok',
      })
    }
    expect(await memory.consolidateSession('s1')).toEqual({ ...none, observationsProcessed: 3, factsCreated: 3 })
    expect(await memory.facts()).toHaveLength(3)
    expect(new Set((await memory.facts()).map(({ confidence }) => confidence))).toEqual(new Set([0.7]))
    expect(await memory.consolidateSession('s1')).toEqual(none)
    expect(await memory.facts()).toHaveLength(3)
  })

  it('S2-062 S2-063 a repeated observation raises the confidence of its fact up to full confidence', async () => {
    const { memory } = await day1()
    const sure: number[] = []
    for (const sessionId of ['a', 'b', 'c', 'd', 'e']) {
      await memory.recordObservation({ sessionId, type: 'insight', content: 'The cache is cold after a deploy' })
      const counts = await memory.consolidateSession(sessionId)
      sure.push((await memory.facts())[0]!.confidence)
      expect(counts).toMatchObject(
        sessionId === 'a' ? { factsCreated: 1 } : sessionId === 'e' ? { factsDeduplicated: 1 } : { factsUpdated: 1 },
      )
    }
    expect(sure).toEqual([0.7, 0.8, 0.9, 1, 1])
  })

  it('S2-073 S2-074 S2-076 S2-099 consolidateAgent merges alike facts of an agent and writes a summary', async () => {
    const { engine, tasks, memory, see } = await day1()
    const { id } = await tasks.createTask('t')
    const { agentBranch: branch } = await tasks.assignAgent(id, 'ann')
    await see(id, 'ann', 'insight', 'The cache is cold after a deploy')
    await memory.consolidateSession('ann-1')
    await engine.bus.call('mem:remember', {
      text: 'After a deploy the cache is cold',
      branch,
      agentId: 'ann',
      taskId: id,
    })
    const done = await memory.consolidateAgent(id, 'ann')
    expect(done).toMatchObject({ factsDeduplicated: 1, summary: expect.stringContaining('cache is cold') })
    expect(await memory.consolidateAgent(id, 'ann')).toMatchObject({ factsDeduplicated: 0, summary: done.summary })
    expect(await memory.facts(branch, { status: 'superseded' })).toHaveLength(1)
  })

  it('S2-080 S2-082 S2-083 consolidateTask returns the durable facts and the number of the others', async () => {
    const { engine, tasks, memory } = await day1()
    const { id, branch } = await tasks.createTask('t')
    const state = async (text: string, category: string, confidence: number) =>
      (await engine.bus.call('mem:remember', { text, category, confidence, branch: branch as string })).factId
    const lasting = await state('Exactly sure enough', 'decision', 0.8)
    await state('Not quite sure enough', 'decision', 0.79)
    await state('Sure, and of no lasting kind', 'discovery', 1)
    expect(await memory.consolidateTask(id)).toMatchObject({ durableFactIds: [lasting], ephemeralCount: 2 })
  })

  it('S2-106 consolidateProject merges into main what several tasks agree on', async () => {
    const { tasks, memory, see } = await day1()
    const ids: string[] = []
    for (const name of ['one', 'two']) {
      const { id } = await tasks.createTask(name)
      await tasks.assignAgent(id, 'ann')
      await see(id, 'ann', 'decision', 'Dates are stored in UTC', `session of ${name}`)
      await tasks.completeAgent(id, 'ann')
      ids.push(id)
    }
    const found = await memory.consolidateProject(ids)
    expect(found).toMatchObject({ ephemeralCount: 0 })
    expect(found.durableFactIds).toHaveLength(1)
    expect(await memory.facts()).toMatchObject([{ text: 'Dates are stored in UTC', confidence: 0.8 }])
    await memory.consolidateProject()
    expect(await memory.facts()).toMatchObject([{ confidence: 0.8 }])
  })

  it('S2-095 S2-096 S2-097 S2-100 history filters by task, agent, session and type', async () => {
    const { tasks, memory, see } = await day1()
    const { id } = await tasks.createTask('t')
    await tasks.assignAgent(id, 'ann')
    await see(id, 'ann', 'insight', 'The cache is cold after a deploy')
    await tasks.completeAgent(id, 'ann')
    await tasks.completeTask(id)
    const typesOf = async (...args: Parameters<ConsolidationEngine['history']>) =>
      (await memory.history(...args)).map(({ type }) => type).toReversed()
    expect(await typesOf({ agentId: 'ann' })).toEqual(['session_end', 'agent_complete', 'merge'])
    expect(await typesOf({ sessionId: 'ann-1' })).toEqual(['session_end'])
    expect(await memory.history({ taskId: id, type: 'task_checkpoint' })).toMatchObject([
      { sourceBranch: 'task/t', targetBranch: 'main' },
    ])
    expect(await typesOf({ branch: 'main' })).toEqual(['task_checkpoint', 'merge'])
    expect(await typesOf({ limit: 1 })).toEqual(['merge'])
  })

  it('S2-086 S2-087 S2-088 jaccardSimilarity compares by words', () => {
    expect(ConsolidationEngine.jaccardSimilarity('Fix the auth bug', 'fix THE auth-bug!')).toBe(1)
    expect(ConsolidationEngine.jaccardSimilarity('a b c', 'x y')).toBe(0)
    expect(ConsolidationEngine.jaccardSimilarity('', '')).toBe(0)
    expect(ConsolidationEngine.jaccardSimilarity('one two three', 'two three four')).toBe(0.5)
  })
})

describe('a refusal', () => {
  it('S2-006 S2-013 S2-017 S2-020 S2-027 an error of TaskEngine is a TaskEngineError with the code and the cause', async () => {
    const { tasks } = await day1()
    const { id } = await tasks.createTask('t')
    await tasks.assignAgent(id, 'ann')
    await tasks.assignAgent(id, 'bob')
    await tasks.completeAgent(id, 'bob')
    const refusals: Array<[() => Promise<unknown>, string]> = [
      [() => tasks.assignAgent(id, 'ann'), 'ALREADY_ACTIVE'],
      [() => tasks.completeAgent(id, 'bob'), 'NOT_ACTIVE'],
      [() => tasks.completeAgent(id, 'missing'), 'NOT_FOUND'],
      [() => tasks.updateObjective(id, 1, { status: 'done' }), 'NOT_FOUND'],
      [() => tasks.createTask('x', { parentBranch: 'none' }), 'NOT_FOUND'],
      [() => tasks.createTask(''), 'INVALID_INPUT'],
      [() => tasks.createTask('x', { objective: [] } as never), 'UNKNOWN_OPTION'],
      [() => tasks.listTasks({ status: 'done' as never }), 'INVALID_INPUT'],
    ]
    for (const [work, code] of refusals) {
      const error = await thrownBy(work)
      expect(error).toBeInstanceOf(TaskEngineError)
      expect(error).not.toBeInstanceOf(TaskNotFoundError)
      expect(error).toMatchObject({ name: 'TaskEngineError', code, cause: expect.any(ErrandError) })
      expect(ErrandError.isInstance(error)).toBe(true)
    }
    await tasks.completeTask(id, { completeAgents: true })
    expect(await thrownBy(() => tasks.assignAgent(id, 'cid'))).toMatchObject({ code: 'INVALID_TRANSITION' })
  })

  it('S2-006 an unknown task is a TaskNotFoundError in every method', async () => {
    const { tasks } = await day1()
    for (const work of [
      () => tasks.getTask('task-none'),
      () => tasks.getTaskContext('task-none'),
      () => tasks.renderTaskContext('task-none'),
      () => tasks.assignAgent('task-none', 'ann'),
      () => tasks.completeAgent('task-none', 'ann'),
      () => tasks.updateObjective('task-none', 1, { status: 'done' }),
      () => tasks.completeTask('task-none'),
    ]) {
      const error = await thrownBy(work)
      expect(error).toBeInstanceOf(TaskNotFoundError)
      expect(error).toMatchObject({ name: 'TaskNotFoundError', code: 'NOT_FOUND', details: { taskId: 'task-none' } })
    }
  })

  it('S2-077 S2-084 S2-108 an error of ConsolidationEngine is a ConsolidationError with the code and the cause', async () => {
    const { tasks, memory } = await day1()
    const { id } = await tasks.createTask('t')
    for (const [work, code] of [
      [() => memory.consolidateAgent(id, 'missing'), 'NOT_FOUND'],
      [() => memory.consolidateTask('task-none'), 'NOT_FOUND'],
      [() => memory.consolidateProject(['task-none']), 'NOT_FOUND'],
      [() => memory.consolidateSession('s', { branch: 'none' }), 'NOT_FOUND'],
      [() => memory.facts('none'), 'NOT_FOUND'],
      [() => memory.recordObservation({ sessionId: 's', type: 'guess' as never, content: 'x' }), 'INVALID_INPUT'],
      [() => memory.history({ kind: 'merge' } as never), 'UNKNOWN_OPTION'],
    ] as const) {
      const error = await thrownBy(work)
      expect(error).toBeInstanceOf(ConsolidationError)
      expect(error).toMatchObject({ name: 'ConsolidationError', code, cause: expect.any(ErrandError) })
    }
  })

  it('the constructors throw at once for a value that is not an engine', () => {
    expect(() => new TaskEngine({} as never)).toThrow(TaskEngineError)
    expect(() => new ConsolidationEngine('ledger.db' as never)).toThrow(ConsolidationError)
  })
})
