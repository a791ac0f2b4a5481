// A stored error as surfaces return it.
import { z } from 'zod'

export const storedErrorSchema = z.object({
  code: z.string(),
  message: z.string(),
  details: z.unknown().optional(),
  /** No retry policy applies. */
  final: z.literal(true).optional(),
})
