// The abilities for members of a board: mail, requests that are answered yes or no, and waiting for mail or a task.
import { z } from 'zod'
import type { Caller } from '../../bus/caller.ts'
import { durationSchema } from '../../core/duration-schema.ts'
import { ErrandError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import { asSchema, nameOf, requireName } from '../../operations/acting-as.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { maxWaitMs } from '../team/await-work.ts'
import { answerRequest, requestSchema, requestsOf, sendRequest } from '../team/handshakes.ts'
import { readInbox, returnMail, sendMail, verdictSchema } from '../team/mail.ts'
import { giveBackWork, waitForWork } from '../team/wait-for-work.ts'
import { boardSchema, boardTaskSchema, idsAmong, nextClaimShape, undelivered } from './board-input.ts'

/** Maximum length of a message body, in characters. */
const maxBodyLength = 65_536

const memberSchema = asSchema
  .refine((name) => name !== '*', { message: 'a message goes to one member: send it to each of them by name' })
  .describe('Name of the member.')
const topicSchema = once(() => z.string().trim().min(1).max(100))
const bodySchema = once(() => z.string().max(maxBodyLength))

const mailSchema = once(() =>
  z.object({
    id: z.string(),
    from: z.string(),
    kind: z.enum(['message', 'request', 'response']),
    topic: z.string().optional(),
    body: z.string(),
    requestId: z.string().optional(),
    verdict: verdictSchema().optional(),
    sentAt: z.number(),
  }),
)

/**
 * The name under which mail is sent and read. For a model it is the name of its task, whatever `as` says.
 * @throws ErrandError INVALID_INPUT when there is no name.
 */
function requireMember(caller: Caller, as: string | undefined): string {
  const name = nameOf(caller, as)
  if (name !== undefined) return name
  throw new ErrandError('INVALID_INPUT', 'Mail requires the name of a member: set `as`.', { field: 'as' })
}

/** The message is stored under the name, whether or not a member uses it yet. */
export const boardSend = defineOperation({
  id: 'board:send',
  access: 'control',
  description: 'Sends a message to the inbox of a team member.',
  input: () =>
    z.strictObject({
      to: memberSchema,
      body: bodySchema().min(1),
      topic: topicSchema().optional(),
      as: asSchema.optional(),
      board: boardSchema,
    }),
  output: () => z.object({ id: z.string() }),
  handle: async ({ board, as, ...letter }, { caller }, host) => ({
    id: await sendMail(host, board, requireMember(caller, as), letter),
  }),
})

/** Each message is returned once. With `keep` messages stay unread. */
export const boardInbox = defineOperation({
  id: 'board:inbox',
  access: 'read',
  description: 'Returns your unread messages, oldest first, and marks them as read.',
  input: () =>
    z.strictObject({
      as: asSchema.optional(),
      limit: z.int().min(1).max(500).default(50).describe('Maximum number of messages. Default 50.'),
      keep: z.boolean().default(false).describe('Leave the messages unread. Default false.'),
      board: boardSchema,
    }),
  output: () => z.object({ mail: z.array(mailSchema()), more: z.boolean() }),
  handle: async ({ board, as, ...options }, { caller, onUndelivered }, host) => {
    const reader = requireMember(caller, as)
    const inbox = await readInbox(host, board, reader, options)
    if (!options.keep && inbox.mail.length > 0) onUndelivered?.(() => returnMail(host, board, reader, inbox.mail))
    return inbox
  },
})

/** The request and its answer arrive in the inboxes with the same `requestId`. */
export const boardRequest = defineOperation({
  id: 'board:request',
  access: 'control',
  description:
    'Sends a request to a team member, who answers yes or no. The answer arrives in your inbox with the same requestId.',
  input: () =>
    z.strictObject({
      to: memberSchema,
      topic: topicSchema().describe('The topic: shutdown, plan_approval, or your own.'),
      body: bodySchema().default('').describe('Details, for example the plan to approve.'),
      as: asSchema.optional(),
      board: boardSchema,
    }),
  output: () => z.object({ requestId: z.string() }),
  handle: async ({ board, as, ...letter }, { caller }, host) => ({
    requestId: await sendRequest(host, board, requireMember(caller, as), letter),
  }),
})

/** Only the recipient can answer, and only once. */
export const boardRespond = defineOperation({
  id: 'board:respond',
  access: 'control',
  description:
    'Answers a request that you received with yes or no and an optional message. A request is answered once.',
  input: () =>
    z.strictObject({
      requestId: z.string().trim().min(1).max(100).describe('Id of the request, from the message.'),
      approve: z.boolean(),
      body: bodySchema().default(''),
      as: asSchema.optional(),
    }),
  output: () => z.object({ request: requestSchema() }),
  handle: async ({ as, ...answer }, { caller }, host) => ({
    request: await answerRequest(host, requireMember(caller, as), answer),
  }),
})

export const boardRequests = defineOperation({
  id: 'board:requests',
  access: 'read',
  description: 'Lists the requests that you sent or received, latest first, with their verdicts.',
  input: () =>
    z.strictObject({
      as: asSchema.optional(),
      limit: z.int().min(1).max(100).default(50).describe('Maximum number of requests. Default 50.'),
      board: boardSchema,
    }),
  output: () => z.object({ requests: z.array(requestSchema()) }),
  handle: async ({ board, as, limit }, { caller }, host) => ({
    requests: await requestsOf(host, board, requireMember(caller, as), limit),
  }),
})

/** Checks the inbox first, then the board. A returned task is claimed; nothing is claimed for a caller that has disconnected. */
export const boardWait = defineOperation({
  id: 'board:wait',
  access: 'read',
  description:
    'Waits for mail or for a task that you can claim, and returns the mail or claims the task. kind is mail, task, or idle after the time-out.',
  input: () =>
    z.strictObject({
      ...nextClaimShape(),
      pollMs: durationSchema({ min: 50, max: maxWaitMs })
        .default(5_000)
        .describe('Maximum time between two checks, in milliseconds; changes are noticed earlier. Default 5,000.'),
      timeoutMs: durationSchema({ max: maxWaitMs })
        .default(30_000)
        .describe('Time-out in milliseconds. Default 30,000.'),
      board: boardSchema,
    }),
  output: () =>
    z.object({
      kind: z.enum(['mail', 'task', 'idle']),
      mail: z.array(mailSchema()).optional(),
      more: z.boolean().optional(),
      task: boardTaskSchema().optional(),
    }),
  scope: ({ parent }) => idsAmong(parent),
  handle: async ({ board, as, pollMs, timeoutMs, ...options }, { caller, signal, onUndelivered }, host) => {
    const next = { ...options, as: requireName(caller, as), source: caller.surface }
    const work = await waitForWork(host, { board, caller }, next, { pollMs, timeoutMs }, signal)
    onUndelivered?.(() => giveBackWork(host, { board, caller }, work, next, undelivered))
    return work
  },
})
