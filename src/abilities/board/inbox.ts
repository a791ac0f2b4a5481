// board:inbox: takes one's unread messages.
import { z } from 'zod'
import { readInbox } from '../../board/team/mail.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { asSchema, boardSchema } from './board-input.ts'
import { mailSchema, requireMember } from './team-input.ts'

/** Each message is given once; with `keep` they stay unread. */
export function boardInbox(host: AbilityHost) {
  return defineAbility({
    id: 'board:inbox',
    access: 'read',
    description: 'Takes your unread messages out of your inbox, the oldest first; each comes once.',
    input: z.strictObject({
      as: asSchema.optional(),
      limit: z.int().min(1).max(500).default(50).describe('At most so many. Default 50.'),
      keep: z.boolean().default(false).describe('Only look: they stay unread. Default false.'),
      board: boardSchema,
    }),
    output: z.object({ mail: z.array(mailSchema), more: z.boolean() }),
    handle: ({ board, as, ...wanted }, { caller }) => readInbox(host, board, requireMember(caller, as), wanted),
  })
}
