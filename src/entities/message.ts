// The message: an immutable line of a task's conversation.

export const messageRoles = ['system', 'user', 'assistant', 'tool'] as const
export type MessageRole = (typeof messageRoles)[number]

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
