// Subtasks where there is no default model: they get the model of the agent that creates them.
import { describe, expect, it } from 'vitest'
import { agent } from '../../src/agents/loop/agent.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { openEngine } from '../engine/world.ts'

describe('a subtask that a model creates where goals have no default agent', () => {
  it('a subtask that a model creates where goals have no default agent runs with the agent and the model of the task that created it', async () => {
    const model = createScriptedModel([
      { when: { goal: 'part' }, text: 'the part' },
      { tools: [{ name: 'task_create', input: { goal: 'part' } }] },
      { tools: [{ name: 'wait_for_tasks', input: {} }] },
      { text: 'the whole' },
    ])
    const engine = await openEngine({ executors: { writer: agent() }, resolveModel: () => model })
    const task = await engine.create({ executor: 'writer', goal: 'whole', model: 'any:model' })
    expect(await engine.result(task)).toBe('the whole')
    const [child] = await engine.children(task)
    expect(child).toMatchObject({ executor: 'writer', status: 'completed', result: 'the part' })
  })
})

describe('a subtask whose creation was interrupted', () => {
  it('a subtask whose creation was interrupted is found by the repeated call, and not created a second time', async () => {
    const model = createScriptedModel([{ text: 'done' }])
    const engine = await openEngine({ model })
    const parent = await engine.create({ name: 'parent' })
    const options = { caller: { surface: 'model', taskId: parent.id }, identity: 'one call' }
    const first = await engine.bus.call('task:create', { goal: 'part' }, options)
    const again = await engine.bus.call('task:create', { goal: 'part' }, options)
    const other = await engine.bus.call('task:create', { goal: 'part' }, { ...options, identity: 'another' })
    expect([again.taskId === first.taskId, other.taskId === first.taskId]).toEqual([true, false])
    expect(await engine.children(parent)).toHaveLength(2)
  })
})
