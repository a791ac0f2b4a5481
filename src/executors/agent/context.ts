// The conversation as a model reads it: its instructions, then step by step what it saw, what it said and what its calls came
// to. Results stand in the order of the calls, whichever finished first (conformance S1-048).
import { chatTurn, spoken } from '../../entities/chat-message.ts'
import type { Conversation } from '../../entities/conversation.ts'
import type { MessageRecord } from '../../entities/message.ts'
import type { ModelMessage } from '../../models/step-schema.ts'

/** `inputs` are what the model has not seen yet and is to see now. */
export function contextOf(
  conversation: Conversation,
  inputs: readonly MessageRecord[],
  notes: readonly string[],
): ModelMessage[] {
  const instructions = [...conversation.system.map(({ content }) => content), ...notes].join('\n\n')
  return [
    ...(instructions === '' ? [] : [{ role: 'system' as const, content: instructions }]),
    ...conversation.steps.flatMap(chatTurn),
    ...inputs.map(spoken),
  ]
}
