// What an agent leaves to memory when it has ended: optional, in order, and never blocking.
import { describe, expect, it } from 'vitest'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { type Deferred, deferred, openEngine } from '../engine/world.ts'
import { echo, gatedTool, tool } from './world.ts'

interface Kept {
  ability: string
  input: Record<string, unknown>
}

/** A memory that reports each thing it receives. */
function memory({ hold, fail = [] }: { hold?: Deferred; fail?: string[] } = {}) {
  const kept: Kept[] = []
  const waiting: Array<() => void> = []
  const keep = (ability: string) =>
    tool(ability, async (input) => {
      await hold?.promise
      kept.push({ ability, input })
      for (const wake of waiting.splice(0)) wake()
      if (fail.includes(ability)) throw new Error('memory is full')
      return null
    })
  return {
    kept,
    abilities: [keep('mem:save'), keep('mem:archive')],
    async has(count: number) {
      while (kept.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
      return kept.map(({ ability }) => ability)
    },
  }
}

describe('an agent that has ended', () => {
  it('S1-069 a completed agent task is saved, then archived with its conversation', async () => {
    const { abilities, kept, has } = memory()
    const model = createScriptedModel([
      { text: 'Look.', tools: [{ name: 'test_echo', input: { text: 'seen' } }] },
      { text: 'Done.' },
    ])
    const engine = await openEngine({ model, abilities: [...abilities, echo] })
    const task = await engine.create({ goal: 'Look' })
    await engine.result(task)
    expect(await has(2)).toEqual(['mem:save', 'mem:archive'])
    expect(kept[0]?.input).toMatchObject({ task: { id: task.id, goal: 'Look', status: 'completed' } })
    expect(kept[1]?.input).toMatchObject({ taskId: task.id })
    const context = kept[1]?.input['context'] as Array<Record<string, unknown>>
    expect(context.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant'])
    expect(context[2]?.['tool_calls']).toMatchObject([
      { function: { name: 'test_echo', arguments: '{"text":"seen"}' } },
    ])
    expect(context[3]).toMatchObject({ tool_call_id: 'call_1_1', content: 'seen' })
    expect(JSON.stringify(context)).not.toContain('🔧')
  })

  it('S1-067 a failed agent task is saved with its error, unless the engine is configured not to', async () => {
    for (const archiveFailed of [true, false]) {
      const { abilities, kept, has } = memory()
      const model = createScriptedModel(() => {
        throw new Error('out of words')
      })
      const engine = await openEngine({ model, abilities, archiveFailed, modelRetry: { maxAttempts: 1 } })
      const task = await engine.create({ goal: 'Speak' })
      const outcome = await engine.settled(task)
      expect(outcome.status).toBe('failed')
      if (archiveFailed) await has(1)
      await engine.close()
      const expected = outcome.status === 'failed' ? outcome.error.message : ''
      expect(kept.map(({ ability, input }) => [ability, input['error']])).toEqual(
        archiveFailed ? [['mem:save', expected]] : [],
      )
    }
  })

  it('S1-070 an agent task stays as it is when memory refuses it, and the refusal is reported', async () => {
    const { abilities, has } = memory({ fail: ['mem:save'] })
    const reported = deferred<Record<string, unknown>>()
    const engine = await openEngine({
      model: createScriptedModel([{ text: 'Done' }]),
      abilities,
      onError: (_error, context) => reported.resolve(context),
    })
    const task = await engine.create({ goal: 'Work' })
    expect(await engine.result(task)).toBe('Done')
    await has(1)
    expect(await reported.promise).toMatchObject({ taskId: task.id })
    expect(await engine.get(task.id)).toMatchObject({ status: 'completed', result: 'Done' })
  })

  it('S1-070 an ability that memory does not have is skipped', async () => {
    const kept: string[] = []
    const archive = tool('mem:archive', ({ taskId }) => void kept.push(String(taskId)))
    const engine = await openEngine({ model: createScriptedModel([{ text: 'Done' }]), abilities: [archive] })
    const task = await engine.create({ goal: 'Work' })
    await engine.result(task)
    await engine.close()
    expect(kept).toEqual([task.id])
  })

  it('S1-071 completing a task does not wait for memory', async () => {
    const hold = deferred()
    const { abilities, kept, has } = memory({ hold })
    const engine = await openEngine({ model: createScriptedModel([{ text: 'Done' }]), abilities })
    const task = await engine.create({ goal: 'Work' })
    expect(await engine.result(task)).toBe('Done')
    expect(kept).toEqual([])
    hold.resolve()
    expect(await has(2)).toEqual(['mem:save', 'mem:archive'])
  })

  it('an agent task is saved once, not again at another start, and other tasks are not saved', async () => {
    const { abilities, kept, has } = memory()
    const engine = await openEngine({
      model: createScriptedModel([{ text: 'Done' }]),
      abilities,
      executors: { plain: () => 1 },
    })
    await engine.result(await engine.create({ executor: 'plain' }))
    await engine.result(await engine.create({ goal: 'Work' }))
    await has(2)
    await engine.close()
    expect(kept).toHaveLength(2)
  })
})

describe('an engine that is closed', () => {
  it('S1-068 C-13 closing an engine saves the agent tasks that were working', async () => {
    const slow = gatedTool('test:slow')
    const { abilities, kept } = memory()
    const model = createScriptedModel([{ tools: [{ name: 'test_slow' }] }])
    const engine = await openEngine({ model, abilities: [...abilities, slow.ability], shutdownTimeoutMs: 200 })
    const task = await engine.create({ goal: 'Work' })
    const resting = await engine.create({ goal: 'Rest', autoStart: false })
    const call = await slow.began(0)
    const closed = engine.close()
    call.end('slept')
    await closed
    expect(kept.map(({ ability, input }) => [ability, (input['task'] as { id: string }).id])).toEqual([
      ['mem:save', task.id],
    ])
    expect(resting.status).toBe('submitted')
  })
})
