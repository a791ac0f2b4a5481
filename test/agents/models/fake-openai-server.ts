// A server on a loopback port that implements the chat completions protocol on the wire, misbehavior included. Each
// request plays the next turn; an unplanned one is refused and counted.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeToolCall {
  /** Default `call_<n>`, n counting from 1 within the turn. */
  id?: string
  name: string
  /** A text is sent as it is, so that it may be invalid JSON. */
  arguments: string | Record<string, unknown>
}

export interface FakeTurn {
  /** An HTTP error instead of a stream, with `error` as its body. */
  status?: number
  headers?: Record<string, string>
  error?: { message: string; type?: string; code?: string | null } | string
  reasoning?: string
  /** One delta for each text. */
  text?: string | string[]
  /** All at once: their arguments arrive in pieces, in turn. */
  toolCalls?: FakeToolCall[]
  /** Default: `tool_calls` with tool calls, `stop` without; null for a stream that ends without one. */
  finish?: string | null
  /** Sent when the request includes usage; null: never. Default: 10 in, 5 out. */
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null
  /**
   * What happens after the text. `destroy`: the socket is cut; `malformed`: an event that is not JSON; an object: an
   * error event; `hang`: nothing more until `release`. Default: the stream ends normally.
   */
  ending?: 'end' | 'destroy' | 'malformed' | 'hang' | { error: { message: string; type?: string; code?: string } }
}

export interface FakeRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: any
  /** Resolves when the text of its turn has been sent. */
  said: Promise<void>
  /** Resolves when the connection is closed; true if the client closed it before the answer was complete. */
  closed: Promise<boolean>
}

export interface FakeOpenAi extends AsyncDisposable {
  /** With `/v1`. */
  baseURL: string
  requests: FakeRequest[]
  /** Requests beyond the last turn. */
  unplanned: number
  /** Plans more turns. */
  plan(...turns: FakeTurn[]): void
  /** The n-th request, counting from 1, when it arrives. */
  request(number: number): Promise<FakeRequest>
  /** Continues all turns that hang. */
  release(): void
  close(): Promise<void>
}

export type PlayTurn = (request: { body: any; number: number }) => FakeTurn | undefined

/** Turns in the order of the requests, or a function that chooses. */
export async function startFakeOpenAi(turns: FakeTurn[] | PlayTurn = []): Promise<FakeOpenAi> {
  const list = Array.isArray(turns) ? [...turns] : []
  const choose: PlayTurn = Array.isArray(turns) ? () => list.shift() : turns
  const released = Promise.withResolvers<void>()
  const waiting = new Map<number, PromiseWithResolvers<FakeRequest>>()
  const arrival = (number: number) => {
    const known = waiting.get(number) ?? Promise.withResolvers<FakeRequest>()
    waiting.set(number, known)
    return known
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      response.destroy()
      process.emitWarning(`The fake server failed: ${String(error)}`)
    })
  })

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = new Promise<boolean>((resolve) => {
      response.once('close', () => resolve(!response.writableFinished))
    })
    const said = Promise.withResolvers<void>()
    const body = await readBody(incoming)
    const request: FakeRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body,
      said: said.promise,
      closed,
    }
    const number = fake.requests.push(request)
    arrival(number).resolve(request)
    const turn = choose({ body, number })
    if (turn === undefined) fake.unplanned++
    await play(turn ?? unplannedTurn(number), body, response, { said: said.resolve, released: released.promise })
  }

  const fake: FakeOpenAi = {
    baseURL: '',
    requests: [],
    unplanned: 0,
    plan: (...more) => void list.push(...more),
    request: (number) => arrival(number).promise,
    release: () => released.resolve(),
    async close() {
      released.resolve()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
    [Symbol.asyncDispose]: () => fake.close(),
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  fake.baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return fake
}

function unplannedTurn(number: number): FakeTurn {
  return {
    status: 400,
    error: { message: `No answer is planned for request ${number}.`, type: 'invalid_request_error' },
  }
}

async function readBody(incoming: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = []
  for await (const piece of incoming) pieces.push(piece as Buffer)
  const text = Buffer.concat(pieces).toString('utf8')
  return text === '' ? undefined : JSON.parse(text)
}

interface Signals {
  said: () => void
  released: Promise<void>
}

async function play(turn: FakeTurn, body: any, response: ServerResponse, signals: Signals): Promise<void> {
  if (turn.status !== undefined) {
    const text = typeof turn.error === 'string' ? turn.error : JSON.stringify({ error: turn.error })
    response.writeHead(turn.status, { 'content-type': 'application/json', ...turn.headers }).end(text)
    signals.said()
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...turn.headers })
  const send = (data: unknown) =>
    new Promise<void>((resolve) => {
      response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`, () => resolve())
    })
  const delta = (fields: object, finish: string | null = null) =>
    send({ ...frame(body), choices: [{ index: 0, delta: fields, finish_reason: finish }] })

  await delta({ role: 'assistant', content: '' })
  if (turn.reasoning) await delta({ reasoning_content: turn.reasoning })
  for (const text of [turn.text ?? []].flat()) await delta({ content: text })
  for (const calls of toolDeltas(turn.toolCalls ?? [])) await delta({ tool_calls: calls })
  signals.said()

  const { ending = 'end' } = turn
  if (ending === 'hang') await Promise.race([signals.released, once(response, 'close')])
  if (ending === 'destroy') {
    response.socket?.destroy()
    return
  }
  if (ending === 'malformed') await send('{"choices": [')
  else if (typeof ending === 'object') await send(ending)
  const finish = turn.finish === undefined ? (turn.toolCalls?.length ? 'tool_calls' : 'stop') : turn.finish
  if (finish !== null && typeof ending !== 'object') await delta({}, finish)
  if (body?.stream_options?.include_usage && turn.usage !== null) {
    const usage = turn.usage ?? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    await send({ ...frame(body), choices: [], usage })
  }
  if (finish !== null) await send('[DONE]')
  response.end()
}

function frame(body: any): object {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: body?.model ?? 'none' }
}

/** First the names, each call in a delta of its own, then the arguments in pieces of five characters, taking turns. */
function toolDeltas(calls: FakeToolCall[]): object[][] {
  const texts = calls.map((call) =>
    typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  )
  const names = calls.map((call, index) => [
    { index, id: call.id ?? `call_${index + 1}`, type: 'function', function: { name: call.name, arguments: '' } },
  ])
  const longest = Math.max(0, ...texts.map((text) => text.length))
  const pieces: object[][] = []
  for (let from = 0; from < longest; from += 5) {
    for (const [index, text] of texts.entries()) {
      const piece = text.slice(from, from + 5)
      if (piece !== '') pieces.push([{ index, function: { arguments: piece } }])
    }
  }
  return [...names, ...pieces]
}
