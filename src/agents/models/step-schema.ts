// One step of a model as data: its input and the chunks of its answer. These are the JSON shapes of `model:llm`.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { parse } from '../../core/parse.ts'
import type { ModelPart } from '../../entities/message.ts'

/** A tool call as the model wrote it. `arguments` is its raw text, which may be invalid JSON. */
export const toolCallSchema = once(() =>
  z.strictObject({
    id: z.string().min(1),
    type: z.literal('function').default('function'),
    function: z.strictObject({ name: z.string().min(1), arguments: z.string() }),
  }),
)

const providerMetadata = once(() => z.record(z.string(), z.unknown()).optional())

/** A part of an answer (`ModelPart`). `call` is the index of a call in `tool_calls` of its message, or in `toolCalls` of its answer. */
const modelPartSchema = once(() =>
  z.union([
    z.strictObject({
      type: z.enum(['text', 'reasoning']),
      text: z.string(),
      providerMetadata: providerMetadata(),
    }),
    z.strictObject({ type: z.literal('tool-call'), call: z.int().min(0), providerMetadata: providerMetadata() }),
    z.strictObject({
      type: z.enum(['file', 'reasoning-file']),
      mediaType: z.string(),
      base64: z.string().optional(),
      url: z.string().optional(),
      providerMetadata: providerMetadata(),
    }),
    z.strictObject({
      type: z.literal('source'),
      sourceType: z.string(),
      id: z.string(),
      url: z.string().optional(),
      title: z.string().optional(),
      providerMetadata: providerMetadata(),
    }),
    z.strictObject({ type: z.literal('custom'), kind: z.string(), providerMetadata: providerMetadata() }),
  ]),
)

export const modelMessageSchema = once(() =>
  z
    .strictObject({
      role: z.enum(['system', 'user', 'assistant', 'tool']),
      content: z.string(),
      /** Only on `assistant`: its tool calls. */
      tool_calls: z.array(toolCallSchema()).optional(),
      /** Only on `assistant`: all that the model answered, in order. Default: its text, then its calls. */
      parts: z.array(modelPartSchema()).optional(),
      /**
       * Only on `tool`: the id of the call that this is the result of. Content that starts with `Error: ` is passed to
       * the model as an error.
       */
      tool_call_id: z.string().min(1).optional(),
      /** Only on `tool`: the tool's name. Default: that of the call with this id. */
      name: z.string().optional(),
    })
    .refine((message) => message.role !== 'tool' || message.tool_call_id !== undefined, {
      path: ['tool_call_id'],
      message: 'a message of role "tool" names the call it answers',
    })
    .refine((message) => message.role === 'assistant' || !message.tool_calls?.length, {
      path: ['tool_calls'],
      message: 'only a message of role "assistant" has tool calls',
    }),
)

export const toolDefinitionSchema = once(() =>
  z.strictObject({
    type: z.literal('function').default('function'),
    function: z.strictObject({
      name: z.string().min(1),
      description: z.string().optional(),
      /** JSON Schema of the arguments. */
      parameters: z.record(z.string(), z.unknown()),
    }),
  }),
)

export const modelSettingsSchema = once(() =>
  z.strictObject({
    temperature: z.number().optional(),
    maxOutputTokens: z.number().int().positive().optional(),
    topP: z.number().optional(),
    seed: z.number().int().optional(),
    stopSequences: z.array(z.string()).optional(),
  }),
)

const responseFormatSchema = once(() =>
  z.strictObject({
    type: z.literal('json'),
    /** JSON Schema of the answer. */
    schema: z.record(z.string(), z.unknown()).optional(),
    name: z.string().optional(),
  }),
)

export const modelStepInputSchema = once(() =>
  z.strictObject({
    messages: z.array(modelMessageSchema()).min(1),
    tools: z.array(toolDefinitionSchema()).optional(),
    /** Name of the model in the registry. Default: the registry's default. */
    modelId: z.string().min(1).optional(),
    /** Default: the provider's, which is `auto`. Ignored without tools. */
    toolChoice: z.enum(['auto', 'none', 'required']).optional(),
    /** Default: free text. */
    responseFormat: responseFormatSchema().optional(),
    settings: modelSettingsSchema().optional(),
  }),
)

