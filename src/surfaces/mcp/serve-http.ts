// The endpoint as a server of its own, over node:http: it listens where it was told, on loopback by default, and keeps a client
// from holding it up with headers or a body that never end.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { ErrandError } from '../../errors.ts'
import { parse } from '../../parse.ts'
import { createFetchHandler, type McpFetchHandler } from './fetch-handler.ts'
import { loopbackHosts, refusal, refusedAtTheDoor } from './http-door.ts'
import { loadSdk } from './load-sdk.ts'
import { type CheckedFetchOptions, httpOptionsSchema, type McpHttpOptions, type ServedEngine } from './mcp-options.ts'

export interface McpHttpServer {
  /** Where clients connect to. */
  readonly url: string
  /** Ends what is under way, and all sessions. Tasks go on; the engine stays open. */
  close(): Promise<void>
}

const endpoint = '/mcp'
const loopbackAddresses = ['127.0.0.1', 'localhost', '::1']
const largestHeaders = 16 * 1024
/** Until the headers, and until the whole request, must be there. */
const headersTimeoutMs = 10_000
const requestTimeoutMs = 30_000

/**
 * Serves the abilities of an engine over HTTP, at `/mcp`. Resolves when it listens.
 *
 * @example
 * const server = await serveMcpHttp(engine, { token: process.env.ERRAND_TOKEN })
 * console.log(server.url) // http://127.0.0.1:41873/mcp
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT; NOT_OFFERED when the package of the protocol is not installed; FORBIDDEN for
 *   an address that others can reach, without a token. What the system says of an address that it does not give.
 */
export async function serveMcpHttp(engine: ServedEngine, options: McpHttpOptions): Promise<McpHttpServer> {
  const { host, port: wantedPort, ...checked } = parse(httpOptionsSchema, options, 'serveMcpHttp')
  if (checked.token === false && !loopbackAddresses.includes(host)) {
    throw new ErrandError(
      'FORBIDDEN',
      `Serving at ${host} without a token would let everybody on the network call. Give a token, or serve at 127.0.0.1.`,
      { host },
    )
  }
  await loadSdk()
  // Only now: node:http leaves its mark on the globals of whoever merely imports it.
  const { createServer } = await import('node:http')
  const server = createServer({
    maxHeaderSize: largestHeaders,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
  })
  const port = await listen(server, host, wantedPort)
  const name = host.includes(':') ? `[${host}]` : host.toLowerCase()
  const allowedHosts = checked.allowedHosts ?? [...new Set([...loopbackHosts(port), `${name}:${port}`])]
  const settings: CheckedFetchOptions = { ...checked, allowedHosts }
  const handler = createFetchHandler(engine, settings)
  server.on('request', (request, response) => {
    serveOne(request, response, handler, settings).catch((error: unknown) => {
      checked.onError(error)
      response.destroy()
    })
  })
  return {
    url: `http://${name}:${port}${endpoint}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await handler.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

async function serveOne(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handler: McpFetchHandler,
  options: CheckedFetchOptions,
): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const request = toRequest(incoming, gone.signal)
  await send(await answer(request, handler, options), outgoing, gone.signal)
}

/** Whoever may not come in does not hear what there is. */
async function answer(request: Request, handler: McpFetchHandler, options: CheckedFetchOptions): Promise<Response> {
  if (new URL(request.url).pathname === endpoint) return handler(request)
  return refusedAtTheDoor(request, options) ?? refusal(404, `The endpoint is ${endpoint}.`)
}

/** The host of the URL means nothing: it is judged by its header. */
function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const each of [value ?? []].flat()) headers.append(name, each)
  }
  const method = incoming.method ?? 'GET'
  const path = URL.canParse(incoming.url ?? '/', 'http://localhost') ? (incoming.url as string) : '/'
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(new URL(path, 'http://localhost'), {
    method,
    headers,
    signal,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' } : {}),
  } as RequestInit)
}

/** A client that hangs up ends the stream; that is no error. */
async function send(response: Response, outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) {
    outgoing.end()
    return
  }
  try {
    await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing)
  } catch (error) {
    if (!gone.aborted) throw error
  }
}
