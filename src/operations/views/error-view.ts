// A stored error as surfaces return it.
import { z } from 'zod'
import { once } from '../../core/once.ts'

export const storedErrorSchema = once(() =>
  z.object({
    code: z.string(),
    message: z.string(),
    details: z.unknown().optional(),
    /** No retry policy applies. */
    final: z.literal(true).optional(),
  }),
)

/** With the class, the stack and the chain of causes (a `StoredCause`) of what was thrown: for programs and people, not for models. */
export const thrownErrorSchema = once(() =>
  storedErrorSchema().extend({
    name: z.string().optional(),
    brand: z.enum(['ErrandError', 'Failure']).optional(),
    fields: z.record(z.string(), z.unknown()).optional(),
    thrown: z.object({ value: z.unknown().optional() }).optional(),
    stack: z.string().optional(),
    cause: z.unknown().optional(),
  }),
)
