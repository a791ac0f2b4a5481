// Durable loops with the SDK's own provider over real HTTP, and processes that are killed in the middle of one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, streamText, wrapLanguageModel } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { describe, expect, it, onTestFinished } from 'vitest'
import { durable } from '../../../src/agents/ai/durable.ts'
import type { Run } from '../../../src/entities/executor.ts'
import { ledgerFile } from '../../engine/world.ts'
import { programOf } from '../../programs.ts'
import { isLong } from '../../tier.ts'
import type { ChatOrders } from './chat-process.ts'
import { type ChatTurn, type ModelServer, startModelServer } from './model-server.ts'
import { answerOf, runOnce, seenTwice, textOf } from './world.ts'

const journey: ChatTurn[] = [
  [
    { id: 'call-1', name: 'book', input: { city: 'Oslo' } },
    { id: 'call-2', name: 'book', input: { city: 'Rome' } },
  ],
  [{ id: 'call-3', name: 'book', input: { city: 'Bern' } }],
  'All is booked.',
]

const providerOf = (server: ModelServer) => createOpenAICompatible({ name: 'local', baseURL: server.baseURL })

/** The conversations that the server received, without duplicates. */
const conversations = (server: ModelServer) => [
  ...new Set(server.requests.map(({ messages }) => JSON.stringify(messages))),
]

/** Where a chat records its effects, and how its processes are started. */
function chatPlace(server: ModelServer, rest: Pick<ChatOrders, 'streams' | 'onInterrupt'>) {
  const ledger = ledgerFile()
  const effects = join(dirname(ledger), 'effects')
  writeFileSync(effects, '')
  const start = (more: Partial<ChatOrders> = {}) => {
    const orders: ChatOrders = { ledger, effects, baseURL: server.baseURL, ...rest, ...more }
    const script = programOf(import.meta.dirname, 'chat-process.ts')
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, JSON.stringify(orders)])
    const exited = once(child, 'exit')
    let complaints = ''
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await exited
    })
    const line = new Promise<any>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', (text) => resolve(JSON.parse(text)))
      void exited.then(() => reject(new Error(`The process ended unheard: ${complaints}`)))
    })
    line.catch(() => {})
    const kill = async () => {
      child.kill('SIGKILL')
      await exited
    }
    return { line, kill }
  }
  return { start, effects: () => readFileSync(effects, 'utf8').split('\n').filter(Boolean) }
}

describe('a durable loop over HTTP', () => {
  it('a durable loop over HTTP gives a repeated run the recorded step, whole or streamed, with its usage and its metadata', async () => {
    const server = await startModelServer(['Good day to you.'])
    const whole = await seenTwice(async (run) => {
      const { text, usage, response, finishReason } = await generateText({
        model: durable(run, providerOf(server)('local-1')),
        prompt: 'Hello?',
      })
      return { text, usage, finishReason, timestamp: response.timestamp, id: response.id }
    })
    const streamed = await seenTwice(async (run) => {
      const result = streamText({ model: durable(run, providerOf(server)('local-1')), prompt: 'Hello?' })
      const { timestamp, id } = await result.response
      return {
        text: await result.text,
        usage: await result.usage,
        finishReason: await result.finishReason,
        timestamp,
        id,
      }
    })
    expect(server.requests).toHaveLength(2)
    expect(whole.seen[0]).toMatchObject({
      text: 'Good day to you.',
      finishReason: 'stop',
      timestamp: new Date(1_700_000_000_000),
    })
    for (const { seen } of [whole, streamed]) expect(seen[1]).toEqual(seen[0])
    expect(streamed.seen[0]?.text).toBe('Good day to you.')
  })

  it('a durable loop over HTTP lets the SDK retry after a real error, and a repeated run takes the same path without calling the provider', async () => {
    const server = await startModelServer(['Good day.'])
    server.faults.set(0, 503).set(1, 429)
    const { seen, calls } = await seenTwice(
      async (run) =>
        (await generateText({ model: durable(run, providerOf(server)('local-1')), prompt: 'Hello?' })).text,
    )
    expect(seen).toEqual(['Good day.', 'Good day.'])
    expect([server.requests.length, calls]).toEqual([3, 3])
  })

  it('a durable loop over HTTP accepts a wrapped model, an older one, and one with private fields', async () => {
    class Private extends MockLanguageModelV3 {
      readonly #greeting = 'Hello from within.'
      greet() {
        return this.#greeting
      }
    }
    const older = new Private({
      modelId: 'older',
      supportedUrls: { 'image/*': [/^https:/] },
      doGenerate: async () => answerOf(textOf('I am old.')) as never,
    })
    await runOnce(async (run: Run) => {
      const model = durable(run, older)
      expect(model).toBeInstanceOf(Private)
      expect(model.greet()).toBe('Hello from within.')
      expect([model.specificationVersion, model.modelId, model.provider]).toEqual(['v3', 'older', 'mock-provider'])
      expect(await model.supportedUrls).toEqual({ 'image/*': [/^https:/] })
      expect((await generateText({ model, prompt: 'Hello?' })).text).toBe('I am old.')
      const wrapped = wrapLanguageModel({
        model: providerOf(await startModelServer(['I am wrapped.']))('local-1'),
        middleware: { transformParams: async ({ params }) => ({ ...params, temperature: 0 }) },
      })
      expect((await generateText({ model: durable(run, wrapped), prompt: 'Hello?' })).text).toBe('I am wrapped.')
    })
  })
})

