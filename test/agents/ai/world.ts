// Shared by the tests of durable loops: a model of the SDK's own test kit that answers by the conversation and counts
// its steps, and tools that count too.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { simulateReadableStream, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import type { Task } from '../../../src/entities/task.ts'
import { deferred, openEngine, reached } from '../../engine/world.ts'

type Content = Awaited<ReturnType<LanguageModelV4['doGenerate']>>['content']
type Answer = Awaited<ReturnType<LanguageModelV4['doGenerate']>>

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
}

/** A whole answer: a text, or tool calls. */
export function answerOf(content: Content): Answer {
  const calls = content.some(({ type }) => type === 'tool-call')
  return {
    content,
    finishReason: { unified: calls ? 'tool-calls' : 'stop', raw: undefined },
    usage,
    warnings: [],
    response: { id: 'response-1', timestamp: new Date(1_700_000_000_000), modelId: 'mock-1' },
  }
}

export const textOf = (text: string): Content => [{ type: 'text', text }]

export function callOf(toolCallId: string, toolName: string, input: unknown): Content[number] {
  return { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) }
}

/** The same answer as the parts of a stream: texts word by word. */
export function partsOf(content: Content): LanguageModelV4StreamPart[] {
  const { finishReason } = answerOf(content)
  const parts = content.flatMap((part, index): LanguageModelV4StreamPart[] => {
    const id = `part-${index}`
    if (part.type === 'text') {
      const words = part.text.split(/(?<= )/)
      return [
        { type: 'text-start', id },
        ...words.map((delta) => ({ type: 'text-delta' as const, id, delta })),
        { type: 'text-end', id },
      ]
    }
    return [part as LanguageModelV4StreamPart]
  })
  return [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason, usage }]
}

export const streamOfParts = (chunks: LanguageModelV4StreamPart[]) =>
  simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null })

/** How many steps the model has made in this conversation. */
export function stepsSoFar({ prompt }: LanguageModelV4CallOptions): number {
  return prompt.filter(({ role }) => role === 'assistant').length
}

/** A model that gives the n-th turn to a conversation with n answers, streamed or whole; `doGenerateCalls` counts. */
export function modelOf(turns: Content[]): MockLanguageModelV4 {
  const turnFor = (options: LanguageModelV4CallOptions): Content => {
    const turn = turns[stepsSoFar(options)]
    if (turn === undefined) throw new Error(`There is no turn ${stepsSoFar(options)}.`)
    return turn
  }
  return new MockLanguageModelV4({
    modelId: 'mock-1',
    doGenerate: async (options) => answerOf(turnFor(options)),
    doStream: async (options) => ({ stream: streamOfParts(partsOf(turnFor(options))) }),
  })
}

/** A tool that records every execution. */
export function notingTool(noted: string[], act: (city: string) => unknown = (city) => `Sunny in ${city}`) {
  return tool({
    description: 'The weather of a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      noted.push(city)
      return (await act(city)) as string
    },
  })
}

/** The conversations passed to a model, as text, without parts that always differ. */
export function promptsOf(calls: readonly LanguageModelV4CallOptions[]): string[] {
  return calls.map(({ prompt }) => JSON.stringify(prompt))
}

type Work = (run: Run, task: ExecutorTask) => Promise<unknown>

/** A prompt whose content does not matter. */
export const question = { prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello?' }] }] }

/** Runs the work, pauses it when it is done, and runs it again: returns what each of the two runs got. */
export async function seenTwice<T>(
  work: (run: Run) => Promise<T>,
  meanwhile: (engine: Pick<Engine, 'events'>, task: Task) => Promise<void> = async () => {},
): Promise<{ seen: T[]; calls: number }> {
  const seen: T[] = []
  const first = deferred()
  const engine = await openEngine({
    executors: {
      twice: async (_task: ExecutorTask, run: Run) => {
        seen.push(await work(run))
        if (run.number > 1) return null
        first.resolve()
        return new Promise((_resolve, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason)))
      },
    },
  })
  const task = await engine.create({ executor: 'twice' })
  await meanwhile(engine, task)
  await first.promise
  await engine.pause(task)
  await engine.resume(task)
  await reached(engine, task, 'completed')
  return { seen, calls: (await engine.calls(task)).length }
}

/** The outcome of the work: a value, or what was thrown. */
export async function outcomeOf(work: () => PromiseLike<unknown>): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    return error
  }
}

/** Runs the work as a task, to its result. */
export async function runOnce(work: Work, options: Record<string, unknown> = {}) {
  const engine = await openEngine({
    executors: { once: (task: ExecutorTask, run: Run) => work(run, task) },
    ...options,
  })
  const task = await engine.create({ executor: 'once' })
  return { engine, task, result: await engine.result(task) }
}
