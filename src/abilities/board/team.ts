// The members of a board among themselves: mail, requests that want a yes or a no, and waiting for mail or for a task.
import { z } from 'zod'
import { maxWaitMs } from '../../board/team/await-work.ts'
import { answerRequest, requestSchema, requestsOf, sendRequest } from '../../board/team/handshakes.ts'
import { readInbox, sendMail, verdictSchema } from '../../board/team/mail.ts'
import { waitForWork } from '../../board/team/wait-for-work.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import type { AbilityHost } from '../ability-host.ts'
import { asSchema, boardSchema, boardTaskSchema, idsAmong, nameOf, nextClaimShape, requireName } from './board-input.ts'

/** Longest body of a message, in characters. */
const maxBodyLength = 65_536

const memberSchema = asSchema
  .refine((name) => name !== '*', { message: 'a message goes to one member: send it to each of them by name' })
  .describe('Name of the member.')
const topicSchema = z.string().trim().min(1).max(100)
const bodySchema = z.string().max(maxBodyLength)

const mailSchema = z.object({
  id: z.string(),
  from: z.string(),
  kind: z.enum(['message', 'request', 'response']),
  topic: z.string().optional(),
  body: z.string(),
  requestId: z.string().optional(),
  verdict: verdictSchema.optional(),
  sentAt: z.number(),
})

/**
 * In whose name mail is sent and read: a model's in that of its task, whatever it says.
 * @throws ErrandError INVALID_INPUT where nobody says whose.
 */
function requireMember(caller: Caller, as: string | undefined): string {
  const name = nameOf(caller, as)
  if (name !== undefined) return name
  throw new ErrandError('INVALID_INPUT', 'Mail is between members: say who you are with `as`.', { field: 'as' })
}

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

/** Only whom it was sent to answers it, and once. */
export function boardRespond(host: AbilityHost) {
  return defineAbility({
    id: 'board:respond',
    access: 'control',
    description: 'Answers a request that you were sent: yes or no, once, with words if need be.',
    input: z.strictObject({
      requestId: z.string().trim().min(1).max(100).describe('Id of the request, as it stands in the mail.'),
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

const waitSchema = z.number().max(maxWaitMs)

/** The inbox first, then the board. A task that comes back is claimed; for a caller that has gone nothing is. */
export function boardWait(host: AbilityHost) {
  return defineAbility({
    id: 'board:wait',
    access: 'read',
    description:
      'Waits until there is mail for you or a task that you may claim, and takes it: kind is mail, task, or idle when nothing came.',
    input: z.strictObject({
      ...nextClaimShape,
      pollMs: waitSchema
        .min(50)
        .default(5_000)
        .describe('Looks at least so often, beside whatever wakes it. Default 5,000.'),
      timeoutMs: waitSchema.min(0).default(30_000).describe('Gives up after so many milliseconds. Default 30,000.'),
      board: boardSchema,
    }),
    output: z.object({
      kind: z.enum(['mail', 'task', 'idle']),
      mail: z.array(mailSchema).optional(),
      more: z.boolean().optional(),
      task: boardTaskSchema.optional(),
    }),
    scope: ({ parent }) => idsAmong(parent),
    handle: ({ board, as, pollMs, timeoutMs, ...wanted }, { caller, signal }) => {
      const next = { ...wanted, as: requireName(caller, as), source: caller.surface }
      return waitForWork(host, { board, caller }, next, { pollMs, timeoutMs }, signal)
    },
  })
}
