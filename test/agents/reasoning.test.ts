// The reasoning of a model: stored with its step, given back to it, and shown to people on demand.
import { expect, it } from 'vitest'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { describeConversation } from '../../src/surfaces/terminal/task-details.ts'
import { openEngine } from '../engine/world.ts'
import { echo } from './world.ts'

it('the reasoning of a model is in its step, folded in show, and not in what other models read of the task', async () => {
  const model = createScriptedModel([
    { reasoning: 'I should look.', tools: [{ name: 'test_echo', input: { text: 'x' } }] },
    { reasoning: 'That is it.', text: 'Done.' },
  ])
  const engine = await openEngine({ model, abilities: [echo] })
  const task = await engine.create({ goal: 'Look' })
  expect(await engine.result(task)).toBe('Done.')
  const messages = await engine.messages(task)
  expect(messages.flatMap(({ step }) => step?.parts ?? [])).toEqual([
    { type: 'reasoning', text: 'I should look.' },
    { type: 'tool-call', call: 0 },
    { type: 'reasoning', text: 'That is it.' },
    { type: 'text', text: 'Done.' },
  ])
  expect(describeConversation(messages).map((line) => line.trim())).toContain(
    'assistant: (11 characters of reasoning; --json has them)',
  )
  const read = async (caller: object) => {
    const found = await engine.bus.call('task:messages', { taskId: task.id }, { caller: caller as never })
    return found.messages.flatMap(({ reasoning }) => reasoning ?? [])
  }
  expect(await read({ surface: 'http' })).toEqual(['I should look.', 'That is it.'])
  expect(await read({ surface: 'model', taskId: task.id, run: 1 })).toEqual([])
})
