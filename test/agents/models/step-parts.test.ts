// What a provider sends besides text and calls: it is collected in order, and given back as the specification says.
import { describe, expect, it } from 'vitest'
import { toPrompt } from '../../../src/agents/models/model-prompt.ts'
import { runModelStep } from '../../../src/agents/models/model-step.ts'
import type { ModelAnswer, ModelMessage } from '../../../src/agents/models/step-schema.ts'
import { partsModel } from '../world.ts'
import { hello, never } from './chunks.ts'

const signed = (signature: string) => ({ anthropic: { signature } })
const finish = { type: 'finish', finishReason: 'tool-calls', usage: {} }
const call = (id: string, more: object = {}) => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'look',
  input: '{"a":1}',
  ...more,
})

const answerOf = (...parts: ReadonlyArray<{ type: string }>): Promise<ModelAnswer> =>
  runModelStep(partsModel([...parts, finish] as never), hello, never())

function replayed({ content, toolCalls, parts }: ModelAnswer, version: 'v3' | 'v4' = 'v4'): unknown {
  const answer: ModelMessage = {
    role: 'assistant',
    content,
    tool_calls: toolCalls,
    ...(parts === undefined ? {} : { parts }),
  }
  return toPrompt([answer, { role: 'user', content: 'Go on.' }], version)[0]?.content
}

describe('the parts of a model step', () => {
  it('texts that a ledger cannot hold are mended wherever a provider puts them', async () => {
    const { parts } = await answerOf(
      {
        type: 'reasoning-delta',
        id: '0',
        delta: 'a\0',
        providerMetadata: { router: { details: [{ text: 'b\0\ud83d' }] } },
      } as never,
      { type: 'source', sourceType: 'url', id: 's', url: 'https://a.test', title: 'c\ud83d' } as never,
    )
    expect(parts).toEqual([
      { type: 'reasoning', text: 'a\ufffd', providerMetadata: { router: { details: [{ text: 'b\ufffd\ufffd' }] } } },
      { type: 'source', sourceType: 'url', id: 's', url: 'https://a.test', title: 'c\ufffd' },
    ])
  })

  it('blocks that come interleaved are whole, in the order of their beginnings, each with all that the provider said of it', async () => {
    const answer = await answerOf(
      { type: 'reasoning-start', id: '0', providerMetadata: { anthropic: { kind: 'thinking' } } } as never,
      { type: 'reasoning-delta', id: '0', delta: 'I ' } as never,
      { type: 'text-start', id: '1' } as never,
      { type: 'text-delta', id: '1', delta: 'Let me ' } as never,
      { type: 'reasoning-delta', id: '0', delta: 'think.' } as never,
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: signed('SIG') } as never,
      { type: 'text-delta', id: '1', delta: 'look.' } as never,
      { type: 'reasoning-end', id: '0' } as never,
      { type: 'text-end', id: '1' } as never,
      // Another block with the number of one that has ended.
      { type: 'reasoning-start', id: '0', providerMetadata: { anthropic: { redactedData: 'SECRET' } } } as never,
      { type: 'reasoning-end', id: '0' } as never,
      call('a', { providerMetadata: { google: { thoughtSignature: 'T1' } } }),
      call('b'),
    )
    expect(answer.content).toBe('Let me look.')
    expect(answer.parts).toEqual([
      { type: 'reasoning', text: 'I think.', providerMetadata: { anthropic: { kind: 'thinking', signature: 'SIG' } } },
      { type: 'text', text: 'Let me look.' },
      { type: 'reasoning', text: '', providerMetadata: { anthropic: { redactedData: 'SECRET' } } },
      { type: 'tool-call', call: 0, providerMetadata: { google: { thoughtSignature: 'T1' } } },
      { type: 'tool-call', call: 1 },
    ])
    const toolCall = { type: 'tool-call', toolName: 'look', input: { a: 1 } }
    expect(replayed(answer)).toEqual([
      { type: 'reasoning', text: 'I think.', providerOptions: { anthropic: { kind: 'thinking', signature: 'SIG' } } },
      { type: 'text', text: 'Let me look.' },
      { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'SECRET' } } },
      { ...toolCall, toolCallId: 'a', providerOptions: { google: { thoughtSignature: 'T1' } } },
      { ...toolCall, toolCallId: 'b' },
    ])
  })

  it('an answer of text and then calls, of which the provider says nothing more, has no list of parts', async () => {
    const answer = await answerOf({ type: 'text-delta', id: '1', delta: 'Look.' } as never, call('a'))
    expect(answer).not.toHaveProperty('parts')
    expect(replayed(answer)).toEqual([
      { type: 'text', text: 'Look.' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'look', input: { a: 1 } },
    ])
  })

  it('text between calls keeps its place', async () => {
    const answer = await answerOf(call('a'), { type: 'text-delta', id: '1', delta: 'And.' } as never, call('b'))
    expect(replayed(answer)).toMatchObject([{ toolCallId: 'a' }, { text: 'And.' }, { toolCallId: 'b' }])
  })

  it.each([
    ['v3', 'AAAA', 'AAAA'],
    ['v3', new Uint8Array(3), 'AAAA'],
    ['v4', { type: 'data', data: new Uint8Array(3) }, { type: 'data', data: 'AAAA' }],
    ['v4', { type: 'url', url: new URL('https://a.test/x') }, { type: 'url', url: new URL('https://a.test/x') }],
    ['v4', { type: 'text', text: 'Hi' }, { type: 'data', data: 'SGk=' }],
    ['v3', { type: 'text', text: 'Hi' }, 'SGk='],
    [
      'v4',
      { type: 'url', url: new URL('gs://B/./x'), originalUrl: 'gs://B/./x' },
      { type: 'url', url: new URL('gs://B/./x'), originalUrl: 'gs://B/./x' },
    ],
  ] as const)(
    'a file of specification %s is given back, and sources are kept but not given back',
    async (version, data, given) => {
      const source = { type: 'source', sourceType: 'url', id: '1', url: 'https://a.test/', title: 'A' }
      const answer = await answerOf({ type: 'file', mediaType: 'image/png', data } as never, source)
      expect(answer.parts?.[1]).toEqual(source)
      expect(JSON.parse(JSON.stringify(answer.parts))).toEqual(answer.parts)
      expect(replayed(answer, version)).toEqual([{ type: 'file', mediaType: 'image/png', data: given }])
    },
  )

  it.each(['v3', 'v4'] as const)(
    'a file whose address has no server is given back in words to a model of specification %s',
    async (version) => {
      const file = { type: 'file', mediaType: 'image/png', data: { type: 'url', url: '/files/a.png' } }
      const answer = await answerOf({ type: 'text-delta', id: '1', delta: 'See: ' } as never, file as never)
      expect(replayed(answer, version)).toEqual([
        { type: 'text', text: 'See: ' },
        { type: 'text', text: '[a file of type image/png: /files/a.png]' },
      ])
    },
  )

  it('a call that the list of parts lacks is given back all the same, as its result is', () => {
    const calls = ['a', 'b'].map((id) => ({
      id,
      type: 'function' as const,
      function: { name: 'look', arguments: '{}' },
    }))
    expect(
      replayed({ content: '', toolCalls: calls, parts: [{ type: 'tool-call', call: 1 }], finish: null }),
    ).toMatchObject([{ toolCallId: 'b' }, { toolCallId: 'a' }])
  })
})
