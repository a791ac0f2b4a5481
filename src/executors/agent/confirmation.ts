// A call that a person has to approve: what is asked, and what an answer may be.
import { z } from 'zod'
import type { Ability } from '../../bus/ability.ts'

export const confirmAnswerSchema = z.strictObject({
  approved: z.boolean(),
  reason: z.string().optional(),
  /** Given to the ability in place of what the model gave. */
  input: z.unknown().optional(),
})

const mostShown = 2_000

/** The ability's own question, or one made of its description; what would be given stands below it. */
export function confirmQuestion(
  { id, ability }: { id: string; ability: Ability | undefined },
  given: Record<string, unknown>,
): string {
  const own =
    typeof ability?.confirm === 'string'
      ? ability.confirm
      : `May ${id} be called? It says of itself: ${ability?.description}`
  const text = JSON.stringify(given, null, 2)
  return `${own}\n\n${text.length > mostShown ? `${text.slice(0, mostShown)}…` : text}`
}
