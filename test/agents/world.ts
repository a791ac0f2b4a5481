// Shared by the tests of agents: tools with the handlers of a test, models with its answers, and short views of a
// conversation for comparison.
import { z } from 'zod'
import { type ModelMessage, type ModelStepInput, modelStepInputSchema } from '../../src/agents/models/step-schema.ts'
import { defineAbility } from '../../src/bus/ability.ts'
import type { AbilityContext } from '../../src/bus/ability-context.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Message } from '../../src/entities/message.ts'
import { deferred } from '../engine/world.ts'

type Handler = (input: Record<string, unknown>, context: AbilityContext) => unknown
type ToolOptions = Partial<Pick<Parameters<typeof defineAbility>[0], 'confirm' | 'onInterrupt' | 'retry' | 'timeoutMs'>>

/** An ability that accepts any object and returns what its handler does. */
export function tool(id: string, handle: Handler, options: ToolOptions = {}) {
  return defineAbility({
    id,
    description: `The tool ${id} of a test.`,
    input: z.record(z.string(), z.unknown()),
    output: z.unknown(),
    handle: async (input, context) => handle(input, context),
    ...options,
  })
}

/** Returns its `text`. */
export const echo = defineAbility({
  id: 'test:echo',
  description: 'Gives back a text.',
  input: z.strictObject({ text: z.string() }),
  output: z.string(),
  handle: ({ text }) => text,
})

/** A tool whose calls last until the test ends them. */
export function gatedTool(id: string) {
  const calls: Array<{ input: Record<string, unknown>; end(result: unknown): void; signal: AbortSignal }> = []
  const waiting: Array<() => void> = []
  const ability = tool(id, (input, { signal }) => {
    const end = deferred<unknown>()
    signal.addEventListener('abort', () => end.reject(signal.reason), { once: true })
    calls.push({ input, end: end.resolve, signal })
    for (const wake of waiting.splice(0)) wake()
    return end.promise
  })
  return {
    ability,
    calls,
    /** Resolves to the n-th call of all, from 0, as soon as it has begun. */
    async began(index: number) {
      while (calls.length <= index) await new Promise<void>((resolve) => waiting.push(resolve))
      return calls[index] as (typeof calls)[number]
    },
  }
}

/** A part of a model's stream, as providers send them. */
export type Part = { type: string } & Record<string, unknown>

export const text = (delta: string): Part => ({ type: 'text-delta', id: 't', delta })
export const reasoning = (delta: string): Part => ({ type: 'reasoning-delta', id: 'r', delta })
export const toolCall = (id: string, name: string, input: unknown): Part => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: name,
  input: typeof input === 'string' ? input : JSON.stringify(input),
})
export const finish = (unified = 'stop', usage = { input: 10, output: 5 }): Part => ({
  type: 'finish',
  finishReason: { unified, raw: unified },
  usage: { inputTokens: { total: usage.input }, outputTokens: { total: usage.output } },
})

/** A model whose n-th step plays the n-th list of parts; a promise in a list holds the stream until it resolves. */
export function partsModel(...steps: Array<ReadonlyArray<Part | Promise<unknown>>>) {
  const prompts: unknown[] = []
  return {
    specificationVersion: 'v4' as const,
    provider: 'test',
    modelId: 'parts',
    prompts,
    async doStream({ prompt, abortSignal }: { prompt: unknown; abortSignal?: AbortSignal }) {
      const parts = steps[prompts.push(prompt) - 1] ?? []
      let next = 0
      return {
        stream: new ReadableStream<unknown>({
          async pull(controller) {
            const part = parts[next++]
            if (part instanceof Promise) {
              const canceled = new Promise<void>((resolve) =>
                abortSignal?.addEventListener('abort', () => resolve(), { once: true }),
              )
              const thrown = await Promise.race([part, canceled]).then(
                () => undefined,
                (error: unknown) => error,
              )
              if (abortSignal?.aborted || thrown !== undefined) return controller.error(thrown ?? abortSignal?.reason)
              return this.pull?.(controller)
            }
            if (part === undefined) controller.close()
            else controller.enqueue(part)
          },
        }),
      }
    },
  }
}

export type ModelReply = { content?: string; toolCalls?: Array<{ id: string; name: string; arguments: unknown }> }

/** A `model:llm` of the embedder: `inputs` are the steps as the agent requested them. */
export function llm(reply: (input: ModelStepInput, step: number) => ModelReply | Promise<ModelReply>) {
  const inputs: ModelStepInput[] = []
  const ability = defineAbility({
    id: 'model:llm',
    description: 'The model of a test.',
    input: modelStepInputSchema(),
    output: z.unknown(),
    models: false,
    async *stream(input) {
      const step = inputs.push(input)
      const { content, toolCalls = [] } = await reply(input, step)
      if (content !== undefined) yield { content }
      for (const call of toolCalls) {
        const given = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
        yield { toolCalls: [{ id: call.id, type: 'function', function: { name: call.name, arguments: given } }] }
      }
      yield {
        finish: { reason: 'stop', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, modelId: 'own' },
      }
    },
  })
  return { ability, inputs, messages: (step: number) => (inputs[step - 1] as ModelStepInput).messages }
}

/** The conversation of a task in short: `role: content`, without announcements. */
export async function said(engine: Pick<Engine, 'messages'>, task: { id: string } | string): Promise<string[]> {
  return spoken(await engine.messages(task as string))
}

export function spoken(messages: readonly Message[]): string[] {
  return messages.filter((each) => !each.announcement).map(({ role, content }) => `${role}: ${content}`)
}

/** The announcements of the calls to people. */
export async function announced(engine: Pick<Engine, 'messages'>, task: { id: string } | string): Promise<string[]> {
  return (await engine.messages(task as string)).filter((each) => each.announcement).map(({ content }) => content)
}

/** The calls of a task in short: `ability status result`. */
export async function callsOf(engine: Pick<Engine, 'calls'>, task: { id: string } | string): Promise<string[]> {
  return (await engine.calls(task as string)).map(
    ({ name, status, result, error }) => `${name} ${status} ${error?.code ?? JSON.stringify(result)}`,
  )
}

/** The messages of a step in short: `role: content`, calls and results under their ids. */
export function inShort(messages: readonly ModelMessage[]): string[] {
  return messages.map(({ role, content, tool_calls, tool_call_id }) => {
    const calls = tool_calls?.map((call) => ` ${call.id}=${call.function.name}(${call.function.arguments})`) ?? []
    return `${role}${tool_call_id === undefined ? '' : ` ${tool_call_id}`}: ${content}${calls.join('')}`
  })
}
