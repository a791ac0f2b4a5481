// MCP over standard input and output: one client and one connection, until its input ends. A script that pipes its requests in closes
// the input at once and still reads the responses, so pending requests are answered first, within a time limit, before serving ends.
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Server, Transport } from '@modelcontextprotocol/server'
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { parseJson } from '../../core/json-text.ts'
import { parse } from '../../core/parse.ts'
import { sleep } from '../../core/signals.ts'
import { inNextTurn } from '../../core/turns.ts'
import { Answers } from './answers.ts'
import { loadSdk, loadStdioSdk, type Sdk } from './load-sdk.ts'
import { type McpStdioOptions, type ServedEngine, stdioOptionsSchema } from './mcp-options.ts'
import { McpService } from './mcp-service.ts'
import { cancellation } from './task-mapping.ts'

/**
 * Serves the abilities of an engine to the client on stdin and stdout. Resolves when the client has disconnected and its pending requests
 * have been answered (within 5 s); its tasks continue. The engine stays open.
 *
 * @example
 * await using engine = await createEngine({ ledger: 'errand.db' })
 * await serveMcpStdio(engine, { as: 'claude' })
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT; NOT_OFFERED if the MCP package is not installed.
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
  const { inputEnded, answers } = connection
  const handle = serveStdio(
    ({ era }) => {
      const server = service.createServer(sdk, { agent: checked.as, era, reachable: true, answers, inputEnded })
      servers.add(server)
      server.onclose = () => void servers.delete(server)
      return server
    },
    { transport: connection, onerror: checked.onError },
  )
  const disconnected = Promise.withResolvers<void>()
  const closeServer = connection.onclose
  connection.onclose = () => {
    closeServer?.()
    disconnected.resolve()
  }
  const stop = (): void => void handle.close()
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  const listenNoMore = service.onToolsChanged(() => {
    for (const server of servers) server.sendToolListChanged().catch(checked.onError)
  })
  await disconnected.promise
  signal?.removeEventListener('abort', stop)
  listenNoMore()
  await service.close()
}

/** Time limit for pending responses after the input has ended. */
const lastAnswersMs = 5_000

class StdioConnection implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #sdk: Sdk
  readonly #input: Readable
  readonly #output: Writable
  readonly #clock: Clock
  /** What has come after the last complete line. */
  #received = Buffer.alloc(0)
  /** Ids of requests that have not been answered. */
  readonly #unanswered = new Set<string | number>()
  readonly answers = new Answers()
  readonly #inputEnded = new AbortController()
  readonly #closing = new AbortController()
  readonly #answered = Promise.withResolvers<void>()

  constructor(sdk: Sdk, input: Readable, output: Writable, clock: Clock) {
    this.#sdk = sdk
    this.#input = input
    this.#output = output
    this.#clock = clock
  }

  /** Aborts when the input has ended, so that waiting requests return the current state. */
  get inputEnded(): AbortSignal {
    return this.#inputEnded.signal
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read)
    this.#input.on('error', this.#report)
    this.#input.on('end', this.#leave)
    this.#input.on('close', this.#leave)
    // Not removed: a pending write may fail after the end.
    this.#output.on('error', this.#breakOff)
    if (this.#input.readableEnded || this.#input.destroyed) inNextTurn(this.#leave)
  }

  /** Resolves when the message has been written. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closing.signal.aborted) throw new Error('The connection is closed')
    const answered = 'method' in message ? undefined : message.id
    try {
      await this.#write(this.#sdk.serializeMessage(message))
      if (answered !== undefined) this.answers.sent(answered)
    } finally {
      if (answered !== undefined) this.#settle(answered)
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#input.off('data', this.#read)
    this.#input.off('end', this.#leave)
    this.#input.off('close', this.#leave)
    if (this.#input.listenerCount('data') === 0) this.#input.pause()
    this.#inputEnded.abort()
    this.answers.lose()
    this.onclose?.()
  }

  #write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#output.write(text, (error) => (error ? reject(error) : resolve()))
    })
  }

  readonly #read = (chunk: Buffer): void => {
    this.#received = Buffer.concat([this.#received, chunk])
    for (let end = this.#received.indexOf('\n'); end >= 0; end = this.#received.indexOf('\n')) {
      const line = this.#received.toString('utf8', 0, end)
      this.#received = this.#received.subarray(end + 1)
      this.#receive(line)
    }
    if (this.#received.length <= this.#sdk.STDIO_DEFAULT_MAX_BUFFER_SIZE) return
    // A message without an end: the following input cannot be separated into messages.
    this.#breakOff(new Error(`A message has more than ${this.#sdk.STDIO_DEFAULT_MAX_BUFFER_SIZE} bytes`))
  }

  /** Lines that are not JSON are left out, as the protocol's own reader does. */
  #receive(line: string): void {
    let message: JSONRPCMessage
    try {
      message = this.#sdk.parseJSONRPCMessage(parseJson(line))
    } catch (error) {
      if (ErrandError.isInstance(error)) this.#refuse(line, error)
      else if (!(error instanceof SyntaxError)) this.#report(error as Error)
      return
    }
    this.#note(message)
    this.onmessage?.(message)
  }

  /** A number in the message would lose digits: it is not passed on with another one. */
  #refuse(line: string, { message: why }: ErrandError): void {
    const { id } = Object(JSON.parse(line)) as { id?: unknown }
    if (typeof id !== 'string' && typeof id !== 'number') return
    const error = { code: this.#sdk.INVALID_PARAMS, message: `The request is not accepted: ${why}.` }
    this.#write(this.#sdk.serializeMessage({ jsonrpc: '2.0', id, error })).catch(this.#report)
  }

  #note(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    // A subscription is answered when it ends, which is with the connection.
    if ('id' in message && message.method !== 'subscriptions/listen') this.#unanswered.add(message.id)
    const canceledId = message.method === cancellation ? message.params?.['requestId'] : undefined
    if (typeof canceledId !== 'string' && typeof canceledId !== 'number') return
    this.answers.withdraw(canceledId)
    this.#settle(canceledId)
  }

  #settle(id: string | number): void {
    this.#unanswered.delete(id)
    if (this.#inputEnded.signal.aborted && this.#unanswered.size === 0) this.#answered.resolve()
  }

  readonly #report = (error: Error): void => this.onerror?.(error)

  readonly #breakOff = (error: Error): void => {
    if (this.#closing.signal.aborted) return
    this.#report(error)
    void this.close()
  }

  readonly #leave = (): void => {
    if (!this.#inputEnded.signal.aborted) void this.#answerAndClose()
  }

  async #answerAndClose(): Promise<void> {
    this.#inputEnded.abort(new Error('the client has closed its input'))
    if (this.#unanswered.size > 0) {
      await Promise.race([this.#answered.promise, sleep(this.#clock, lastAnswersMs, this.#closing.signal)])
    }
    await this.close()
  }
}
