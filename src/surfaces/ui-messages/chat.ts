// A chat over HTTP for the user interfaces of the AI SDK: what `useChat` asks for with its default transport, answered by tasks.
import { z } from 'zod'
import type { Caller } from '../../bus/caller.ts'
import { functionOf, parse } from '../../core/parse.ts'
import { maxBodyBytes, readJsonBody } from '../../web/body.ts'
import { problemAnswer, Refusal } from '../../web/problem.ts'
import { isJsonType, onErrorSchema } from '../../web/request-guard.ts'
import { parseChatRequest } from './chat-request.ts'
import { type Answering, ChatTurns, type TurnTask } from './chat-turns.ts'
import { type ChattingEngine, uiMessageResponse } from './ui-message-stream.ts'

/** Who chats. Chats of different owners have nothing to do with each other, whatever their ids. */
export interface ChatUser {
  /** At most 100 characters. */
  owner: string
}

export interface ChatOptions {
  /** Who sends a request; null for somebody unknown, who is answered with 401. `false`, in so many words: everybody is one user. */
  authenticate: ((request: Request) => ChatUser | null | Promise<ChatUser | null>) | false
  /**
   * What the task of a turn is created with: fields of `task:create`, like `model`, `systemPrompt`, `abilities`, `executor`. Its goal
   * is what the user said; that, `key`, `tags` and `blockedBy` are the chat's own. Default: nothing more.
   */
  task?: TurnTask
  /** Largest body of a request, in bytes. Default 1 MiB. */
  bodyLimitBytes?: number
  /** Gets what no client is told: what went wrong inside. Default: nobody. */
  onError?: (error: unknown) => void
}

const ofTheChat = ['goal', 'key', 'tags', 'blockedBy', 'blocked_by']

const optionsSchema = z.strictObject({
  authenticate: z.union([
    z.literal(false),
    functionOf<Exclude<ChatOptions['authenticate'], false>>('(request) => { owner } or null'),
  ]),
  task: z
    .record(z.string(), z.unknown())
    .refine((task) => ofTheChat.every((field) => !(field in task)), `the chat itself gives ${ofTheChat.join(', ')}`)
    .default({}),
  bodyLimitBytes: z.int().min(1).default(maxBodyBytes),
  onError: onErrorSchema,
})
type CheckedOptions = z.output<typeof optionsSchema>

const userSchema = z.strictObject({ owner: z.string().min(1).max(100) })

/**
 * Answers `useChat`, for any server that speaks `Request` and `Response`: POST to the address that the transport was given, and GET at
 * the chat's own below it (`…/{id}/stream`) to go on with an answer that was broken off. An answer is streamed until the task has
 * answered, or asks something: then the user's next message is the answer. What the client says of the conversation before is not
 * believed: that stands in the ledger. A client that hangs up stops nothing.
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
      return problemAnswer(error, checked.onError)
    }
  }
}

async function callerOf(request: Request, { authenticate }: CheckedOptions): Promise<Caller> {
  const caller: Caller = { surface: 'chat', scopes: ['read', 'create', 'control'] }
  if (authenticate === false) return caller
  const given: unknown = await authenticate(request)
  if (given === null) throw new Refusal('UNAUTHENTICATED', 'Credentials are needed.')
  const user = userSchema.safeParse(given)
  // The mistake is not the client's, and must not look like it.
  if (!user.success) throw new Error(`What \`authenticate\` gave is no user: ${z.prettifyError(user.error)}`)
  return { ...caller, owner: user.data.owner }
}

/** Undefined where nothing goes on with the chat that is asked for again. */
async function answeringOf(
  { bus }: ChattingEngine,
  request: Request,
  caller: Caller,
  { bodyLimitBytes, task }: CheckedOptions,
): Promise<Answering | undefined> {
  if (request.method === 'POST') {
    const said = parseChatRequest(await jsonOf(request, bodyLimitBytes))
    return new ChatTurns(bus, caller, said.chatId).say(said, task)
  }
  const [, resumed] = /\/([^/]+)\/stream\/?$/.exec(new URL(request.url).pathname) ?? []
  if (request.method === 'GET' && resumed !== undefined) return new ChatTurns(bus, caller, decoded(resumed)).goingOn()
  throw new Refusal('METHOD_NOT_ALLOWED', 'A chat takes POST, and GET at …/{id}/stream.', {
    headers: { allow: 'GET, POST' },
  })
}

async function jsonOf(request: Request, limitBytes: number): Promise<unknown> {
  // A form on a page elsewhere can send no such type, so it cannot speak in somebody's name.
  if (!isJsonType(request.headers.get('content-type'))) {
    throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON, and its content-type application/json.')
  }
  const body = await readJsonBody(request, limitBytes)
  if ('refused' in body) throw new Refusal(body.refused === 413 ? 'BODY_TOO_LARGE' : 'INVALID_INPUT', body.why)
  return body.json
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Refusal('INVALID_INPUT', 'The address is not well encoded.')
  }
}
