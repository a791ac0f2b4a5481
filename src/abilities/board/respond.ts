// board:respond: the yes or the no to a request.
import { z } from 'zod'
import { answerRequest } from '../../board/team/handshakes.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { asSchema } from './board-input.ts'
import { bodySchema, requestIdSchema, requestSchema, requireMember } from './team-input.ts'

/** Only whom it was sent to answers it, and once. */
export function boardRespond(host: AbilityHost) {
  return defineAbility({
    id: 'board:respond',
    access: 'control',
    description: 'Answers a request that you were sent: yes or no, once, with words if need be.',
    input: z.strictObject({
      requestId: requestIdSchema,
      approve: z.boolean(),
      body: bodySchema.default(''),
      as: asSchema.optional(),
    }),
    output: z.object({ request: requestSchema }),
    handle: async ({ as, ...answer }, { caller }) => ({
      request: await answerRequest(host, requireMember(caller, as), answer),
    }),
  })
}
