// board:request: asks a member of the team for a yes or a no.
import { z } from 'zod'
import { sendRequest } from '../../board/team/handshakes.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { asSchema, boardSchema } from './board-input.ts'
import { bodySchema, memberSchema, requireMember, topicSchema } from './team-input.ts'

/** It arrives in the inbox with its `requestId`, and so does its answer. */
export function boardRequest(host: AbilityHost) {
  return defineAbility({
    id: 'board:request',
    access: 'control',
    description: 'Asks a member of the team for a yes or a no; the answer comes to your inbox with the same requestId.',
    input: z.strictObject({
      to: memberSchema,
      topic: topicSchema.describe('What it is about: shutdown, plan_approval, or a word of your own.'),
      body: bodySchema.default('').describe('The plan that is to be approved, say.'),
      as: asSchema.optional(),
      board: boardSchema,
    }),
    output: z.object({ requestId: z.string() }),
    handle: async ({ board, as, ...letter }, { caller }) => ({
      requestId: await sendRequest(host, board, requireMember(caller, as), letter),
    }),
  })
}
