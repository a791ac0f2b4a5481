// A stored error as surfaces show it.
import { z } from 'zod'

export const storedErrorSchema = z.object({
  code: z.string(),
  message: z.string(),
  details: z.unknown().optional(),
  /** No policy tries it again. */
  final: z.literal(true).optional(),
})
