// The parts of a model's stream that are used, v3 and v4 alike. Tools that the provider ran itself, and parts that are not known here, are
// ignored.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { maxJsonLength } from '../../core/json.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { once } from '../../core/once.ts'
import { parse } from '../../core/parse.ts'
import { storableText } from '../../core/storable-text.ts'
import type { ModelPart, ProviderMetadata } from '../../entities/message.ts'
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

const metadata = once(() => z.record(z.string(), z.unknown()).nullish())

function blockSchema<const Type extends string>(type: Type) {
  return z.object({ type: z.literal(type), id: z.string().nullish().catch(null), providerMetadata: metadata() })
}

function deltaSchema<const Type extends string>(type: Type) {
  return blockSchema(type).extend({ delta: z.string() })
}

/** In v3 the bytes, in base64 or not; in v4 an object with them, a text, or an address. */
const fileData = once(() =>
  z.union([
    z.string().transform((base64) => ({ base64 })),
    z.instanceof(Uint8Array).transform((bytes) => ({ base64: Buffer.from(bytes).toString('base64') })),
    z
      .object({ type: z.literal('data'), data: z.union([z.string(), z.instanceof(Uint8Array)]) })
      .transform(({ data }) => ({ base64: typeof data === 'string' ? data : Buffer.from(data).toString('base64') })),
    z
      .object({ type: z.literal('text'), text: z.string() })
      .transform(({ text }) => ({ base64: Buffer.from(text).toString('base64') })),
    z
      .object({
        type: z.literal('url'),
        url: z.union([z.string(), z.instanceof(URL)]),
        originalUrl: z.string().optional(),
      })
      .transform(({ url, originalUrl }) => ({ url: originalUrl ?? String(url) })),
  ]),
)

function fileSchema<const Type extends string>(type: Type) {
  return z.object({ type: z.literal(type), mediaType: z.string(), data: fileData(), providerMetadata: metadata() })
}

