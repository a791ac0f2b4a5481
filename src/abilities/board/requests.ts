// board:requests: what one has asked and was asked, and what was answered.
import { z } from 'zod'
import { requestsOf } from '../../board/team/handshakes.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { asSchema, boardSchema } from './board-input.ts'
import { requestSchema, requireMember } from './team-input.ts'

export function boardRequests(host: AbilityHost) {
  return defineAbility({
    id: 'board:requests',
    access: 'read',
    description: 'Lists the requests that you sent and were sent, the latest first, with their verdicts.',
    input: z.strictObject({
      as: asSchema.optional(),
      limit: z.int().min(1).max(100).default(50).describe('At most so many. Default 50.'),
      board: boardSchema,
    }),
    output: z.object({ requests: z.array(requestSchema) }),
    handle: async ({ board, as, limit }, { caller }) => ({
      requests: await requestsOf(host, board, requireMember(caller, as), limit),
    }),
  })
}
