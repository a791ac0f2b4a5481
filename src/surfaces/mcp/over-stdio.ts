// The protocol over standard input and output: one client, one connection, from its first line to the end of its input. Whoever has
// closed the input may still read: a script that pipes its requests in closes it at once, and waits for the answers. So what has been
// asked is answered first; only then, or when that takes long, it is over.
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, ReadBuffer, Server, Transport } from '@modelcontextprotocol/server'
import type { Clock } from '../../core/clock.ts'
import { parse } from '../../core/parse.ts'
import { rest } from '../../core/signals.ts'
import { loadSdk, loadStdioSdk, type Sdk } from './load-sdk.ts'
import { withdrawal } from './mapping.ts'
import { type McpStdioOptions, type ServedEngine, stdioOptionsSchema } from './mcp-options.ts'
import { McpService } from './mcp-service.ts'

/**
 * Serves the abilities of an engine to the client at the other end of stdin and stdout. Resolves when that client is gone, which
 * has then been answered what it had asked (for 5 s at most); its tasks go on. The engine stays open.
 *
 * @example
 * await using engine = await createEngine({ ledger: 'errand.db' })
 * await serveMcpStdio(engine, { as: 'claude' })
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT; NOT_OFFERED when the package of the protocol is not installed.
 */
export async function serveMcpStdio(engine: ServedEngine, options: McpStdioOptions = {}): Promise<void> {
  const { input, output, signal, ...checked } = parse(stdioOptionsSchema, options, 'serveMcpStdio')
  const [sdk, { serveStdio }] = await Promise.all([loadSdk(), loadStdioSdk()])
  const service = new McpService(engine, checked)
  const servers = new Set<Server>()
  const connection = new StdioConnection(
    sdk,
    (input as Readable | undefined) ?? process.stdin,
    (output as Writable | undefined) ?? process.stdout,
    checked.clock,
  )
  const { leaving } = connection
  const handle = serveStdio(
    ({ era }) => {
      const server = service.createServer(sdk, { agent: checked.as, era, reachable: true, leaving })
      servers.add(server)
      server.onclose = () => void servers.delete(server)
      return server
    },
    { transport: connection, onerror: checked.onError },
  )
  const gone = Promise.withResolvers<void>()
  const closeServer = connection.onclose
  connection.onclose = () => {
    closeServer?.()
    gone.resolve()
  }
  const stop = (): void => void handle.close()
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  const listenNoMore = service.onToolsChanged(() => {
    for (const server of servers) server.sendToolListChanged().catch(checked.onError)
  })
  await gone.promise
  signal?.removeEventListener('abort', stop)
  listenNoMore()
  await service.sessions.close()
}

/** How long answers may take once the input has ended. */
const lastAnswersMs = 5_000

class StdioConnection implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #sdk: Sdk
  readonly #input: Readable
  readonly #output: Writable
  readonly #clock: Clock
  readonly #received: ReadBuffer
  /** Requests that have come in and have no answer yet. */
  readonly #unanswered = new Set<string | number>()
  readonly #leaving = new AbortController()
  readonly #closing = new AbortController()
  readonly #answered = Promise.withResolvers<void>()

  constructor(sdk: Sdk, input: Readable, output: Writable, clock: Clock) {
    this.#sdk = sdk
    this.#input = input
    this.#output = output
    this.#clock = clock
    this.#received = new sdk.ReadBuffer()
  }

  /** Aborts as soon as no more can come in: whoever waits for something answers how it stands. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read)
    this.#input.on('error', this.#report)
    this.#input.on('end', this.#leave)
    this.#input.on('close', this.#leave)
    // Stays: an answer that is on its way may fail after the end.
    this.#output.on('error', this.#breakOff)
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#leave)
  }

  /** Resolves when it has been written. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closing.signal.aborted) throw new Error('The connection is closed')
    try {
      await this.#write(this.#sdk.serializeMessage(message))
    } finally {
      if (!('method' in message) && message.id !== undefined) this.#settle(message.id)
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#input.off('data', this.#read)
    this.#input.off('end', this.#leave)
    this.#input.off('close', this.#leave)
    if (this.#input.listenerCount('data') === 0) this.#input.pause()
    this.#leaving.abort()
    this.onclose?.()
  }

  #write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#output.write(text, (error) => (error ? reject(error) : resolve()))
    })
  }

  readonly #read = (chunk: Buffer): void => {
    try {
      this.#received.append(chunk)
    } catch (error) {
      // More than a message may have, and no end of it: what comes next cannot be told apart.
      this.#breakOff(error as Error)
      return
    }
    for (let message = this.#next(); message !== null; message = this.#next()) {
      if (message === undefined) continue
      this.#note(message)
      this.onmessage?.(message)
    }
  }

  /** The next whole line; null when there is none, undefined for one that is no message. */
  #next(): JSONRPCMessage | null | undefined {
    try {
      return this.#received.readMessage()
    } catch (error) {
      this.#report(error as Error)
      return undefined
    }
  }

  #note(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    // A subscription is answered when it ends, and it ends with the connection.
    if ('id' in message && message.method !== 'subscriptions/listen') this.#unanswered.add(message.id)
    const withdrawn = message.method === withdrawal ? message.params?.['requestId'] : undefined
    if (typeof withdrawn === 'string' || typeof withdrawn === 'number') this.#settle(withdrawn)
  }

  #settle(id: string | number): void {
    this.#unanswered.delete(id)
    if (this.#leaving.signal.aborted && this.#unanswered.size === 0) this.#answered.resolve()
  }

  readonly #report = (error: Error): void => this.onerror?.(error)

  readonly #breakOff = (error: Error): void => {
    if (this.#closing.signal.aborted) return
    this.#report(error)
    void this.close()
  }

  readonly #leave = (): void => {
    if (!this.#leaving.signal.aborted) void this.#answerAndClose()
  }

  async #answerAndClose(): Promise<void> {
    this.#leaving.abort(new Error('the client has closed its end'))
    if (this.#unanswered.size > 0) {
      await Promise.race([this.#answered.promise, rest(this.#clock, lastAnswersMs, this.#closing.signal)])
    }
    await this.close()
  }
}
