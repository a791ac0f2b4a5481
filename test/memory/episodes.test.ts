// What a task leaves in memory: one fact with its outcome, its conversation as observations; and which abilities store them.
import { describe, expect, it } from 'vitest'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { echo, tool } from '../agents/world.ts'
import { openEngine } from '../engine/world.ts'
import { type Json, openMemory, withoutRuns } from './world.ts'

describe('The outcome of a task', () => {
  it('S1-068 mem:save stores one fact on main, updates it with a new state, and adds nothing when repeated', async () => {
    const { call, facts, tables } = await openMemory()
    const task = {
      id: 'task-elsewhere',
      goal: 'Bake bread',
      status: 'running',
      context: [{ role: 'user', content: 'x' }],
    }
    const { factId } = await call('mem:save', { task })
    expect(await facts()).toMatchObject([{ text: 'Bake bread — running', category: 'episode', taskId: task.id }])
    const before = await tables()
    expect(await call('mem:save', { task })).toEqual({ factId })
    expect(await tables()).toEqual(before)
    const later = await call('mem:save', { task: { ...task, status: 'completed', result: { loaves: 2 } } })
    await call('mem:save', { task, error: 'the oven is cold' })
    expect((await facts()).map(({ text, status }) => [text, status])).toEqual([
      ['Bake bread — failed: the oven is cold', 'active'],
      ['Bake bread — {"loaves":2}', 'superseded'],
      ['Bake bread — running', 'superseded'],
    ])
    expect((await facts())[2]?.['successorId']).toBe(later['factId'])
  })

  it("an episode is stored on the branch of the task's team and is not durable by default", async () => {
    const { call, facts, team, engine } = await openMemory()
    const { taskId, branch } = await team('Bake')
    await call('mem:save', { task: await engine.get(taskId).then((task) => ({ ...task })) })
    expect(await facts(branch)).toMatchObject([{ text: 'Bake — submitted', category: 'episode' }])
    await call('mem:remember', { text: 'never mind', branch, category: 'episode', confidence: 1 })
    expect(await call('mem:consolidate', { level: 'task', taskId })).toMatchObject({ durable: [], ephemeral: 2 })
  })

  it('an episode is stored above a closed branch', async () => {
    const { call, facts, team } = await openMemory()
    const { taskId, branch } = await team('Bake')
    await call('mem:archive', { branch })
    await call('mem:save', { task: { id: taskId, name: 'Bake', status: 'completed' } })
    expect(await facts()).toMatchObject([{ text: 'Bake — completed', taskId }])
    const context = [{ role: 'assistant', content: 'Baked.' }]
    expect(await call('mem:archive', { taskId, context })).toMatchObject({ observations: 0 })
  })

  it('X-037 mem:save accepts any task object', async () => {
    const { call, facts } = await openMemory()
    await call('mem:save', { task: { id: 'task-odd', goal: 17, name: ' ', result: 'x'.repeat(1_000_000) } })
    const [fact] = await facts()
    const text = String(fact?.['text'])
    expect(text.startsWith('task-odd — xxx')).toBe(true)
    expect(text.length).toBeLessThan(12_000)
  })
})

describe('A conversation', () => {
  it('S1-067 mem:archive stores calls with their results and the last answer as observations, once', async () => {
    const failing = tool('test:fail', () => Promise.reject(new Error('no such page')))
    const model = createScriptedModel([
      {
        text: 'Let me see.',
        tools: [
          { name: 'test_echo', input: { text: 'hello' } },
          { name: 'test_fail', input: {} },
        ],
      },
      { text: 'It says hello.' },
    ])
    const memory = await openMemory({ work: true, model, abilities: [echo, failing] })
    const task = await memory.engine.create({ goal: 'Look' })
    await memory.engine.result(task)
    expect(await memory.call('mem:archive', { taskId: task.id })).toMatchObject({ observations: 3, branches: [] })
    const { observations } = await memory.call('mem:observations', { sessionId: task.id })
    expect(
      (observations as Json[]).map(({ type, content, outcome }) => [type, content, outcome]).reverse(),
    ).toMatchObject([
      ['tool_use', 'test:echo {"text":"hello"}', expect.stringContaining('hello') as string],
      ['error', 'test:fail {}', expect.stringContaining('no such page') as string],
      ['insight', 'It says hello.', undefined],
    ])
    const before = await memory.tables()
    expect(await memory.call('mem:archive', { taskId: task.id })).toMatchObject({ observations: 0 })
    expect(withoutRuns(await memory.tables())).toEqual(withoutRuns(before))
  })

  it('mem:archive accepts the conversation of a task that is not in the ledger', async () => {
    const { call } = await openMemory()
    const context = [
      { role: 'system', content: 'You bake.' },
      { role: 'user', content: 'Bake.' },
      { role: 'assistant', content: 'Wait.', tool_calls: [{ id: 'c1' }] },
      { role: 'tool', content: '{"hot":true}', tool_call_id: 'c1', name: 'oven_heat' },
      { role: 'tool', content: 'Error: no flour', tool_call_id: 'c2', name: 'flour_get' },
      { role: 'assistant', content: 'There is no flour.' },
    ]
    expect(await call('mem:archive', { taskId: 'task-elsewhere', context })).toMatchObject({ observations: 3 })
    expect(await call('mem:archive', { taskId: 'task-elsewhere', context })).toMatchObject({ observations: 0 })
    const { observations } = await call('mem:observations', { sessionId: 'task-elsewhere' })
    expect((observations as Json[]).map(({ type, content, outcome }) => [type, content, outcome]).reverse()).toEqual([
      ['tool_use', 'oven_heat', '{"hot":true}'],
      ['error', 'flour_get', 'Error: no flour'],
      ['insight', 'There is no flour.', undefined],
    ])
  })
})

describe('The engine’s own memory', () => {
  async function worked(options = {}) {
    const memory = await openMemory({ work: true, model: createScriptedModel([{ text: 'Done' }]), ...options })
    const task = await memory.engine.create({ goal: 'Work' })
    await memory.engine.result(task)
    await memory.engine.close()
    return memory.tables()
  }

  it('the engine does not archive ended tasks by default', async () => {
    const { facts, observations } = await worked()
    expect([facts, observations]).toEqual([[], []])
  })

  it('S1-067 S1-068 the engine archives ended tasks with the option `archive`', async () => {
    const { facts, observations } = await worked({ memory: { archive: true } })
    expect(facts).toMatchObject([{ category: 'episode', text: 'Work — Done' }])
    expect(observations).toMatchObject([{ type: 'insight', content: 'Done' }])
  })

  it("S1-070 own abilities mem:save and mem:archive each replace the engine's", async () => {
    const kept: string[] = []
    const archive = tool('mem:archive', ({ taskId }) => void kept.push(String(taskId)))
    const { facts, observations } = await worked({ abilities: [archive] })
    expect(kept).toHaveLength(1)
    expect([facts, observations]).toEqual([[], []])
  })

  it('S1-072 a later task recalls what an earlier one found', async () => {
    const model = createScriptedModel(({ messages }) => ({ text: messages.map(({ text }) => text).join('\n') }))
    const engine = await openEngine({ model })
    await engine.mem.remember({ text: 'Bread needs rye flour' })
    expect(await engine.result(await engine.create({ goal: 'Bake bread' }))).toContain('Bread needs rye flour')
  })
})
