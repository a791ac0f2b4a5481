// The models on the bus: model:llm, model:list, model:register.
import { describe, expect, it } from 'vitest'
import { ModelRegistry } from '../../../src/agents/models/model-registry.ts'
import type { ScriptedTurn } from '../../../src/agents/models/script.ts'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { modelList, modelLlm, modelRegister } from '../../../src/agents/operations/models.ts'
import { createBus } from '../../../src/bus/bus.ts'
import { Failure } from '../../../src/core/errors.ts'
import { collect } from './chunks.ts'

function setup(script: ScriptedTurn[] = [{ text: 'Hello you', tools: [{ name: 'a' }, { name: 'b' }] }]) {
  const registry = new ModelRegistry()
  const model = createScriptedModel(script)
  const abilities = { llm: modelLlm(registry), list: modelList(registry), register: modelRegister(registry) }
  const bus = createBus()
  for (const ability of Object.values(abilities)) bus.register(ability)
  return { bus, registry, model, ...abilities }
}

const messages = [{ role: 'user' as const, content: 'Hi' }]

describe('model:llm', () => {
  it('S0-062 S0-063 model:llm accepts messages and tools as JSON and streams the pieces of the answer', async () => {
    const { bus, registry, model } = setup()
    registry.register('script', model)
    const tools = [{ type: 'function', function: { name: 'a', parameters: { type: 'object' } } }]
    const chunks = await collect(bus.invokeStream('model:llm')(JSON.stringify({ messages, tools })))
    expect(chunks.map((chunk) => JSON.parse(chunk) as unknown)).toEqual([
      { content: 'Hello yo' },
      { content: 'u' },
      { toolCalls: [{ id: 'call_1_1', type: 'function', function: { name: 'a', arguments: '{}' } }] },
      { toolCalls: [{ id: 'call_1_2', type: 'function', function: { name: 'b', arguments: '{}' } }] },
      {
        finish: {
          reason: 'tool-calls',
          usage: { inputTokens: null, outputTokens: null, totalTokens: null },
          modelId: 'script',
        },
      },
    ])
    expect(model.prompts[0]).toMatchObject({ goal: 'Hi', tools: ['a'] })
  })

  it('C-18 S0-064 model:llm returns the whole answer when invoked, with the tool calls of all chunks', async () => {
    const { bus, registry, model } = setup()
    registry.register('script', model)
    const answer = JSON.parse(await bus.invoke('model:llm')(JSON.stringify({ messages }))) as Record<string, unknown>
    expect(answer['content']).toBe('Hello you')
    expect(answer['toolCalls']).toMatchObject([{ id: 'call_1_1' }, { id: 'call_1_2' }])
    expect(answer['finish']).toMatchObject({ reason: 'tool-calls' })
  })

  it('model:llm uses the model that the step names', async () => {
    const { bus, registry, llm, model } = setup()
    registry.register('first', model)
    registry.register('second', createScriptedModel([{ text: 'the second' }]))
    expect((await bus.call(llm, { messages, modelId: 'second' })).content).toBe('the second')
    await expect(bus.call(llm, { messages, modelId: 'third' })).rejects.toMatchObject({
      code: 'NO_MODEL',
      details: { abilityId: 'model:llm', known: ['first', 'second'] },
    })
  })

  it('X-035 model:llm fails with NO_MODEL without any model', async () => {
    const { bus, llm } = setup()
    await expect(bus.call(llm, { messages })).rejects.toMatchObject({ code: 'NO_MODEL' })
  })

  it('model:llm keeps the details of a failure reachable', async () => {
    const { bus, registry, llm, model } = setup([{ error: { status: 429, message: 'Slow down', retryAfterMs: 30 } }])
    registry.register('script', model)
    const error = await bus.call(llm, { messages }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'EXECUTION_ERROR' })
    const { cause } = error as Error
    expect(cause).toBeInstanceOf(Failure)
    expect(cause).toMatchObject({ code: 'rate_limited', retryAfterMs: 30 })
  })

  it('model:llm ends when the caller cancels the stream', async () => {
    const { bus, registry, llm, model } = setup()
    registry.register('script', model)
    const controller = new AbortController()
    const chunks = bus.stream(llm, { messages }, { signal: controller.signal })
    await chunks.next()
    controller.abort()
    await expect(collect(chunks)).rejects.toThrow()
  })

  it('model:llm is never offered to a model, and refuses an invalid input', async () => {
    const { bus, llm, register } = setup()
    expect([llm.models, register.models]).toEqual([false, false])
    await expect(bus.call('model:llm', { messages: [] })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(bus.call('model:llm' as string, { messages, tols: [] })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { nearest: 'tools' },
    })
    expect(bus.get('model:llm')).toMatchObject({
      inputSchema: { type: 'object', required: ['messages'] },
      isStream: true,
    })
  })
})

describe('model:register and model:list', () => {
  it('X-035 a program registers models by name, and model:list shows them to every caller', async () => {
    const { bus, list, register, model } = setup()
    expect(await bus.call(register, { id: 'one', model })).toEqual({ id: 'one' })
    expect(await bus.call(register, { id: 'two', model, default: true })).toEqual({ id: 'two' })
    expect(JSON.parse(await bus.invoke('model:list')('{}'))).toEqual({
      models: [
        { id: 'one', provider: 'errand-script', modelId: 'script', isDefault: false },
        { id: 'two', provider: 'errand-script', modelId: 'script', isDefault: true },
      ],
    })
    await expect(bus.call(register, { id: 'one', model: createScriptedModel([{}]) })).rejects.toMatchObject({
      code: 'ALREADY_REGISTERED',
    })
    expect((await bus.call(list, {})).models).toHaveLength(2)
  })

  it('model:register refuses a string as a model', async () => {
    const { bus } = setup()
    await expect(bus.invoke('model:register')('{"id":"x","model":"openai:mini"}')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('got the string "openai:mini"'),
    })
  })
})
