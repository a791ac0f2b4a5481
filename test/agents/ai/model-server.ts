// A small server of the chat completions protocol on the loopback interface, for the SDK's own provider. Like a real
// one it keeps nothing between requests: it answers by the conversation in the request.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface ChatRequest {
  stream?: boolean
  messages: Array<{ role: string; content?: unknown; tool_calls?: unknown; tool_call_id?: string }>
}

export type ChatTurn = string | Array<{ id: string; name: string; input: object }>

export interface ModelServer {
  baseURL: string
  /** Every received request. */
  requests: ChatRequest[]
  /** Every request that was answered to its end. */
  answered: ChatRequest[]
  /** Faults by request number, from 0, in place of an answer: a status, or silence. Once. */
  faults: Map<number, number | 'silence'>
  /** Resolves when so many requests have arrived. */
  asked(count: number): Promise<void>
}

/** `turns[n]` answers a conversation with n answers of the assistant. Closed after the test. */
export async function startModelServer(turns: ChatTurn[]): Promise<ModelServer> {
  const [requests, answered]: [ChatRequest[], ChatRequest[]] = [[], []]
  const faults: ModelServer['faults'] = new Map()
  const listeners = new Set<() => void>()
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const fault = faults.get(requests.push(body) - 1)
      for (const listener of listeners) listener()
      if (fault === 'silence') return
      if (fault === undefined) {
        answer(
          response,
          body,
          turns[body.messages.filter(({ role }) => role === 'assistant').length] ?? 'Nothing more.',
        )
        answered.push(body)
      } else {
        response.writeHead(fault, { 'content-type': 'application/json', 'retry-after-ms': '1' })
        response.end(JSON.stringify({ error: { message: 'Not now.' } }))
      }
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    answered,
    faults,
    asked: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (requests.length >= count) resolve()
        }
        listeners.add(look)
        look()
      }),
  }
}

async function readBody(request: IncomingMessage): Promise<ChatRequest> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return JSON.parse(text) as ChatRequest
}

const head = { id: 'chat-1', created: 1_700_000_000, model: 'local-1' }
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

function answer(response: ServerResponse, { stream }: ChatRequest, turn: ChatTurn): void {
  const message =
    typeof turn === 'string'
      ? { role: 'assistant', content: turn }
      : {
          role: 'assistant',
          content: null,
          tool_calls: turn.map(({ id, name, input }, index) => ({
            index,
            id,
            type: 'function',
            function: { name, arguments: JSON.stringify(input) },
          })),
        }
  const finish_reason = typeof turn === 'string' ? 'stop' : 'tool_calls'
  if (stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage }),
    )
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const pieces =
    typeof turn === 'string' ? turn.split(/(?<= )/).map((content) => ({ role: 'assistant', content })) : [message]
  for (const delta of pieces) send(response, { choices: [{ index: 0, delta, finish_reason: null }] })
  send(response, { choices: [{ index: 0, delta: {}, finish_reason }], usage })
  response.end('data: [DONE]\n\n')
}

function send(response: ServerResponse, chunk: object): void {
  response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...chunk })}\n\n`)
}
