// The relay as a server on this machine: who may connect is judged before a connection becomes a WebSocket.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { ErrandError } from '../../errors.ts'
import { parse } from '../../parse.ts'
import { bearerIn, hostName, hostsAt, isLoopbackAddress, isSameSecret, makeToken, refusedAtDoor } from '../web/door.ts'
import { bind } from '../web/node-server.ts'
import { type InspectedEngine, type InspectorOptions, inspectorOptionsSchema } from './inspector-options.ts'
import { loadWebSockets } from './load-ws.ts'
import { largestProduced } from './produced-message.ts'
import { createRedactor } from './redact.ts'
import { Relay } from './relay.ts'

export interface InspectorServer {
  /** What receivers and programs connect to, the token included: `ws://127.0.0.1:41873/?token=…`. */
  readonly url: string
  readonly token: string
  /** Ends all connections and lets go of the engine, which stays open. */
  close(): Promise<void>
}

/** Receivers and programs at once. */
const mostConnections = 64
const largestHeaders = 16 * 1024
const headersTimeoutMs = 10_000

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
    port: wanted,
    token = makeToken(),
    tasks,
    allowedOrigins,
    ...rest
  } = parse(inspectorOptionsSchema, options, 'serveInspector')
  if (!isLoopbackAddress(host)) throw otherMachines(host)
  const { WebSocketServer } = await loadWebSockets()
  // Only now: node:http leaves its mark on the globals of whoever merely imports it.
  const { createServer } = await import('node:http')
  const relay = new Relay({
    attach: engine === null ? undefined : (tell) => engine.inspect(tell, { tasks }),
    redacted: createRedactor(rest.redact),
    historySize: rest.historySize,
    clock: rest.clock,
  })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: largestProduced, perMessageDeflate: false })
  const server = createServer(
    { maxHeaderSize: largestHeaders, headersTimeout: headersTimeoutMs },
    (_request, response) => {
      response.writeHead(426, { upgrade: 'websocket', connection: 'close' }).end()
    },
  )
  const port = await bind(server, host, wanted)
  const door = { allowedHosts: hostsAt(host, port), allowedOrigins, token }
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    const refusal = refusalOf(request, door, relay.size)
    if (refusal !== undefined) refuse(socket, refusal)
    else sockets.handleUpgrade(request, socket, head, (joined) => relay.join(joined))
  })
  return {
    url: `ws://${hostName(host)}:${port}/?token=${token}`,
    token,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      relay.close()
      sockets.close()
      server.closeAllConnections()
      await closed
    },
  }
}

interface Door {
  allowedHosts: readonly string[]
  allowedOrigins: readonly string[]
  token: string
}

/** The status line for who may not come in; undefined for who may. */
function refusalOf(request: IncomingMessage, door: Door, connected: number): string | undefined {
  const headers = new Headers()
  for (const name of ['host', 'origin', 'authorization'] as const) {
    const value = request.headers[name]
    if (value !== undefined) headers.set(name, value)
  }
  if (refusedAtDoor(new Request('http://nowhere.invalid', { headers }), door) !== undefined) return '403 Forbidden'
  if (!isSameSecret(tokenIn(request), door.token)) return '401 Unauthorized'
  return connected >= mostConnections ? '503 Service Unavailable' : undefined
}

/** In the URL, for that is all that a browser's WebSocket can be given, or as a bearer. */
function tokenIn({ url = '/', headers }: IncomingMessage): string {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
  return bearerIn(headers.authorization) ?? new URLSearchParams(query).get('token') ?? ''
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}

function otherMachines(host: string): ErrandError {
  return new ErrandError(
    'FORBIDDEN',
    `An inspector is served on this machine alone, and ${host} can be reached from others: its token would travel unencrypted. Serve at 127.0.0.1, and reach it through a tunnel.`,
    { host },
  )
}
