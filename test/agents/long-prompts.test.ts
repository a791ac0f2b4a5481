// Prompts that are too long for a model: what it refuses is shortened once, and what its server cuts without an error is noticed.
import { describe, expect, it } from 'vitest'
import type { PromptMessage } from '../../src/agents/models/model-prompt.ts'
import { collect, ledgerFile, openEngine, reached } from '../engine/world.ts'
import { finish, partsModel, reasoning, text, tool, toolCall } from './world.ts'

const long = 'x'.repeat(10_000)
const read = tool('test:read', ({ name }) => `${String(name)}: ${long}`)
const reading = (id: string) => [toolCall(id, 'test_read', { name: id }), finish('tool-calls')]

/** A model that refuses prompts of more characters, as providers do. */
function limited(inner: ReturnType<typeof partsModel>, maxLength: number) {
  const lengths: number[] = []
  return {
    ...inner,
    lengths,
    doStream(options: { prompt: PromptMessage[]; abortSignal?: AbortSignal }) {
      const { length } = JSON.stringify(options.prompt)
      lengths.push(length)
      if (length > maxLength) {
        const error = new Error('This model has a maximum context length of 5 tokens.')
        return Promise.reject(Object.assign(error, { statusCode: 400 }))
      }
      return inner.doStream(options)
    },
  }
}

/** The results of tools in a prompt. */
const resultsIn = (prompt: PromptMessage[]): string[] =>
  prompt.flatMap((message) => (message.role === 'tool' ? message.content.map(({ output }) => output.value) : []))

describe('a conversation that is too long for its model', () => {
  it('is sent once more with the oldest results of tools shortened', async () => {
    const inner = partsModel(reading('a'), reading('b'), reading('c'), [text('Done.'), finish()])
    const model = limited(inner, 25_000)
    const engine = await openEngine({ model, abilities: [read] })
    const task = await engine.create({ goal: 'Read' })
    expect(await engine.result(task)).toBe('Done.')
    expect(resultsIn(inner.prompts[3] as PromptMessage[]).map(({ length }) => length > 9_000)).toEqual([
      false,
      false,
      true,
    ])
    expect(resultsIn(inner.prompts[3] as PromptMessage[])[0]).toMatch(/^a: x+… \(shortened: it had 10003 characters/)
    const failed = await collect(engine.events({ taskId: task.id, follow: false }))
    expect(failed.filter(({ type }) => type === 'model.failed')).toMatchObject([{ data: { againInMs: 0 } }])
  })

  it('is sent short at once in the later steps of its attempt, after a restart of the engine too', async () => {
    const path = ledgerFile()
    const asked = partsModel(
      reading('a'),
      reading('b'),
      reading('c'),
      [toolCall('d', 'ask_user', { question: 'Which?' }), finish('tool-calls')],
      [toolCall('e', 'test_brief', {}), finish('tool-calls')],
      reading('f'),
      [text('Done.'), finish()],
    )
    const model = limited(asked, 25_000)
    const brief = tool('test:brief', () => 'brief')
    const first = await openEngine({ model, abilities: [read, brief], ledger: path })
    const task = await first.create({ goal: 'Read' })
    await reached(first, task, 'input_required')
    await first.close()
    // One more than the answers: the fourth prompt was too long.
    expect(model.lengths.map((length) => length > 25_000)).toEqual([false, false, false, true, false])
    const later = await openEngine({ model, abilities: [read, brief], ledger: path })
    await later.answer(task.id, 'this one')
    expect(await later.result(task.id)).toBe('Done.')
    expect(model.lengths.slice(5).map((length) => length > 25_000)).toEqual([false, false, false])
    const results = asked.prompts.map((prompt) => resultsIn(prompt as PromptMessage[]))
    for (const each of results.slice(4)) expect(each.slice(0, 2)).toEqual(results[3]?.slice(0, 2))
    // What came since is whole.
    expect(results.at(-1)?.map(({ length }) => length > 9_000)).toEqual([false, false, true, false, false, true])
  })

  it('is sent whole again in a new attempt, which may have another model', async () => {
    const asked = partsModel(
      reading('a'),
      reading('b'),
      reading('c'),
      [toolCall('d', 'none', {}), finish()],
      [finish()],
    )
    const model = limited(asked, 25_000)
    const engine = await openEngine({ model, abilities: [read], maxIterations: 4 })
    const task = await engine.create({ goal: 'Read' })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'MAX_ITERATIONS' } })
    expect(model.lengths.at(-1)).toBeLessThan(25_000)
    await engine.retry(task)
    await engine.settled(task)
    expect(model.lengths[5]).toBeGreaterThan(25_000)
  })

  it('fails as before when nothing can be shortened, or not enough, and each retry tries once more', async () => {
    const model = limited(partsModel(), 10)
    const engine = await openEngine({ model })
    const task = await engine.create({ goal: 'Read' })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'context_overflow' } })
    expect(model.lengths).toHaveLength(1)
  })
})

describe('a prompt that a server cuts without an error', () => {
  it('is one event in a run, with the tokens that were read and expected, and why names it while the task works', async () => {
    const asked = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const hold = tool('test:hold', async () => {
      asked.resolve()
      await end.promise
      return 'held'
    })
    const model = partsModel(
      [toolCall('a', 'test_hold', {}), finish('tool-calls', { input: 300, output: 5 })],
      [toolCall('b', 'test_hold', {}), finish('tool-calls', { input: 310, output: 5 })],
      [text('Done.'), finish('stop', { input: 30_000, output: 5 })],
    )
    const engine = await openEngine({ model, abilities: [hold] })
    const task = await engine.create({ goal: long })
    await asked.promise
    const { message } = await engine.why(task)
    expect(message).toMatch(/reports 300 tokens of about \d{4,}.*the prompt was probably cut/)
    end.resolve()
    await engine.result(task)
    const events = await collect(engine.events({ taskId: task.id, follow: false }))
    const cut = events.filter(({ type }) => type === 'model.prompt_cut')
    expect(cut).toMatchObject([{ data: { inputTokens: 300, expectedTokens: expect.any(Number) } }])
  })

  it('is not suspected for reasoning and signatures, of which providers count little', async () => {
    const model = partsModel(
      [
        { ...reasoning(long), providerMetadata: { anthropic: { signature: long } } },
        text('I read.'),
        toolCall('a', 'test_read', { name: 'a' }),
        finish('tool-calls', { input: 2_000, output: 5 }),
      ],
      [text('Done.'), finish('stop', { input: 4_500, output: 5 })],
    )
    const engine = await openEngine({ model, abilities: [read] })
    const task = await engine.create({ goal: 'Read' })
    await engine.result(task)
    const events = await collect(engine.events({ taskId: task.id, follow: false }))
    expect(events.filter(({ type }) => type === 'model.prompt_cut')).toEqual([])
  })
})
