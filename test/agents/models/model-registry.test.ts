// The models of an engine by name.
import { describe, expect, it } from 'vitest'
import { ModelRegistry } from '../../../src/agents/models/model-registry.ts'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'

const model = (modelId = 'script') => createScriptedModel([{ text: 'hello' }], { modelId })

describe('the model registry', () => {
  it('the model registry uses the first model as the default until another is set', async () => {
    const registry = new ModelRegistry()
    const [first, second, third] = [model('a'), model('b'), model('c')]
    expect(registry.hasDefault).toBe(false)
    registry.register('first', first)
    registry.register('second', second)
    expect(await registry.resolve()).toBe(first)
    registry.register('third', third, { default: true })
    expect(await registry.resolve()).toBe(third)
    expect(await registry.resolve('second')).toBe(second)
    expect(registry.hasDefault).toBe(true)
    expect(registry.list()).toEqual([
      { id: 'first', provider: 'errand-script', modelId: 'a', isDefault: false },
      { id: 'second', provider: 'errand-script', modelId: 'b', isDefault: false },
      { id: 'third', provider: 'errand-script', modelId: 'c', isDefault: true },
    ])
  })

  it('the model registry accepts the same model object twice, and refuses another one under a registered name', () => {
    const registry = new ModelRegistry()
    const first = model()
    registry.register('fast', first)
    registry.register('fast', first)
    expect(registry.list()).toHaveLength(1)
    expect(() => registry.register('fast', model())).toThrow(
      expect.objectContaining({ code: 'ALREADY_REGISTERED', details: { id: 'fast' } }),
    )
  })

  it('the model registry refuses to register anything but a model, and an invalid name', () => {
    const registry = new ModelRegistry()
    expect(() => registry.register('old', { ...model(), specificationVersion: 'v2' } as never)).toThrow(
      /"old" is not valid.*specification v2/,
    )
    for (const id of ['', '  ', 'x'.repeat(201), 7 as never]) {
      expect(() => registry.register(id, model())).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
    }
    expect(registry.list()).toEqual([])
  })

  it('the model registry lists the registered models when a name is unknown', async () => {
    const registry = new ModelRegistry()
    await expect(registry.resolve()).rejects.toMatchObject({ code: 'NO_MODEL', details: { known: [] } })
    registry.register('fast', model())
    registry.register('thorough', model())
    await expect(registry.resolve('thorouhg')).rejects.toMatchObject({
      code: 'NO_MODEL',
      message: expect.stringMatching(/Did you mean "thorough"\? Registered are: fast, thorough\./),
      details: { id: 'thorouhg', known: ['fast', 'thorough'], nearest: 'thorough' },
    })
    await expect(registry.resolve('openai:gpt-5-mini')).rejects.toMatchObject({ code: 'NO_MODEL' })
  })
})

describe('a model name of the form provider:model', () => {
  it('the registry of models resolves a provider:model name once, also for two concurrent steps', async () => {
    const asked: string[] = []
    const made = Promise.withResolvers<ReturnType<typeof model>>()
    const registry = new ModelRegistry({
      resolve: (id) => {
        asked.push(id)
        return made.promise
      },
    })
    const both = Promise.all([registry.resolve('openai:mini'), registry.resolve('openai:mini')])
    made.resolve(model('mini'))
    const [one, other] = await both
    expect(one).toBe(other)
    expect(await registry.resolve('openai:mini')).toBe(one)
    expect(asked).toEqual(['openai:mini'])
    expect(registry.list()).toEqual([])
  })

  it('the registry of models resolves a provider:model name again after a failure', async () => {
    let attempts = 0
    const registry = new ModelRegistry({
      resolve: () => {
        if (++attempts === 1) throw new Error('no key')
        return model()
      },
    })
    await expect(registry.resolve('openai:mini')).rejects.toThrow('no key')
    expect((await registry.resolve('openai:mini')).modelId).toBe('script')
  })

  it('the registry of models refuses a provider:model name that resolves to no model', async () => {
    const registry = new ModelRegistry({ resolve: (id) => (id === 'a:b' ? undefined : ('text' as never)) })
    await expect(registry.resolve('a:b')).rejects.toMatchObject({ code: 'NO_MODEL' })
    await expect(registry.resolve('c:d')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(registry.resolve('plain')).rejects.toMatchObject({ code: 'NO_MODEL' })
  })

  it('the registry of models prefers a registered model to resolving its name', async () => {
    const mine = model('mine')
    const registry = new ModelRegistry({ resolve: () => model('resolved') })
    expect((await registry.resolve('openai:mini')).modelId).toBe('resolved')
    registry.register('openai:mini', mine)
    expect(await registry.resolve('openai:mini')).toBe(mine)
  })
})
