// The message: an immutable line of a task's conversation.

export const messageRoles = ['system', 'user', 'assistant', 'tool'] as const
export type MessageRole = (typeof messageRoles)[number]

/** A call that a model asked for. */
export interface ToolCall {
  /** The model's own name for this call: its result goes back under it. */
  id: string
  /** As the model wrote it. */
  tool: string
  /** The ability behind that name; the name itself when there is none. */
  ability: string
  /** Text, as the model wrote it: JSON, if it kept to the rules. */
  arguments: string
}

/** Tokens of a model step; null where the provider does not tell. */
export interface Usage {
  inputTokens: number | null
  outputTokens: number | null
  totalTokens: number | null
}

/** What an assistant message is when a model wrote it: one step of the model, whole. */
export interface ModelStep {
  modelId: string
  /** In the provider's words. */
  finishReason: string
  usage: Usage
  calls: ToolCall[]
  /** Ids of the messages that the model saw for the first time in this step, in the order in which it saw them. */
  inputs: string[]
  attempt: number
}

/**
 * When a message from outside reaches an agent: at once, and it stops; before its next step; or only when it would end. In this
 * order, each kind in the order of its coming (conformance S3-112).
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
  /** Of an assistant message that a model wrote; else null. */
  step: ModelStep | null
  /** Of a user message from outside; else null. */
  delivery: Delivery | null
  /** The run that wrote it; null when it came from outside. */
  run: number | null
  /** What it is found by when a run is repeated; null when it came from outside. */
  ident: string | null
  /** n-th among equals, from 0. */
  ordinal: number
  timestamp: number
}

/** A message as `engine.messages` lists it. */
export type Message = Omit<MessageRecord, 'ident' | 'ordinal'>

export function toMessage(record: MessageRecord): Message {
  const { ident: _ident, ordinal: _ordinal, ...message } = record
  return message
}
