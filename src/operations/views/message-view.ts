// A message as the abilities return it.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { type MessageRecord, messageRoles } from '../../entities/message.ts'

export const ledgerMessageSchema = once(() =>
  z.object({
    id: z.string(),
    taskId: z.string(),
    role: z.enum(messageRoles),
    content: z.string(),
    /** Epoch milliseconds: when the message was completed or received. */
    timestamp: z.number(),
    /** True for a message to people that no model reads. */
    announcement: z.boolean(),
  }),
)
export type LedgerMessage = z.output<ReturnType<typeof ledgerMessageSchema>>

export function toLedgerMessage({ id, taskId, role, content, timestamp, announcement }: MessageRecord): LedgerMessage {
  return { id, taskId, role, content, timestamp, announcement }
}
