// Prompts follow the rules of the strictest templates in every situation of an agent.
import { describe, expect, it } from 'vitest'
import type { PromptMessage } from '../../../src/agents/models/model-prompt.ts'
import { toPrompt } from '../../../src/agents/models/model-prompt.ts'
import { openEngine } from '../../engine/world.ts'
import { echo, finish, gatedTool, partsModel, reasoning, text, toolCall } from '../world.ts'
import { brokenRules } from './prompt-rules.ts'

/** The rules that the prompts of a model broke, and how many prompts there were. */
function judged(model: { prompts: unknown[] }, count: number): string[] {
  expect(model.prompts).toHaveLength(count)
  return (model.prompts as PromptMessage[][]).flatMap(brokenRules)
}

const answer = (words: string) => [text(words), finish()]
const echoing = (id: string) => [toolCall(id, 'test_echo', { text: 'x' }), finish('tool-calls')]

describe('the prompts of an agent', () => {
  it('a goal with memory, after another task, follows the rules', async () => {
    const model = partsModel(answer('First.'), answer('Second.'))
    const engine = await openEngine({ model })
    await engine.bus.call('mem:remember', { text: 'The deploy target is staging' })
    const first = await engine.create({ goal: 'Deploy to staging' })
    const second = await engine.create({ goal: 'Report the deploy', blockedBy: [first.id] })
    await engine.result(second)
    expect(judged(model, 2)).toEqual([])
  })

  it('several messages before the first step, and a message after the answer, follow the rules', async () => {
    const model = partsModel(answer('First.'), answer('Second.'))
    const engine = await openEngine({ model })
    const task = await engine.create({ goal: 'Talk', autoStart: false })
    await engine.send(task, 'and briefly')
    await engine.send(task, 'then go on', { delivery: 'followup' })
    await engine.start(task)
    await engine.result(task)
    expect(judged(model, 2)).toEqual([])
  })

  it('a message while a tool runs follows the rules', async () => {
    const gate = gatedTool('test:slow')
    const model = partsModel([toolCall('a', 'test_slow', {}), finish('tool-calls')], echoing('b'), answer('Done.'))
    const engine = await openEngine({ model, abilities: [gate.ability, echo] })
    const task = await engine.create({ goal: 'Go slowly' })
    await gate.began(0)
    await engine.send(task, 'be brief')
    gate.calls[0]?.end('slow')
    await engine.result(task)
    expect(judged(model, 3)).toEqual([])
  })

  it('answers of spaces, of reasoning alone, and with spaces before a call follow the rules', async () => {
    const model = partsModel(
      [reasoning('Half a thou'), finish('length')],
      [reasoning('Hm.'), text('\n\n'), toolCall('a', 'test_echo', { text: 'x' }), finish('tool-calls')],
      [text(' \n'), finish()],
      answer('Done.'),
    )
    const engine = await openEngine({ model, abilities: [echo] })
    await engine.result(await engine.create({ goal: 'Think' }))
    expect(judged(model, 4)).toEqual([])
  })

  it('a retry with a message, after a failure and after an answer that was withheld, follows the rules', async () => {
    const model = partsModel([text('Half'), finish('content-filter')], answer('Whole.'))
    const engine = await openEngine({ model })
    const task = await engine.create({ goal: 'Talk' })
    await engine.settled(task)
    await engine.send(task, 'Say it otherwise.', { retry: true })
    await engine.result(task)
    expect(judged(model, 2)).toEqual([])
  })

  it('an aborted step with open calls follows the rules', async () => {
    const gate = gatedTool('test:slow')
    const model = partsModel(
      [toolCall('a', 'test_slow', {}), toolCall('b', 'test_echo', { text: 'x' }), finish('tool-calls')],
      answer('Stopped.'),
    )
    const engine = await openEngine({ model, abilities: [gate.ability, echo], toolExecution: 'sequential' })
    const task = await engine.create({ goal: 'Go slowly' })
    await gate.began(0)
    await engine.send(task, 'Stop.', { delivery: 'abort' })
    await engine.resume(task)
    await engine.result(task)
    expect(judged(model, 2)).toEqual([])
  })

  it('any conversation of a program follows the rules as far as its calls have results', () => {
    const call = { id: 'a', type: 'function' as const, function: { name: 'look', arguments: '{}' } }
    const prompt = toPrompt([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'One.' },
      { role: 'user', content: 'Two.' },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'Three.' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
      { role: 'user', content: 'Four.' },
      { role: 'assistant', content: 'Well,' },
      { role: 'assistant', content: 'yes.' },
    ])
    expect(brokenRules(prompt)).toEqual([])
    expect(prompt.map(({ role }) => role).join()).toBe('system,user,assistant,tool,assistant,user,assistant,user')
  })

  it('the checker detects prompts that break the rules', () => {
    const user: PromptMessage = { role: 'user', content: [{ type: 'text', text: 'a' }] }
    expect(brokenRules([user, user])).toEqual(['message 1: a user message after one of role user'])
    expect(brokenRules([user, { role: 'assistant', content: [] }])).toEqual([
      'message 1: it is empty',
      'it ends with assistant',
    ])
  })
})