/** Tokens of one step; null where the provider does not report them. */
export const modelUsageSchema = once(() =>
  z.strictObject({
    inputTokens: z.number().nullable(),
    outputTokens: z.number().nullable(),
    totalTokens: z.number().nullable(),
  }),
)

/**
 * How the step ended. `reason`: stop, length, tool-calls, content-filter or other. `modelId`: the model that answered.
 */
export const modelFinishSchema = once(() =>
  z.strictObject({
    reason: z.string(),
    usage: modelUsageSchema(),
    modelId: z.string(),
  }),
)

export const modelChunkSchema = once(() =>
  z.union([
    z.strictObject({ content: z.string() }),
    z.strictObject({ reasoning: z.string() }),
    z.strictObject({ toolCalls: z.array(toolCallSchema()) }),
    /** Before `finish`, if the text and the calls do not say all of it: the whole answer in order. */
    z.strictObject({ parts: z.array(modelPartSchema()) }),
    z.strictObject({ finish: modelFinishSchema() }),
  ]),
)

export type ToolCall = z.output<ReturnType<typeof toolCallSchema>>
export type ModelMessage = z.input<ReturnType<typeof modelMessageSchema>>
export type ToolDefinition = z.input<ReturnType<typeof toolDefinitionSchema>>
export type ModelSettings = z.output<ReturnType<typeof modelSettingsSchema>>
export type ModelStepInput = z.input<ReturnType<typeof modelStepInputSchema>>
export type ModelUsage = z.output<ReturnType<typeof modelUsageSchema>>
export type ModelFinish = z.output<ReturnType<typeof modelFinishSchema>>

/** A piece of a model's answer. `finish` is the last one. */
export type ModelChunk = z.output<ReturnType<typeof modelChunkSchema>>

/** A whole step: the sum of its chunks. */
export interface ModelAnswer {
  content: string
  toolCalls: ToolCall[]
  /** Absent if the text and the calls say all of it. */
  parts?: ModelPart[]
  finish: ModelFinish | null
}

/** The sum of the chunks. `finish` is null when the list is incomplete. */
export function collectAnswer(chunks: Iterable<ModelChunk>): ModelAnswer {
  const answer: ModelAnswer = { content: '', toolCalls: [], finish: null }
  for (const chunk of chunks) addChunk(answer, chunk)
  return answer
}

/** Adds one chunk to the answer. Pieces of reasoning are among its parts. */
export function addChunk(answer: ModelAnswer, chunk: ModelChunk | ForeignChunk): void {
  const { content, toolCalls, parts, finish } = chunk as ForeignChunk
  if (content) answer.content += content
  for (const call of toolCalls ?? []) answer.toolCalls.push(call)
  if (parts) answer.parts = parts
  if (finish) answer.finish = finish
}

/** A call from a foreign `model:llm`: without an id, or with arguments that are not text yet. */
const foreignCallSchema = once(() =>
  z
    .looseObject({
      id: z.string().nullish(),
      function: z.looseObject({
        name: z.string().min(1),
        arguments: z
          .union([z.string(), z.record(z.string(), z.unknown())])
          .nullish()
          .transform((given) => (typeof given === 'string' ? given : JSON.stringify(given ?? {}))),
      }),
    })
    .transform(
      ({ id, function: { name, arguments: text } }): ToolCall => ({
        id: id ?? '',
        type: 'function',
        function: { name, arguments: text },
      }),
    ),
)

/** A chunk of any `model:llm`: several fields may come at once, and any may be null. */
const foreignChunkSchema = once(() =>
  z.looseObject({
    content: z.string().nullish(),
    toolCalls: z.array(foreignCallSchema()).nullish(),
    parts: z.array(modelPartSchema()).nullish(),
    finish: modelFinishSchema().nullish().catch(null),
  }),
)
export type ForeignChunk = z.output<ReturnType<typeof foreignChunkSchema>>

/** @throws ErrandError INVALID_INPUT for an invalid chunk. */
export function readChunk(chunk: unknown): ForeignChunk {
  // Fast path: most chunks are a piece of text only, and there may be thousands.
  if (typeof chunk === 'object' && chunk !== null) {
    const { content, ...rest } = chunk as { content?: unknown }
    if (typeof content === 'string' && Object.keys(rest).length === 0) return { content }
  }
  return parse(foreignChunkSchema, chunk, 'A chunk of model:llm')
}
