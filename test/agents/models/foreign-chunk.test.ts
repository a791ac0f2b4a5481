// Chunks of a foreign `model:llm`: several fields at once, null fields, calls without ids, arguments that are not text.
import { describe, expect, it } from 'vitest'
import { addChunk, type ModelAnswer, readChunk } from '../../../src/agents/models/step-schema.ts'
import { askModelOf } from '../../../src/agents/routing/ask-model.ts'
import { createBus } from '../../../src/bus/bus.ts'
import { openEngine } from '../../engine/world.ts'

function answerOf(...chunks: unknown[]): ModelAnswer {
  const answer: ModelAnswer = { content: '', toolCalls: [], finish: null }
  for (const chunk of chunks) addChunk(answer, readChunk(chunk))
  return answer
}

const call = { id: 'a', type: 'function', function: { name: 'add', arguments: '{"n":1}' } }

describe('a chunk of a foreign model', () => {
  it('S0-064 a foreign chunk may hold text and calls at once, and omit fields or set them to null', () => {
    const answer = answerOf(
      { content: 'x', toolCalls: [call] },
      { content: null, toolCalls: [call] },
      { toolCalls: null },
      {},
    )
    expect(answer.content).toBe('x')
    expect(answer.toolCalls).toEqual([call, call])
  })

  it('a chunk may hold more calls than a function takes arguments', () => {
    const answer: ModelAnswer = { content: '', toolCalls: [], finish: null }
    addChunk(answer, { toolCalls: Array(200_000).fill(call) })
    expect(answer.toolCalls).toHaveLength(200_000)
  })

  it('a foreign chunk may hold a call without an id and with its arguments as an object', () => {
    expect(answerOf({ toolCalls: [{ function: { name: 'add', arguments: { n: 1 } } }] }).toolCalls).toEqual([
      { id: '', type: 'function', function: { name: 'add', arguments: '{"n":1}' } },
    ])
  })

  it.each([['text'], [{ content: 3 }], [{ toolCalls: [{ name: 'add' }] }]])(
    'readChunk refuses a value that is no foreign chunk: %j',
    (chunk) => {
      expect(() => readChunk(chunk)).toThrow()
    },
  )
})

/** A bus with a `model:llm` in JSON, as a program registers one itself. */
function foreignBus(chunks: (step: number) => unknown[]) {
  const bus = createBus()
  bus.register(
    {
      id: 'model:llm',
      description: 'A foreign model.',
      isStream: true,
      inputSchema: { type: 'object' },
      outputSchema: {},
    },
    async function* (json: string) {
      const { messages } = JSON.parse(json) as { messages: Array<{ role: string }> }
      const step = messages.filter(({ role }) => role === 'assistant').length
      for (const chunk of chunks(step)) yield JSON.stringify(chunk)
    },
  )
  return bus
}

describe('a foreign model that only streams', () => {
  it('C-18 routing joins the pieces of a foreign model that only streams', async () => {
    const bus = foreignBus(() => [{ content: 'task' }, { content: '-a' }])
    expect(await askModelOf(undefined, bus)([{ role: 'user', content: 'Which?' }])).toBe('task-a')
  })

  it('an agent works with a foreign model, and each of its calls gets an id of its own', async () => {
    const seen: string[] = []
    const bus = foreignBus((step) =>
      step === 0
        ? [
            {
              content: null,
              toolCalls: [
                { function: { name: 'note_keep', arguments: { n: 1 } } },
                { function: { name: 'note_keep', arguments: { n: 2 } } },
              ],
            },
          ]
        : [{ content: 'kept' }],
    )
    bus.register(
      { id: 'note:keep', description: 'Keeps.', inputSchema: { type: 'object' }, outputSchema: { type: 'string' } },
      (json: string) => {
        seen.push(json)
        return '"ok"'
      },
    )
    const engine = await openEngine({ bus })
    const task = await engine.create({ goal: 'Keep two notes' })
    expect(await engine.result(task)).toBe('kept')
    expect(seen).toEqual(['{"n":1}', '{"n":2}'])
    const [step] = (await engine.messages(task)).flatMap((message) => message.step ?? [])
    expect(new Set(step?.calls.map(({ id }) => id)).size).toBe(2)
  })
})
