// A conversation as chat messages, the format that models read and that is shown to people: messages, and for each step the model's
// text, its calls and their results.
import type { CallRecord } from './call.ts'
import type { Conversation, TakenStep } from './conversation.ts'
import type { MessageRecord, ModelPart } from './message.ts'

export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; tool_calls?: ChatToolCall[]; parts?: ModelPart[] }
  | { role: 'tool'; content: string; tool_call_id: string; name: string }

export interface ChatToolCall {
  id: string
  type: 'function'
  /** `arguments` is the text that the model wrote. */
  function: { name: string; arguments: string }
}

/**
 * A step as the model reads it again, with the messages that it saw for the first time in it. Results are in the order of the calls, not of
 * their ends.
 */
export function chatTurn({ inputs, content, calls, step: { parts } }: TakenStep): ChatMessage[] {
  const answer = assistantMessage(content, calls)
  return [...inputs.map(toChatMessage), parts === undefined ? answer : { ...answer, parts }, ...calls.map(resultOf)]
}

/** A message that is not a step of the model. */
export function toChatMessage({ role, content }: MessageRecord): ChatMessage {
  return { role: role === 'assistant' ? 'assistant' : 'user', content }
}

/** The whole conversation. Unread messages come last, and open calls have no result. */
export function chatOf({ system, steps, unread }: Conversation): ChatMessage[] {
  return [
    ...system.map(({ content }): ChatMessage => ({ role: 'system', content })),
    ...steps.flatMap(({ inputs, content, calls }) => [
      ...inputs.map(toChatMessage),
      assistantMessage(content, calls),
      ...calls.filter(({ entry }) => entry?.status === 'completed' || entry?.status === 'failed').map(resultOf),
    ]),
    ...unread.map(toChatMessage),
  ]
}

function assistantMessage(content: string, calls: TakenStep['calls']): Extract<ChatMessage, { role: 'assistant' }> {
  if (calls.length === 0) return { role: 'assistant', content }
  return {
    role: 'assistant',
    content,
    tool_calls: calls.map(({ asked }) => ({
      id: asked.id,
      type: 'function',
      function: { name: asked.tool, arguments: asked.arguments },
    })),
  }
}

function resultOf({ asked, entry }: TakenStep['calls'][number]): ChatMessage {
  return { role: 'tool', tool_call_id: asked.id, name: asked.tool, content: resultText(entry) }
}

/** Images, sounds and files in a result of an MCP server are of no use to a model as text: it reads their type and size. */
function withoutMedia(this: unknown, key: string, value: unknown): unknown {
  if (typeof value !== 'string' || (key !== 'data' && key !== 'blob')) return value
  const { type, mimeType, uri } = this as Record<string, unknown>
  const isMedia = key === 'blob' ? typeof uri === 'string' : type === 'image' || type === 'audio'
  if (!isMedia) return value
  return `(${Math.floor((value.length * 3) / 4)} bytes of ${typeof mimeType === 'string' ? mimeType : 'unknown type'}, left out)`
}

/** The result of a call as text for the model. */
function resultText(entry: CallRecord | undefined): string {
  if (entry?.status === 'completed' && entry.resultLost !== null)
    return `Error: the call was made, but its result could not be recorded: ${entry.resultLost}. Do not repeat it unless that does no harm.`
  if (entry?.status === 'completed')
    return typeof entry.result === 'string' ? entry.result : JSON.stringify(entry.result, withoutMedia)
  return `Error: ${entry?.error?.message ?? 'the call has no result'}`
}