const loops: Array<[string, boolean]> = [
  ['generateText', false],
  ['streamText', true],
]

describe.each(isLong ? loops : loops.slice(1))(
  'a process that is killed with SIGKILL in a durable %s loop',
  (_name, streams) => {
    it('a durable loop continues in the next process after a kill during the model call, without booking twice', async () => {
      const server = await startModelServer(journey)
      server.faults.set(1, 'silence')
      const place = chatPlace(server, { streams, onInterrupt: 'fail' })
      const first = place.start()
      await server.asked(2)
      await first.kill()
      expect(place.effects()).toHaveLength(2)
      const { outcome } = await place.start().line
      expect(outcome).toMatchObject({ status: 'completed', result: { text: 'All is booked.' } })
      expect(place.effects().sort()).toEqual(['call-1 Oslo', 'call-2 Rome', 'call-3 Bern'])
      expect(server.answered).toHaveLength(3)
      expect(conversations(server)).toHaveLength(3)
      expect(JSON.stringify(outcome.result.messages)).toContain('Booked in Bern')
    })

    it('a durable loop passes CALL_INTERRUPTED to the model after a kill inside a tool, and the model decides', async () => {
      const server = await startModelServer(journey)
      const place = chatPlace(server, { streams, onInterrupt: 'fail' })
      const first = place.start({ hangsAt: 'Bern' })
      expect(await first.line).toEqual({ hangs: 'Bern' })
      await first.kill()
      const { outcome } = await place.start().line
      expect(outcome).toMatchObject({ status: 'completed', result: { text: 'All is booked.' } })
      expect(place.effects().sort()).toEqual(['call-1 Oslo', 'call-2 Rome', 'call-3 Bern'])
      expect(server.requests).toHaveLength(3)
      expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain('was interrupted and may have happened')
    })

    it('a durable loop repeats a tool that may be repeated after a kill inside of it, under the same id', async () => {
      const server = await startModelServer(journey)
      const place = chatPlace(server, { streams, onInterrupt: 'rerun' })
      const first = place.start({ hangsAt: 'Bern' })
      expect(await first.line).toEqual({ hangs: 'Bern' })
      await first.kill()
      const { outcome } = await place.start().line
      expect(outcome).toMatchObject({ status: 'completed', result: { text: 'All is booked.' } })
      expect(place.effects().sort()).toEqual(['call-1 Oslo', 'call-2 Rome', 'call-3 Bern', 'call-3 Bern'])
      expect(server.requests).toHaveLength(3)
    })
  },
)
