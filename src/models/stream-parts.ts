// The parts of a model's stream that are used, v3 and v4 alike. All other parts (sources, files, tools that the
// provider ran itself, metadata) are ignored.
import { z } from 'zod'
import { ErrandError } from '../core/errors.ts'
import { maxJsonLength } from '../core/json.ts'
import { once } from '../core/once.ts'
import { parse } from '../core/parse.ts'
import type { LanguageModelLike } from './language-model.ts'
import { ReportedError, UnfinishedStream } from './model-error.ts'
import type { ModelChunk, ModelFinish, ModelUsage, ToolCall } from './step-schema.ts'

/** Later versions report `{ total }`, earlier ones a number. Anything else is unknown. */
const tokenCount = once(() =>
  z
    .union([z.number(), z.object({ total: z.number().nullish() }).transform(({ total }) => total ?? null)])
    .nullish()
    .catch(null),
)

const usageSchema = once(() =>
  z
    .object({ inputTokens: tokenCount(), outputTokens: tokenCount(), totalTokens: z.number().nullish().catch(null) })
    .nullish()
    .catch(null),
)

const reasonSchema = once(() =>
  z.union([z.string(), z.object({ unified: z.string() }).transform(({ unified }) => unified)]),
)

const partSchemas = once(() => ({
  'text-delta': z.object({ type: z.literal('text-delta'), delta: z.string() }),
  'reasoning-delta': z.object({ type: z.literal('reasoning-delta'), delta: z.string() }),
  'tool-call': z.object({
    type: z.literal('tool-call'),
    toolCallId: z.string().min(1),
    toolName: z.string().min(1),
    input: z.string(),
    providerExecuted: z.boolean().nullish(),
  }),
  'response-metadata': z.object({
    type: z.literal('response-metadata'),
    modelId: z.string().min(1).nullish().catch(null),
  }),
  finish: z.object({ type: z.literal('finish'), finishReason: reasonSchema(), usage: usageSchema() }),
  error: z.object({ type: z.literal('error'), error: z.unknown() }),
}))

type Part = {
  [Type in keyof ReturnType<typeof partSchemas>]: z.output<ReturnType<typeof partSchemas>[Type]>
}[keyof ReturnType<typeof partSchemas>]

/**
 * The chunks of one step. Ends after `{ finish }`.
 * @throws ReportedError for an error in the stream, UnfinishedStream when it ends too early.
 */
export async function* toChunks(
  parts: AsyncIterable<unknown>,
  model: LanguageModelLike,
): AsyncGenerator<ModelChunk, void, undefined> {
  let { modelId } = model
  let characters = 0
  for await (const raw of parts) {
    const part = readPart(raw)
    if (part === undefined) continue
    if (part.type === 'error') throw new ReportedError(part.error)
    if (part.type === 'response-metadata') modelId = part.modelId ?? modelId
    else if (part.type === 'finish') {
      yield { finish: toFinish(part, modelId) }
      return
    } else {
      characters += part.type === 'tool-call' ? part.input.length : part.delta.length
      if (characters > maxJsonLength) throw tooLong()
      const chunk = toChunk(part)
      if (chunk) yield chunk
    }
  }
  throw new UnfinishedStream('the stream ended without a finish reason, so the answer may be incomplete')
}

function readPart(raw: unknown): Part | undefined {
  const type = typeof raw === 'object' && raw !== null ? (raw as { type?: unknown }).type : undefined
  if (typeof type !== 'string' || !Object.hasOwn(partSchemas(), type)) return undefined
  return parse<Part>(
    partSchemas()[type as keyof ReturnType<typeof partSchemas>],
    raw,
    `The model's stream part "${type}"`,
  )
}

function toChunk(
  part: Extract<Part, { type: 'text-delta' | 'reasoning-delta' | 'tool-call' }>,
): ModelChunk | undefined {
  if (part.type === 'tool-call') return part.providerExecuted ? undefined : { toolCalls: [toToolCall(part)] }
  if (part.delta === '') return undefined
  return part.type === 'text-delta' ? { content: part.delta } : { reasoning: part.delta }
}

/** Some models call a tool without arguments with an empty text: that becomes `{}`. */
function toToolCall({ toolCallId, toolName, input }: Extract<Part, { type: 'tool-call' }>): ToolCall {
  return {
    id: toolCallId,
    type: 'function',
    function: { name: toolName, arguments: input.trim() === '' ? '{}' : input },
  }
}

function toFinish({ finishReason, usage }: Extract<Part, { type: 'finish' }>, modelId: string): ModelFinish {
  if (finishReason === 'interrupted') throw new UnfinishedStream('the stream ended before the answer was complete')
  if (finishReason === 'error') throw new ReportedError({ message: 'the answer ended with the finish reason "error"' })
  return { reason: finishReason === 'unknown' ? 'other' : finishReason, usage: toUsage(usage), modelId }
}

function toUsage(usage: z.output<ReturnType<typeof usageSchema>>): ModelUsage {
  const inputTokens = usage?.inputTokens ?? null
  const outputTokens = usage?.outputTokens ?? null
  const sum = inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens
  return { inputTokens, outputTokens, totalTokens: usage?.totalTokens ?? sum }
}

function tooLong(): ErrandError {
  return new ErrandError(
    'LIMIT_EXCEEDED',
    `the answer exceeds ${maxJsonLength} characters, the maximum of one step. Set \`maxOutputTokens\``,
    { limit: maxJsonLength },
  )
}
