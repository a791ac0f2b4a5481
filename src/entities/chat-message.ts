// A conversation as chat messages, the shape in which models read it and in which people are shown what they read: what was
// said, and step by step what the model answered, called, and got back (conformance S1-007…S1-011).
import type { CallRecord } from './call.ts'
import type { Conversation, TakenStep } from './conversation.ts'
import type { MessageRecord } from './message.ts'

export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; tool_calls?: ChatToolCall[] }
  | { role: 'tool'; content: string; tool_call_id: string; name: string }

export interface ChatToolCall {
  id: string
  type: 'function'
  /** `arguments` is the text that the model wrote. */
  function: { name: string; arguments: string }
}

/** A step with what the model saw for the first time in it. Results stand in the order of the calls, whichever came first. */
export function chatTurn({ inputs, content, calls }: TakenStep): ChatMessage[] {
  return [...inputs.map(spoken), saidBy(content, calls), ...calls.map(resultOf)]
}

/** A message that no step of the model made. */
export function spoken({ role, content }: MessageRecord): ChatMessage {
  return { role: role === 'assistant' ? 'assistant' : 'user', content }
}

/** The whole conversation as it stands: what the model has not read yet comes last, and open calls have no result. */
export function chatOf({ system, steps, unread }: Conversation): ChatMessage[] {
  return [
    ...system.map(({ content }): ChatMessage => ({ role: 'system', content })),
    ...steps.flatMap(({ inputs, content, calls }) => [
      ...inputs.map(spoken),
      saidBy(content, calls),
      ...calls.filter(({ entry }) => entry?.status === 'completed' || entry?.status === 'failed').map(resultOf),
    ]),
    ...unread.map(spoken),
  ]
}

function saidBy(content: string, calls: TakenStep['calls']): ChatMessage {
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

/** What a model is told of a call (conformance S1-011). */
function resultText(entry: CallRecord | undefined): string {
  if (entry?.status === 'completed')
    return typeof entry.result === 'string' ? entry.result : JSON.stringify(entry.result)
  return `Error: ${entry?.error?.message ?? 'the call has no result'}`
}
