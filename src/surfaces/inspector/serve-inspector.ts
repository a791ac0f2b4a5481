// The relay as a server on this machine: who may connect is judged before a connection becomes a WebSocket.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { z } from 'zod'
import { type Clock, systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import type { RedactFunction } from '../../core/redact.ts'
import type { Engine } from '../../engine-api.ts'
import { createInvalidCredentialLimit } from '../../web/credentials.ts'
import { listen } from '../../web/node-server.ts'
import type { RateLimit } from '../../web/rate-limit.ts'
import {
  bearerIn,
  hostsAt,
  isLoopbackAddress,
  isSameSecret,
  listenAddressShape,
  makeToken,
  type RequestGuardOptions,
  refuseRequest,
  requestGuardShape,
} from '../../web/request-guard.ts'
import { loadWebSockets } from './load-ws.ts'
import { createRedactor, redactSchema } from './redact.ts'
import { Relay } from './relay.ts'
import { maxProducedBytes } from './wire.ts'

/** What of an engine is inspected. */
export type InspectedEngine = Pick<Engine, 'inspect'>

export interface InspectorOptions {
  /** The address to listen at, of this machine alone: 127.0.0.1 (the default), localhost or ::1. */
  host?: string
  /** Default 0: a free one. */
  port?: number
  /** What receivers and programs must know: 16 to 200 letters, digits and . _ ~ -. Default: one of 256 bits of chance. */
  token?: string
  /**
   * What else is not to leave the process, beside what lies under keys that speak of tokens, secrets, passwords, API keys, credentials,
   * authorization and cookies: keys (texts, in full and in any case, or regular expressions), or a function that gets every value with its
   * place in the message and returns what is told instead.
   */
  redact?: RedactFunction | ReadonlyArray<string | RegExp> | undefined
  /** How many of the last messages a new receiver is told. Default 200. */
  historySize?: number
  /** `own` (the default): what this engine works on. `all`: every open task of the ledger, at most 1,000. */
  tasks?: 'own' | 'all'
  /** Values of the `Origin` header that are served: web pages on other ports. Default: none. */
  allowedOrigins?: readonly string[]
  /** Default: the system's. */
  clock?: Clock
}

export const inspectorOptionsSchema = z.strictObject({
  ...listenAddressShape,
  token: z
    .string()
    .regex(/^[\w.~-]{16,200}$/, 'expected 16 to 200 letters, digits and . _ ~ -')
    .optional(),
  redact: redactSchema.optional(),
  historySize: z.int().min(0).max(10_000).default(200),
  tasks: z.enum(['own', 'all']).default('own'),
  allowedOrigins: requestGuardShape.allowedOrigins,
  clock: z
    .custom<Clock>((value) => typeof (value as Clock | undefined)?.setTimeout === 'function', 'expected a Clock')
    .default(systemClock),
})

export interface InspectorServer {
  /** What receivers and programs connect to, the token included: `ws://127.0.0.1:41873/?token=…`. */
  readonly url: string
  readonly token: string
  /** Ends all connections and lets go of the engine, which stays open. */
  close(): Promise<void>
}

/** Receivers and programs at once. */
const maxConnections = 64

/**
 * Serves what the actors of an engine do to inspectors on this machine, in the format of `@statelyai/inspect`: its
 * `createWebSocketReceiver({ server: url })` receives, and a program whose `inspect` is its `createWebSocketInspector({ url })` is seen by the
 * same receivers. Everything is redacted before it leaves. The engine tells nothing until a receiver is there. `null` for no engine:
 * then only other programs are relayed.
 *
 * @example
 * const inspector = await serveInspector(engine)
 * console.log(inspector.url) // ws://127.0.0.1:41873/?token=…
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT; NOT_OFFERED when the package `ws` is not installed; FORBIDDEN for an address that
 *   other machines can reach. What the system says of an address that it does not give.
 */
export async function serveInspector(
  engine: InspectedEngine | null,
  options: InspectorOptions = {},
): Promise<InspectorServer> {
  const {
    host,
    port,
    token = makeToken(),
    tasks,
    allowedOrigins,
    ...rest
  } = parse(inspectorOptionsSchema, options, 'serveInspector')
  if (!isLoopbackAddress(host)) throw otherMachines(host)
  const { WebSocketServer } = await loadWebSockets()
  const relay = new Relay({
    attach: engine === null ? undefined : (tell) => engine.inspect(tell, { tasks }),
    redacted: createRedactor(rest.redact),
    historySize: rest.historySize,
    clock: rest.clock,
  })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxProducedBytes, perMessageDeflate: false })
  const server = await listen({
    host,
    port,
    listener: () => (_request, response) => {
      response.writeHead(426, { upgrade: 'websocket', connection: 'close' }).end()
    },
    onUpgrade: (place) => {
      const wrong = createInvalidCredentialLimit(rest.clock)
      const door = { allowedHosts: hostsAt(host, place.port), allowedOrigins, token, wrong }
      return (request, socket, head) => {
        socket.on('error', () => socket.destroy())
        const refusal = refusalOf(request, door, relay.size)
        if (refusal !== undefined) refuse(socket, refusal)
        else sockets.handleUpgrade(request, socket, head, (joined) => relay.join(joined))
      }
    },
  })
  const close = async (): Promise<void> => {
    relay.close()
    sockets.close()
  }
  return { url: `${server.url.replace('http', 'ws')}/?token=${token}`, token, close: () => server.close(close) }
}

interface Refusal {
  status: string
  retryAfterSeconds?: number
}

/** How somebody is answered who may not come in; undefined for who may. */
function refusalOf(
  request: IncomingMessage,
  door: RequestGuardOptions & { token: string; wrong: RateLimit },
  connected: number,
): Refusal | undefined {
  const headers = new Headers()
  for (const name of ['host', 'origin', 'authorization'] as const) {
    const value = request.headers[name]
    if (value !== undefined) headers.set(name, value)
  }
  if (refuseRequest(new Request('http://nowhere.invalid', { headers }), door) !== undefined)
    return { status: '403 Forbidden' }
  if (!isSameSecret(tokenIn(request), door.token)) {
    const waitSeconds = door.wrong.draw(request.socket.remoteAddress ?? '')
    if (waitSeconds === 0) return { status: '401 Unauthorized' }
    return { status: '429 Too Many Requests', retryAfterSeconds: Math.ceil(waitSeconds) }
  }
  return connected >= maxConnections ? { status: '503 Service Unavailable' } : undefined
}

/** In the URL, for that is all that a browser's WebSocket can be given, or as a bearer. */
function tokenIn({ url = '/', headers }: IncomingMessage): string {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
  return bearerIn(headers.authorization) ?? new URLSearchParams(query).get('token') ?? ''
}

function refuse(socket: Duplex, { status, retryAfterSeconds }: Refusal): void {
  const later = retryAfterSeconds === undefined ? '' : `Retry-After: ${retryAfterSeconds}\r\n`
  socket.end(`HTTP/1.1 ${status}\r\n${later}Connection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}

function otherMachines(host: string): ErrandError {
  return new ErrandError(
    'FORBIDDEN',
    `An inspector is served on this machine alone, and ${host} can be reached from others: its token would travel unencrypted. Serve at 127.0.0.1, and reach it through a tunnel.`,
    { host },
  )
}
