// Parses the request of `useChat`: the id of the chat and the last message of the user. The earlier conversation is in the ledger; the
// client's copy of it is ignored.
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
  /** The client's id of the last message, and its text. */
  messageId: string
  text: string
  isAgain: boolean
}

/** @throws ErrandError INVALID_INPUT, also for parts other than text, which would be lost. */
export function parseChatRequest(json: unknown): ChatRequest {
  const { id, messages, trigger } = parse(bodySchema, json, 'The request of the chat')
  const last = messages.at(-1)
  if (last?.role !== 'user') throw refused('its last message is not the user’s')
  const other = last.parts.find(({ type }) => type !== 'text')
  if (other !== undefined) throw refused(`its last message has a part "${other.type}"; only text is supported`)
  const text = last.parts.map((part) => part.text ?? '').join('\n')
  if (text.trim() === '') throw refused('its last message has no text')
  return { chatId: id, messageId: last.id, text, isAgain: trigger === 'regenerate-message' }
}

function refused(why: string): ErrandError {
  return new ErrandError('INVALID_INPUT', `The request of the chat is not valid: ${why}.`, { why })
}