const partSchemas = once(() => ({
  'text-start': blockSchema('text-start'),
  'text-delta': deltaSchema('text-delta'),
  'text-end': blockSchema('text-end'),
  'reasoning-start': blockSchema('reasoning-start'),
  'reasoning-delta': deltaSchema('reasoning-delta'),
  'reasoning-end': blockSchema('reasoning-end'),
  file: fileSchema('file'),
  'reasoning-file': fileSchema('reasoning-file'),
  source: z.object({
    type: z.literal('source'),
    sourceType: z.string(),
    id: z.string(),
    url: z.string().optional().catch(undefined),
    title: z.string().optional().catch(undefined),
    providerMetadata: metadata(),
  }),
  custom: z.object({ type: z.literal('custom'), kind: z.string(), providerMetadata: metadata() }),
  'tool-call': z.object({
    type: z.literal('tool-call'),
    toolCallId: z.string().min(1),
    toolName: z.string().min(1),
    input: z.string(),
    providerExecuted: z.boolean().nullish(),
    providerMetadata: metadata(),
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
  const answer = new StepParts()
  for await (const raw of parts) {
    const part = readPart(raw)
    if (part === undefined) continue
    if (part.type === 'error') throw new ReportedError(part.error)
    if (part.type === 'response-metadata') modelId = part.modelId ?? modelId
    else if (part.type === 'finish') {
      const finish = toFinish(part, modelId)
      const parts = answer.all()
      if (parts !== undefined) yield { parts }
      yield { finish }
      return
    } else {
      characters += lengthOf(part)
      if (characters > maxJsonLength) throw tooLong()
      collect(part, answer)
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

/** A part that belongs to the answer. */
type ContentPart = Exclude<Part, { type: 'response-metadata' | 'finish' | 'error' }>

function lengthOf(part: ContentPart): number {
  const said = part.providerMetadata == null ? 0 : JSON.stringify(part.providerMetadata).length
  if ('delta' in part) return said + part.delta.length
  if (part.type === 'tool-call') return said + part.input.length
  return said + ('data' in part && 'base64' in part.data ? part.data.base64.length : 0)
}

function collect(part: ContentPart, answer: StepParts): void {
  const said = part.providerMetadata ?? undefined
  switch (part.type) {
    case 'tool-call':
      if (!part.providerExecuted) answer.addCall(said)
      return
    case 'file':
    case 'reasoning-file':
      answer.add({ type: part.type, mediaType: part.mediaType, ...part.data }, said)
      return
    case 'source':
      answer.add(
        {
          ...omitUndefined({ url: part.url, title: part.title }),
          type: 'source',
          sourceType: part.sourceType,
          id: part.id,
        },
        said,
      )
      return
    case 'custom':
      answer.add({ type: 'custom', kind: part.kind }, said)
      return
    default: {
      const kind = part.type.startsWith('text') ? 'text' : 'reasoning'
      const piece = { id: part.id ?? undefined, kind, metadata: said } as const
      if (part.type === 'text-end' || part.type === 'reasoning-end') answer.endBlock(piece)
      else answer.addPiece({ ...piece, delta: 'delta' in part ? part.delta : '' })
    }
  }
}

/** What is shown while the answer comes. */
function toChunk(part: ContentPart): ModelChunk | undefined {
  if (part.type === 'tool-call') return part.providerExecuted ? undefined : { toolCalls: [toToolCall(part)] }
  if (!('delta' in part) || part.delta === '') return undefined
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

// The parts of a model's answer in the order in which they came, with what the provider says of each: providers require some of it back before
// the next step (signatures of reasoning and of tool calls).

type Block = Extract<ModelPart, { text: string }>

/** A piece of a block of text or reasoning. */
interface BlockPiece {
  /** Identifies the block among those that are open; undefined if the provider gives none. */
  id: string | undefined
  kind: Block['type']
  delta?: string
  metadata?: ProviderMetadata | undefined
}

class StepParts {
  readonly #parts: ModelPart[] = []
  readonly #open = new Map<string, Block>()
  #calls = 0

  /** The beginning, the end or a piece of a block. */
  addPiece({ id, kind, delta = '', metadata }: BlockPiece): void {
    const key = `${kind}:${id ?? ''}`
    let block = this.#open.get(key)
    if (block === undefined) {
      block = { type: kind, text: '' }
      this.#open.set(key, block)
      this.#parts.push(block)
    }
    block.text += delta
    if (metadata !== undefined) block.providerMetadata = merged(block.providerMetadata, metadata)
  }

  endBlock(piece: BlockPiece): void {
    this.addPiece(piece)
    this.#open.delete(`${piece.kind}:${piece.id ?? ''}`)
  }

  /** The tool calls are counted in their order. */
  addCall(metadata: ProviderMetadata | undefined): void {
    this.#parts.push(withMetadata({ type: 'tool-call', call: this.#calls }, metadata))
    this.#calls += 1
  }

  add(part: ModelPart, metadata: ProviderMetadata | undefined): void {
    this.#parts.push(withMetadata(part, metadata))
  }

  /** Undefined if the text and the calls of the answer say all of it. */
  all(): ModelPart[] | undefined {
    const parts = this.#parts.filter((part) => !isEmpty(part))
    const isPlain = parts.every(
      ({ type, providerMetadata }, at) =>
        providerMetadata === undefined && (type === 'tool-call' || (type === 'text' && at === 0)),
    )
    return isPlain ? undefined : parts.map(storable)
  }
}

function isEmpty(part: ModelPart): boolean {
  return 'text' in part && part.text === '' && part.providerMetadata === undefined
}

function withMetadata(part: ModelPart, metadata: ProviderMetadata | undefined): ModelPart {
  return metadata === undefined ? part : { ...part, providerMetadata: metadata }
}

/** Pieces of one block may each name a part of what the provider says of it, such as the signature at its end. */
function merged(earlier: ProviderMetadata | undefined, later: ProviderMetadata): ProviderMetadata {
  const all = { ...earlier }
  for (const [provider, said] of Object.entries(later)) {
    const before = all[provider]
    all[provider] = isObject(before) && isObject(said) ? { ...before, ...said } : said
  }
  return all
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** With texts that a ledger can hold: metadata repeats what the model wrote, and titles come from pages. */
function storable(part: ModelPart): ModelPart {
  const text = JSON.stringify(part)
  return JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'string' ? storableText(value) : value,
  ) as ModelPart
}
