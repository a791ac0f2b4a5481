// The third level: which facts of a task are durable.
import { describe, expect, it } from 'vitest'
import { refusalOf } from '../engine/world.ts'
import { type Json, openMemory, withoutRuns } from './world.ts'

async function openTask(options = {}, task: Json = {}) {
  const memory = await openMemory(options)
  const { taskId, branch } = (await memory.call('task:create', { name: 'Fix Auth', ...task })) as Json
  return {
    ...memory,
    taskId: taskId as string,
    branch: branch as string,
    state: async (text: string, more: Json = {}) =>
      (await memory.call('mem:remember', { text, taskId, ...more }))['factId'] as string,
    checkpoint: () => memory.call('mem:consolidate', { level: 'task', taskId }),
  }
}

describe("A task's checkpoint", () => {
  it('S2-080 S2-081 S2-082 a checkpoint finds facts durable by confidence and lasting category, and the others ephemeral', async () => {
    const { state, checkpoint, facts, branch } = await openTask()
    const lasting: string[] = []
    for (const category of ['bug_fix', 'architecture', 'pattern', 'decision', 'security', 'performance']) {
      lasting.push(await state(`a matter of ${category}`, { category, confidence: 0.8 }))
      await state(`no sure matter of ${category}`, { category, confidence: 0.7 })
    }
    await state('seen', { category: 'insight', confidence: 1 })
    await state('found', { category: 'discovery', confidence: 1 })
    expect(await checkpoint()).toMatchObject({ durable: lasting, ephemeral: 8 })
    const durable = await facts(branch, { verdict: 'durable' })
    expect(durable.map(({ id }) => id as string).reverse()).toEqual(lasting)
    expect(await facts(branch, { verdict: 'ephemeral' })).toHaveLength(8)
  })

  it('S2-083 a fact with confidence 0.8 is durable, one with 0.79 is not', async () => {
    const { state, checkpoint } = await openTask()
    const exactly = await state('it is decided', { category: 'decision', confidence: 0.8 })
    await state('it is nearly decided', { category: 'decision', confidence: 0.79 })
    expect(await checkpoint()).toMatchObject({ durable: [exactly], ephemeral: 1 })
  })

  it('S2-080 C-60 the category `arch` counts as architecture everywhere', async () => {
    const { state, checkpoint, facts, branch } = await openTask({ memory: { durableCategories: ['arch'] } })
    const one = await state('three layers', { category: 'arch', confidence: 0.8 })
    const two = await state('four tiers', { category: 'architecture', confidence: 0.8 })
    expect(await checkpoint()).toMatchObject({ durable: [one, two] })
    expect(await facts(branch, { category: 'arch' })).toHaveLength(2)
  })

  it("S2-085 Q-09 what is durable follows the task's rule, else the engine's", async () => {
    const ofTheEngine = await openTask({ memory: { durableThreshold: 0.5, durableCategories: ['lore'] } })
    const lore = await ofTheEngine.state('the dragon sleeps', { category: 'lore', confidence: 0.5 })
    await ofTheEngine.state('it is decided', { category: 'decision', confidence: 1 })
    expect(await ofTheEngine.checkpoint()).toMatchObject({ durable: [lore], ephemeral: 1 })
    const ofTheTask = await openTask(
      { memory: { durableThreshold: 0.5, durableCategories: ['lore'] } },
      { durableThreshold: 0.95, durableCategories: ['decision'] },
    )
    await ofTheTask.state('the dragon sleeps', { category: 'lore', confidence: 1 })
    const decided = await ofTheTask.state('it is decided', { category: 'decision', confidence: 0.95 })
    expect(await ofTheTask.checkpoint()).toMatchObject({ durable: [decided], ephemeral: 1 })
  })

  it('S2-084 a checkpoint of an unknown task is NOT_FOUND', async () => {
    const { call } = await openTask()
    await refusalOf(call('mem:consolidate', { level: 'task', taskId: 'task-missing' }), 'NOT_FOUND')
  })

  it('X-022 a checkpoint of a task without a branch creates one and finds no facts', async () => {
    const { call, engine } = await openMemory()
    const { id } = await engine.create({ name: 'Plain work' })
    expect(await call('mem:consolidate', { level: 'task', taskId: id })).toMatchObject({ durable: [], ephemeral: 0 })
    const { branches } = await call('mem:branches', { taskId: id })
    expect(branches).toMatchObject([{ name: 'task/plain-work', parent: 'main' }])
  })

  it("S2-098 a checkpoint first consolidates the branch's observations in a counted run of their own", async () => {
    const { call, see, checkpoint, taskId } = await openTask()
    await see('we decided to ship on Monday', { type: 'decision', taskId })
    expect(await checkpoint()).toMatchObject({ observationsProcessed: 1, factsCreated: 1, durable: [], ephemeral: 1 })
    const { history } = await call('mem:history', {})
    expect((history as Json[]).map(({ type, observationsProcessed }) => [type, observationsProcessed])).toEqual([
      ['task_checkpoint', 0],
      ['session_end', 1],
    ])
  })

  it('a second checkpoint changes nothing, and a fact that gained confidence changes its verdict', async () => {
    const { see, state, session, checkpoint, tables, taskId } = await openTask()
    await state('three layers', { category: 'architecture', confidence: 0.9 })
    await see('we decided to ship on Monday', { type: 'decision', taskId })
    await checkpoint()
    const before = await tables()
    expect(await checkpoint()).toMatchObject({ factsUpdated: 0 })
    expect(withoutRuns(await tables())).toEqual(withoutRuns(before))
    await see('we decided to ship on Monday', { type: 'decision', taskId, sessionId: 's2' })
    await session('s2')
    expect(await checkpoint()).toMatchObject({ factsUpdated: 1, ephemeral: 0 })
  })
})
