// Serves the relay on this machine. Connections are validated before they are upgraded to WebSocket.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { z } from 'zod'
import { type Clock, systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import type { RedactFunction } from '../../core/redact.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { createInvalidCredentialLimit } from '../web/credentials.ts'
import { listen } from '../web/node-server.ts'
import type { RateLimit } from '../web/rate-limit.ts'
import {
  bearerIn,
  hostsAt,
  isLoopbackAddress,
  listenAddressShape,
  makeToken,
  type RequestGuardOptions,
  refuseRequest,
  requestGuardShape,
  secretCheck,
} from '../web/request-guard.ts'
import { loadWebSockets } from './load-ws.ts'
import { createRedactor, redactSchema } from './redact.ts'
import { Relay } from './relay.ts'
import { maxProducedBytes } from './wire.ts'

/** The part of an engine that is inspected. */
export type InspectedEngine = Pick<Engine, 'inspect'>

export interface InspectorOptions {
  /** The loopback address to listen at: 127.0.0.1 (default), localhost or ::1. */
  host?: string
  /** Default 0: any free port. */
  port?: number
  /** The token that receivers and programs must send: 16 to 200 letters, digits and . _ ~ -. Default: a random one of 256 bits. */
  token?: string
  /**
   * Values to redact in addition to those under keys that suggest tokens, secrets, passwords, API keys, credentials, authorization or
   * cookies: a list of keys (texts, matched in full and ignoring case, or regular expressions), or a function that is called with each
   * value and its path in the message and returns the replacement.
   */
  redact?: RedactFunction | ReadonlyArray<string | RegExp> | undefined
  /** Number of recent messages sent to a new receiver. Default 200. */
  historySize?: number
  /** `own` (default): tasks that this engine works on. `all`: every open task of the ledger, at most 1,000. */
  tasks?: 'own' | 'all'
  /** Allowed values of the `Origin` header: web pages on other ports. Default: none. */
  allowedOrigins?: readonly string[]
  /** Default: the system clock. */
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
  /** Where receivers and programs connect, token included: `ws://127.0.0.1:41873/?token=…`. */
  readonly url: string
  readonly token: string
  /** Closes all connections and detaches from the engine, which stays open. */
  close(): Promise<void>
}

/** Maximum number of connections of receivers and programs. */
const maxConnections = 64

/**
 * Serves the activity of an engine's actors to inspectors on this machine, in the format of `@statelyai/inspect`: its
 * `createWebSocketReceiver({ server: url })` receives it, and a program whose `inspect` is its `createWebSocketInspector({ url })` is
 * shown to the same receivers. All messages are redacted before they leave the process. The engine is only observed while there is a
 * receiver. With `null` instead of an engine only other programs are relayed.
 *
 * @example
 * const inspector = await serveInspector(engine)
 * console.log(inspector.url) // ws://127.0.0.1:41873/?token=…
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT; NOT_OFFERED if the package `ws` is not installed; FORBIDDEN for an address that
 *   other machines can reach. The system's error for an address that is not available.
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
    attach: engine === null ? undefined : (send) => engine.inspect(send, { tasks }),
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
    onUpgrade: (address) => {
      const invalidLimit = createInvalidCredentialLimit(rest.clock)
      const guard = {
        allowedHosts: hostsAt(host, address.port),
        allowedOrigins,
        isToken: secretCheck(token),
        invalidLimit,
      }
      return (request, socket, head) => {
        socket.on('error', () => socket.destroy())
        const refusal = refusalOf(request, guard, relay.size)
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

/** The response that refuses an upgrade; undefined if it is allowed. */
function refusalOf(
  request: IncomingMessage,
  guard: RequestGuardOptions & { isToken: (given: string) => boolean; invalidLimit: RateLimit },
  connected: number,
): Refusal | undefined {
  const headers = new Headers()
  for (const name of ['host', 'origin', 'authorization'] as const) {
    const value = request.headers[name]
    if (value !== undefined) headers.set(name, value)
  }
  if (refuseRequest({ headers, url: new URL('http://nowhere.invalid') }, guard) !== undefined)
    return { status: '403 Forbidden' }
  if (!guard.isToken(tokenIn(request))) {
    const waitSeconds = guard.invalidLimit.draw(request.socket.remoteAddress ?? '')
    if (waitSeconds === 0) return { status: '401 Unauthorized' }
    return { status: '429 Too Many Requests', retryAfterSeconds: Math.ceil(waitSeconds) }
  }
  return connected >= maxConnections ? { status: '503 Service Unavailable' } : undefined
}

/** From the URL, since the WebSocket of browsers cannot send headers, or from the `Authorization` header. */
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
