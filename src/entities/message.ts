// The message: an immutable entry of a task's conversation.

export const messageRoles = ['system', 'user', 'assistant', 'tool'] as const
export type MessageRole = (typeof messageRoles)[number]

/** A call in a model's message. */
export interface ToolCall {
  /** The model's id of this call, under which its result is returned. */
  id: string
  /** As the model wrote it. */
  tool: string
  /** The ability behind that name; the name itself when there is none. */
  ability: string
  /** The text that the model wrote; valid JSON if the model followed the rules. */
  arguments: string
}

/** Tokens of a model step; null when the provider does not report them. */
export interface Usage {
  inputTokens: number | null
  outputTokens: number | null
  totalTokens: number | null
}

/** The tokens of all model steps of a conversation, null if no step reported them; undefined without a step. */
export function usageOf(messages: ReadonlyArray<{ step?: Pick<ModelStep, 'usage'> | null | undefined }>) {
  const steps = messages.flatMap(({ step }) => step ?? [])
  if (steps.length === 0) return undefined
  const sum = (field: keyof Usage): number | null =>
    steps.reduce<number | null>(
      (total, { usage }) => (usage[field] === null ? total : (total ?? 0) + usage[field]),
      null,
    )
  return {
    steps: steps.length,
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    totalTokens: sum('totalTokens'),
  }
}

/** What a provider says of a part, by the name of the provider. It means something to that provider alone. */
export type ProviderMetadata = Record<string, unknown>

/**
 * A part of a model's answer, as in the AI SDK's specification of language models. `call` is the index of a tool call in `ModelStep.calls`; a file
 * has its bytes in base64 or its address. `reasoning` may be empty: of redacted reasoning only the metadata are known.
 */
export type ModelPart = { providerMetadata?: ProviderMetadata | undefined } & (
  | { type: 'text' | 'reasoning'; text: string }
  | { type: 'tool-call'; call: number }
  | { type: 'file' | 'reasoning-file'; mediaType: string; base64?: string | undefined; url?: string | undefined }
  | { type: 'source'; sourceType: string; id: string; url?: string | undefined; title?: string | undefined }
  | { type: 'custom'; kind: string }
)

/** The complete model step behind an assistant message. */
export interface ModelStep {
  modelId: string
  /** As reported by the provider. */
  finishReason: string
  usage: Usage
  calls: ToolCall[]
  /** In the order in which they came. Absent when the step is its text, then its calls, of which the provider said nothing more. */
  parts?: ModelPart[] | undefined
  /** Ids of the messages that the model saw for the first time in this step, in the order in which it saw them. */
  inputs: string[]
  attempt: number
  /** How many of the results before this step, oldest first, the model was sent in short, because all of them were too long for it. */
  shortResults?: number | undefined
  /** Milliseconds from the request to the end of the answer. Absent in steps of earlier versions. */
  tookMs?: number | undefined
}

/** The text of a model's reasoning; undefined if there is none, or if the provider keeps it to itself. */
export function reasoningIn(step: Pick<ModelStep, 'parts'> | null): string | undefined {
  const texts = (step?.parts ?? []).flatMap((part) =>
    part.type === 'reasoning' && part.text !== '' ? [part.text] : [],
  )
  return texts.length === 0 ? undefined : texts.join('\n\n')
}

/**
 * When an agent reads a message from outside: `abort` pauses the task at once; `steer` before its next step; `followup` only when it
 * would otherwise end. In this order, each kind in the order of arrival.
 */
export const deliveries = ['abort', 'steer', 'followup'] as const
export type Delivery = (typeof deliveries)[number]

/** A message as stored and as listed. Times are epoch milliseconds. */
export interface MessageRecord {
  id: string
  taskId: string
  /** Counts from 1 within the task, without gaps, in the order of commit. */
  n: number
  role: MessageRole
  content: string
  /** For people only: not replayed to a model (notices of the engine). */
  announcement: boolean
  /** Of an assistant message from a model; else null. */
  step: ModelStep | null
  /** Of a user message from outside; else null. */
  delivery: Delivery | null
  /** The run that wrote it; null when it came from outside. */
  run: number | null
  /** The generation of that run; null when it came from outside. */
  generation: number | null
  /** Its identity for a later run; null when it came from outside. */
  ident: string | null
  /** n-th among equals, from 0. */
  ordinal: number
  timestamp: number
}

/** A message as `engine.messages` lists it. */
export type Message = Omit<MessageRecord, 'generation' | 'ident' | 'ordinal'>

export function toMessage(record: MessageRecord): Message {
  const { generation: _generation, ident: _ident, ordinal: _ordinal, ...message } = record
  return message
}
