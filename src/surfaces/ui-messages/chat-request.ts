// What `useChat` sends, as far as it concerns the server: which chat it is, and what was said last. The conversation before that stands
// in the ledger, and what the client says of it is not believed.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'

const partSchema = z.object({ type: z.string().max(200), text: z.string().optional() })

const bodySchema = z.object({
  id: z.string().min(1).max(200),
  messages: z
    .array(z.object({ id: z.string().min(1).max(200), role: z.string().max(100), parts: z.array(partSchema) }))
    .min(1),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
})

export interface ChatRequest {
  chatId: string
  /** The client's id of what the user said last, and the text. */
  messageId: string
  text: string
  isAgain: boolean
}

/** @throws ErrandError INVALID_INPUT, also for what is no text: nothing of a message is left out in silence. */
export function parseChatRequest(json: unknown): ChatRequest {
  const { id, messages, trigger } = parse(bodySchema, json, 'The request of the chat')
  const last = messages.at(-1)
  if (last?.role !== 'user') throw refused('its last message is not the user’s')
  const other = last.parts.find(({ type }) => type !== 'text')
  if (other !== undefined) throw refused(`its last message has a part "${other.type}", and only text is taken`)
  const text = last.parts.map((part) => part.text ?? '').join('\n')
  if (text.trim() === '') throw refused('its last message has no text')
  return { chatId: id, messageId: last.id, text, isAgain: trigger === 'regenerate-message' }
}

function refused(why: string): ErrandError {
  return new ErrandError('INVALID_INPUT', `The request of the chat is not valid: ${why}.`, { why })
}
