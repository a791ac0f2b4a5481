// A chat over HTTP for the user interfaces of the AI SDK: answers the requests of `useChat` and its default transport with tasks.
import { z } from 'zod'
import type { Caller } from '../../bus/caller.ts'
import { functionOf, parse } from '../../core/parse.ts'
import { toResponse } from '../web/answer.ts'
import { codeOfRefusedBody, maxBodyBytes, readJsonBody } from '../web/body.ts'
import { problemAnswer, Refusal } from '../web/problem.ts'
import { isJsonType, onErrorSchema } from '../web/request-guard.ts'
import { FetchedRequest } from '../web/served-request.ts'
import { parseChatRequest } from './chat-request.ts'
import { type Answering, ChatTurns, type TurnTask } from './chat-turns.ts'
import { type ChattingEngine, uiMessageResponse } from './ui-message-stream.ts'

/** The user of a chat. Chats of different owners are separate, even if their ids are equal. */
export interface ChatUser {
  /** At most 100 characters. */
  owner: string
}

export interface ChatOptions {
  /** Identifies the user of a request; null is answered with 401. With `false` all clients are one user. */
  authenticate: ((request: Request) => ChatUser | null | Promise<ChatUser | null>) | false
  /**
   * Fields of `task:create` for the task of each turn, like `model`, `systemPrompt`, `abilities`, `executor`. The chat itself sets the goal
   * (the user's message), `key`, `tags` and `blockedBy`. Default: none.
   */
  task?: TurnTask
  /** Maximum size of a request body, in bytes. Default 1 MiB. */
  bodyLimitBytes?: number
  /** Receives internal errors, which are not sent to clients. Default: none. */
  onError?: (error: unknown) => void
}

const reservedFields = ['goal', 'key', 'tags', 'blockedBy', 'blocked_by']

const optionsSchema = z.strictObject({
  authenticate: z.union([
    z.literal(false),
    functionOf<Exclude<ChatOptions['authenticate'], false>>('(request) => { owner } or null'),
  ]),
  task: z
    .record(z.string(), z.unknown())
    .refine(
      (task) => reservedFields.every((field) => !(field in task)),
      `the chat itself sets ${reservedFields.join(', ')}`,
    )
    .default({}),
  bodyLimitBytes: z.int().min(1).default(maxBodyBytes),
  onError: onErrorSchema,
})
type CheckedOptions = z.output<typeof optionsSchema>

const userSchema = z.strictObject({ owner: z.string().min(1).max(100) })

/**
 * Answers `useChat`, for any server with `Request` and `Response`: POST to the address of the transport, and GET at `…/{id}/stream` below
 * it to resume an interrupted response. A response is streamed until the task has answered or asks a question, which the user's next
 * message answers. The conversation is read from the ledger, not from the client. A client that disconnects does not stop the task.
 *
 * @example
 * const chat = createChat(engine, { authenticate: userOf, task: { systemPrompt: 'You are brief.' } })
 * app.all('/api/chat/*', ({ req }) => chat(req.raw)) // new DefaultChatTransport({ api: '/api/chat' })
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT
 */
export function createChat(engine: ChattingEngine, options: ChatOptions): (request: Request) => Promise<Response> {
  const checked = parse(optionsSchema, options, 'createChat')
  return async (request) => {
    try {
      const caller = await callerOf(request, checked)
      const answering = await answeringOf(engine, request, caller, checked)
      if (answering === undefined) return new Response(null, { status: 204 })
      const { taskId, after } = answering
      return uiMessageResponse(engine, taskId, { after, signal: request.signal, caller, onError: checked.onError })
    } catch (error) {
      return toResponse(problemAnswer(error, checked.onError))
    }
  }
}

async function callerOf(request: Request, { authenticate }: CheckedOptions): Promise<Caller> {
  const caller: Caller = { surface: 'chat', scopes: ['read', 'create', 'control'] }
  if (authenticate === false) return caller
  const given: unknown = await authenticate(request)
  if (given === null) throw new Refusal('UNAUTHENTICATED', 'Credentials are required.')
  const user = userSchema.safeParse(given)
  // Not the client's fault, so it must not look like a refusal of its credentials.
  if (!user.success) throw new Error(`\`authenticate\` did not return a user or null: ${z.prettifyError(user.error)}`)
  return { ...caller, owner: user.data.owner }
}

/** Undefined if there is no active turn to resume. */
async function answeringOf(
  { bus }: ChattingEngine,
  request: Request,
  caller: Caller,
  { bodyLimitBytes, task }: CheckedOptions,
): Promise<Answering | undefined> {
  if (request.method === 'POST') {
    const chatRequest = parseChatRequest(await jsonOf(request, bodyLimitBytes))
    return new ChatTurns(bus, caller, chatRequest.chatId).send(chatRequest, task)
  }
  const [, resumed] = /\/([^/]+)\/stream\/?$/.exec(new URL(request.url).pathname) ?? []
  if (request.method === 'GET' && resumed !== undefined)
    return new ChatTurns(bus, caller, decoded(resumed)).activeTurn()
  throw new Refusal('METHOD_NOT_ALLOWED', 'A chat supports POST, and GET at …/{id}/stream.', {
    headers: { allow: 'GET, POST' },
  })
}

async function jsonOf(request: Request, limitBytes: number): Promise<unknown> {
  // Forms of other sites cannot send this content type, so they cannot act for a user.
  if (!isJsonType(request.headers.get('content-type'))) {
    throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON with the content type application/json.')
  }
  const body = await readJsonBody(new FetchedRequest(request), limitBytes)
  if ('refused' in body) throw new Refusal(codeOfRefusedBody(body), body.why)
  return body.json
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Refusal('INVALID_INPUT', 'The path is not correctly URL-encoded.')
  }
}
