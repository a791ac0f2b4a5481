// A step that breaks off stores nothing, an abort precedes other messages, and restrictions of an agent apply to its
// children.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent } from '../../src/agents/loop/agent.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { defineAbility } from '../../src/bus/ability.ts'
import { history, openEngine } from '../engine/world.ts'
import { echo, gatedTool, inShort, llm, partsModel, text } from './world.ts'

const broken = () => {
  const cut = Promise.reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
  cut.catch(() => {})
  return cut
}

describe('a model step that breaks off', () => {
  it('S1-054 S0-026 a model step that breaks off leaves nothing of its partial answer after the last try, not in the error of its task either', async () => {
    const engine = await openEngine({
      model: partsModel([text('I was say'), broken()]),
      modelRetry: { maxAttempts: 1 },
    })
    const task = await engine.create({ goal: 'Speak' })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'connection' } })
    const kept = [
      await engine.get(task.id),
      await engine.runs(task),
      await engine.messages(task),
      await history(engine),
    ]
    expect(JSON.stringify(kept)).not.toContain('I was say')
  })
})

it('S3-112 a message with delivery abort is read before messages sent earlier', async () => {
  const slow = gatedTool('test:slow')
  const model = llm((_input, step) =>
    step === 1 ? { toolCalls: [{ id: 'a', name: 'test_slow', arguments: {} }] } : { content: `Answer ${step}` },
  )
  const engine = await openEngine({ abilities: [model.ability, slow.ability] })
  const task = await engine.create({ goal: 'Work' })
  await slow.began(0)
  await engine.send(task, 'steered')
  await engine.send(task, 'stop', { delivery: 'abort' })
  await engine.resume(task)
  await engine.result(task)
  expect(inShort(model.messages(2)).slice(-2)).toEqual(['user: stop', 'user: steered'])
})

it('a child that a tool spawns for a restricted agent may call no more than that agent', async () => {
  const spawn = defineAbility({
    id: 'test:delegate',
    description: 'Gives a task away.',
    input: z.object({}),
    output: z.null(),
    handle: async (_input, { run }) => {
      await run?.spawn({ goal: 'kid', abilities: ['*'] })
      return null
    },
  })
  const model = createScriptedModel(({ goal, turn, tools }) =>
    goal === 'kid' ? { text: tools.join(' ') } : turn === 0 ? { tools: [{ name: 'test_delegate' }] } : { text: 'Done' },
  )
  const executors = { agent: agent(), lead: agent({ abilities: ['test:delegate'] }) }
  const engine = await openEngine({ model, abilities: [echo, spawn], executors })
  const task = await engine.create({ executor: 'lead', goal: 'Lead' })
  await engine.result(task)
  const [kid] = await engine.children(task)
  expect(await engine.result(kid as { id: string })).toBe('ask_user wait_for_tasks test_delegate')
})

it('a question inside the call of a tool is refused, and the model reads the refusal', async () => {
  const nosy = defineAbility({
    id: 'test:nosy',
    description: 'Asks.',
    input: z.object({}),
    output: z.string(),
    handle: async (_input, { run }) => (await run?.ask<string>('Well?')) ?? '',
  })
  const model = createScriptedModel([{ tools: [{ name: 'test_nosy' }] }, { text: 'Done' }])
  const engine = await openEngine({ model, abilities: [nosy] })
  const task = await engine.create({ goal: 'Ask' })
  expect(await engine.result(task)).toBe('Done')
  expect((await engine.calls(task))[0]?.error).toMatchObject({ code: 'INVALID_INPUT' })
})
