// A call as the ledger abilities show it: parameters and details as JSON text (conformance S0-011…S0-017).
import { z } from 'zod'
import { type CallRecord, callStatuses } from '../../../entities/call.ts'

export const ledgerCallSchema = z.object({
  id: z.string(),
  taskId: z.string(),
  /** The id of the ability, or the name that an executor gave its call. */
  abilityName: z.string(),
  /** JSON text of the arguments. */
  parameters: z.string(),
  status: z.enum(callStatuses),
  /** JSON text: what it noted while it runs (`{}` at first), then its result, or `{ error, stack }` when it failed. */
  details: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** The message that tells of its beginning; null for a call of which nobody was told. */
  startMessageId: z.string().nullable(),
  /** The message that tells of its end; absent until then. */
  endMessageId: z.string().optional(),
})
export type LedgerCall = z.output<typeof ledgerCallSchema>

export function toLedgerCall(call: CallRecord): LedgerCall {
  return {
    id: call.id,
    taskId: call.taskId,
    abilityName: call.name,
    parameters: JSON.stringify(call.params ?? {}),
    status: call.status,
    details: JSON.stringify(detailsOf(call)),
    createdAt: call.createdAt,
    updatedAt: call.updatedAt,
    startMessageId: call.startMessageId,
    ...(call.endMessageId === null ? {} : { endMessageId: call.endMessageId }),
  }
}

function detailsOf({ status, result, error, details }: CallRecord): unknown {
  if (status === 'completed') return result
  if (status !== 'failed') return details ?? {}
  const stack = error?.stack ?? (details as { stack?: unknown } | null)?.stack
  return { error: error?.message ?? 'failed', ...(typeof stack === 'string' ? { stack } : {}) }
}
