// One question to any chosen model: a function, a model object, an id on a bus, or none.
import { describe, expect, it, vi } from 'vitest'
import type { LanguageModelLike } from '../../../src/agents/models/language-model.ts'
import { type AskBus, type AskMessage, askModelOf } from '../../../src/agents/routing/ask-model.ts'
import { refusalOf } from '../../engine/world.ts'
import { scriptedModel } from './world.ts'

const question: AskMessage[] = [
  { role: 'system', content: 'Answer.' },
  { role: 'user', content: 'Which?' },
]

/** A bus whose `model:llm` gives this reply. */
function busReplying(reply: string) {
  const asked: Array<{ abilityId: string; input: unknown; signal: AbortSignal | undefined }> = []
  const bus: AskBus = {
    invoke: (abilityId) => async (json, options) => {
      asked.push({ abilityId, input: JSON.parse(json), signal: options?.signal })
      return reply
    },
  }
  return { bus, asked }
}

/** A model of the AI SDK that streams a text in pieces. */
function modelSaying(...pieces: string[]): LanguageModelLike & { prompts: unknown[] } {
  const prompts: unknown[] = []
  const parts = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '1' },
    ...pieces.map((delta) => ({ type: 'text-delta', id: '1', delta })),
    { type: 'text-end', id: '1' },
    {
      type: 'finish',
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
    },
  ]
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'pieces',
    prompts,
    async doStream({ prompt }) {
      prompts.push(prompt)
      return { stream: ReadableStream.from(parts) }
    },
  }
}

describe('askModelOf', () => {
  it('C-69 askModelOf calls a function as a model, with the messages and the signal', async () => {
    const { ask, prompts, signals } = scriptedModel('this one')
    const { signal } = new AbortController()
    expect(await askModelOf(ask)(question, { signal })).toBe('this one')
    expect(prompts).toEqual([question])
    expect(signals).toEqual([signal])
  })

  it('C-69 askModelOf joins the pieces of a model object into one text', async () => {
    const model = modelSaying('this', ' one')
    expect(await askModelOf(model)(question)).toBe('this one')
    expect(model.prompts).toMatchObject([[{ role: 'system' }, { role: 'user' }]])
  })

  it('C-69 askModelOf uses the default model of the bus without a choice, and a model by its id on the bus', async () => {
    const { bus, asked } = busReplying('{"content":"this one","toolCalls":[]}')
    const { signal } = new AbortController()
    expect(await askModelOf(undefined, bus)(question, { signal })).toBe('this one')
    expect(await askModelOf('openai:small', bus)(question)).toBe('this one')
    expect(asked).toEqual([
      { abilityId: 'model:llm', input: { messages: question }, signal },
      { abilityId: 'model:llm', input: { messages: question, modelId: 'openai:small' }, signal: undefined },
    ])
  })

  it.each([
    ['an object with the text as its content', '{"content":"{\\"taskId\\":null}"}', '{"taskId":null}'],
    ['a JSON string', '"{\\"taskId\\":null}"', '{"taskId":null}'],
    ['the JSON that was asked for', '{"taskId":null}', '{"taskId":null}'],
    ['bare text', 'none of them', 'none of them'],
    ['a content without text', '{"content":null}', '{"content":null}'],
    ['a number', '7', '7'],
  ])('C-18 askModelOf reads the answer of a bus that replies %s', async (_what, reply, text) => {
    expect(await askModelOf(undefined, busReplying(reply).bus)(question)).toBe(text)
  })

  it('askModelOf rejects with NO_MODEL only when the model is asked', async () => {
    const unnamed = await refusalOf(askModelOf(undefined)(question), 'NO_MODEL')
    expect(unnamed.message).toContain('No model was chosen')
    vi.stubEnv('OPENAI_API_KEY', '')
    const named = await refusalOf(askModelOf('openai:small')(question), 'NO_MODEL')
    expect(named.message).toContain('set OPENAI_API_KEY')
    vi.unstubAllEnvs()
  })

  it.each([[7], [{}], [null], [''], [{ ...modelSaying(), specificationVersion: 'v2' }]])(
    'askModelOf refuses immediately what is not a model: %j',
    async (choice) => {
      await refusalOf(() => askModelOf(choice as never), 'INVALID_INPUT')
    },
  )

  it('askModelOf refuses a model that answers without text, and rejects for one that throws synchronously', async () => {
    await refusalOf(askModelOf((async () => ({ taskId: null })) as never)(question), 'INVALID_INPUT')
    const broken = () => {
      throw new Error('out of order')
    }
    await expect(askModelOf(broken)(question)).rejects.toThrow('out of order')
  })

  it('askModelOf rejects with the reason of the signal even if the model ignores it', async () => {
    const controller = new AbortController()
    const unresponsive = askModelOf(() => new Promise<string>(() => {}))
    const asking = unresponsive(question, { signal: controller.signal })
    controller.abort(new Error('changed my mind'))
    await expect(asking).rejects.toThrow('changed my mind')
    const { ask, prompts } = scriptedModel('too late')
    await expect(askModelOf(ask)(question, { signal: controller.signal })).rejects.toThrow('changed my mind')
    expect(prompts).toEqual([])
  })
})
