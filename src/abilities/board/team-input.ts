// Pieces of input and output that the abilities of a team have in common.
import { z } from 'zod'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../errors.ts'
import { asSchema, nameOf } from './board-input.ts'

/** Longest body of a message, in characters. */
const longestBody = 65_536

export const memberSchema = asSchema
  .refine((name) => name !== '*', { message: 'a message goes to one member: send it to each of them by name' })
  .describe('Name of the member.')
export const topicSchema = z.string().trim().min(1).max(100)
export const bodySchema = z.string().max(longestBody)
export const requestIdSchema = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .describe('Id of the request, as it stands in the mail.')

const verdictSchema = z.enum(['pending', 'approved', 'rejected'])

export const mailSchema = z.object({
  id: z.string(),
  from: z.string(),
  kind: z.enum(['message', 'request', 'response']),
  topic: z.string().optional(),
  body: z.string(),
  requestId: z.string().optional(),
  verdict: verdictSchema.optional(),
  sentAt: z.number(),
})

export const requestSchema = z.object({
  requestId: z.string(),
  from: z.string(),
  to: z.string(),
  topic: z.string(),
  body: z.string(),
  verdict: verdictSchema,
  sentAt: z.number(),
})

/**
 * In whose name mail is sent and read: a model's in that of its task, whatever it says.
 * @throws ErrandError INVALID_INPUT where nobody says whose.
 */
export function requireMember(caller: Caller, as: string | undefined): string {
  const name = nameOf(caller, as)
  if (name !== undefined) return name
  throw new ErrandError('INVALID_INPUT', 'Mail is between members: say who you are with `as`.', { field: 'as' })
}
