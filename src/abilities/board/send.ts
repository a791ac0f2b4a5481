// board:send: a message to a member of the team.
import { z } from 'zod'
import { sendMail } from '../../board/team/mail.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { asSchema, boardSchema } from './board-input.ts'
import { bodySchema, memberSchema, requireMember, topicSchema } from './team-input.ts'

/** It lies in the inbox of that name, whether anybody has it yet or not. */
export function boardSend(host: AbilityHost) {
  return defineAbility({
    id: 'board:send',
    access: 'control',
    description: 'Sends a message to a member of the team, who finds it in the inbox.',
    input: z.strictObject({
      to: memberSchema,
      body: bodySchema.min(1),
      topic: topicSchema.optional(),
      as: asSchema.optional(),
      board: boardSchema,
    }),
    output: z.object({ id: z.string() }),
    handle: async ({ board, as, ...letter }, { caller }) => ({
      id: await sendMail(host, board, requireMember(caller, as), letter),
    }),
  })
}
