// An HTTP service with an engine. It turns requests into calls of the engine, and errors of the engine into HTTP statuses. When it closes,
// it first answers requests in progress and stops runs at a safe point. The executor of a report is in report.ts, and
// the start of the process in main.ts.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { createEngine, type Engine, ErrandError, type ErrorCode, type Executor, type Task } from 'errand'
import { z } from 'zod'
import { reportRequest } from './report.ts'

export interface ServiceOptions {
  /** The executor of one report. */
  report: Executor<z.input<typeof reportRequest>>
  /** Path of the ledger. Open tasks in it continue when the service starts. */
  ledger: string
  /** 0: any free port. */
  port: number
  /** How long runs may take to reach a safe point when the service closes, in milliseconds. */
  shutdownTimeoutMs: number
}

export interface Service {
  url: string
  /** Stops accepting requests, ends the streams, and drains the engine. Running tasks continue at the next start. */
  close(): Promise<void>
}

const maxBodyBytes = 1_000_000
/** How long requests in progress may take when the service closes. */
const requestGraceMs = 1_000
/** Proxies close idle streams; a periodic comment keeps them open. */
const heartbeatMs = 15_000

/** HTTP status of each error code of the engine. A missing code is an internal error: 500. */
const statusOf: Partial<Record<ErrorCode, number>> = {
  INVALID_INPUT: 400,
  NOT_FOUND: 404,
  INVALID_TRANSITION: 409,
  KEY_CONFLICT: 409,
  TASK_DELETED: 410,
  ENGINE_CLOSED: 503,
  LEDGER_BUSY: 503,
  LEDGER_UNAVAILABLE: 503,
  LEDGER_WRITE_FAILED: 503,
  // The request may have been carried out. Repeating it with the same Idempotency-Key is safe, as for every 503.
  OUTCOME_UNKNOWN: 503,
}

/** An error without a code of the engine. */
class RequestError extends Error {
  readonly status: number
  readonly code: string
  readonly headers: Record<string, string>

  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

export async function startService({ report, ledger, port, shutdownTimeoutMs }: ServiceOptions): Promise<Service> {
  const engine = await createEngine({ ledger, executors: { report }, shutdownTimeoutMs })
  try {
    const service = new ReportService(engine)
    await service.listen(port)
    return service
  } catch (error) {
    await engine.close()
    throw error
  }
}

/**
 * Closes the service on SIGTERM and SIGINT, and then ends the process, because an executor that ignores its signal would keep it
 * alive. The process ends at once after a second signal, or if closing takes longer than `limitMs`. For the ledger this is like
 * `kill -9`: nothing is lost. The library itself does not handle signals, because they belong to the process.
 */
export function closeOnSignals(service: Pick<Service, 'close'>, limitMs: number): void {
  let leaving = false
  const leave = (signal: 'SIGTERM' | 'SIGINT'): void => {
    if (leaving) process.exit(128 + constants.signals[signal])
    leaving = true
    const closed = service.close()
    console.log(`${signal}: draining`)
    setTimeout(() => {
      console.error(`Not drained after ${limitMs} ms.`)
      process.exit(1)
    }, limitMs)
    closed.then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', leave)
  process.on('SIGINT', leave)
}

type Handler = (request: IncomingMessage, response: ServerResponse, id: string) => Promise<void>

class ReportService implements Service {
  readonly #engine: Engine<{ report: ServiceOptions['report'] }>
  readonly #server: Server
  readonly #streams = new Set<AbortController>()
  #closing: Promise<void> | undefined

  readonly #routes: ReadonlyArray<{ path: RegExp; methods: Record<string, Handler> }> = [
    { path: /^\/reports$/, methods: { POST: (request, response) => this.#create(request, response) } },
    {
      path: /^\/reports\/([\w-]+)$/,
      methods: {
        GET: (_request, response, id) => this.#show(response, id),
        DELETE: (_request, response, id) => this.#cancel(response, id),
      },
    },
    { path: /^\/reports\/([\w-]+)\/stream$/, methods: { GET: (...given) => this.#stream(...given) } },
    { path: /^\/health$/, methods: { GET: (_request, response) => this.#health(response) } },
  ]

  constructor(engine: Engine<{ report: ServiceOptions['report'] }>) {
    this.#engine = engine
    this.#server = createServer((request, response) => void this.#handle(request, response))
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const stream of this.#streams) stream.abort()
    // The engine closes last, because it answers the requests in progress.
    await Promise.race([closed, delay(requestGraceMs, undefined, { ref: false })])
    await this.#engine.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#route(request, response)
    } catch (error) {
      if (request.socket.destroyed) return
      if (!response.headersSent) return this.#refuse(response, error)
      // The response has begun, so the error cannot be sent; the client sees it cut.
      console.error(error)
      response.destroy()
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#closing)
      throw new ErrandError('ENGINE_CLOSED', 'This service is closing. Repeat the request in a moment.')
    const path = request.url?.split('?', 1)[0] ?? ''
    for (const { path: pattern, methods } of this.#routes) {
      const match = pattern.exec(path)
      if (!match) continue
      const method = request.method ?? ''
      const handler = Object.hasOwn(methods, method) ? methods[method] : undefined
      if (handler) return handler(request, response, match[1] ?? '')
      const allow = Object.keys(methods).join(', ')
      throw new RequestError(405, 'METHOD_NOT_ALLOWED', `${path} accepts ${allow}, not ${method}.`, { allow })
    }
    throw new ErrandError('NOT_FOUND', `There is nothing at ${path}.`, { path })
  }

  #refuse(response: ServerResponse, error: unknown): void {
    if (error instanceof RequestError) {
      const { status, code, message, headers } = error
      this.#answer(response, status, { error: { code, message } }, headers)
      return
    }
    const refusal = ErrandError.isInstance(error) ? error : undefined
    const status = (refusal && statusOf[refusal.code]) ?? 500
    if (refusal && status < 500) {
      this.#answer(response, status, { error: { ...refusal.toJSON() } })
      return
    }
    // The client gets only the code of an internal error; its details are in the log.
    if (!this.#closing) console.error(error)
    const code = refusal?.code ?? 'INTERNAL'
    const message = status === 503 ? 'Ask again in a moment.' : 'Something went wrong here.'
    this.#answer(response, status, { error: { code, message } }, status === 503 ? { 'retry-after': '1' } : {})
  }

  #answer(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
    response.writeHead(status, {
      'content-type': 'application/json',
      // A kept connection would delay closing.
      ...(this.#closing ? { connection: 'close' } : {}),
      ...headers,
    })
    response.end(JSON.stringify(body))
  }

  async #create(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const input = parseReport(await readJson(request))
    const key = request.headers['idempotency-key']
    const task = await this.#engine.create({ executor: 'report', name: input.title, input, key: key?.toString() })
    this.#answer(response, 202, toView(task), { location: `/reports/${task.id}` })
  }

  async #show(response: ServerResponse, id: string): Promise<void> {
    this.#answer(response, 200, toView(await this.#require(id)))
  }

  async #cancel(response: ServerResponse, id: string): Promise<void> {
    const task = await this.#require(id)
    this.#answer(response, 200, toView(await this.#engine.cancel(task, 'canceled by a client')))
  }

  async #health(response: ServerResponse): Promise<void> {
    // A query fails if the ledger is unavailable, which the service depends on.
    await this.#engine.get('health')
    const { used, maxConcurrent } = this.#engine.status.get().context.slots
    this.#answer(response, 200, { status: 'ok', running: used, maxConcurrent })
  }

  /**
   * Server-sent events. Each is one item of the stream with its position as `id`, so that a client that reconnects with
   * `Last-Event-ID` misses nothing. There are no `event` lines: EventSource takes one named "error" for a broken connection.
   */
  async #stream(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
    const task = await this.#require(id)
    const left = new AbortController()
    const after = Number(request.headers['last-event-id'] ?? 0)
    const items = this.#engine.stream(task, { after, signal: left.signal })
    const heartbeat = setInterval(() => response.write(': still here\n\n'), heartbeatMs)
    this.#streams.add(left)
    response.once('close', () => left.abort())
    try {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', connection: 'close' })
      response.flushHeaders()
      for await (const item of items) {
        const roomLeft = response.write(`id: ${item.seq}\ndata: ${JSON.stringify(item)}\n\n`)
        // Waits for a slow reader. The stream has a position and no queue, so waiting uses no memory.
        if (!roomLeft) await once(response, 'drain', { signal: left.signal })
      }
      response.end()
    } catch (error) {
      if (!left.signal.aborted) throw error
      response.end()
    } finally {
      clearInterval(heartbeat)
      this.#streams.delete(left)
    }
  }

  /** Only reports: clients must not see other tasks of the ledger. */
  async #require(id: string): Promise<Task> {
    const task = await this.#engine.get(id)
    if (task?.executor === 'report') return task
    throw new ErrandError('NOT_FOUND', `There is no report ${id}.`, { id })
  }
}

function parseReport(body: unknown): z.output<typeof reportRequest> {
  const parsed = reportRequest.safeParse(body)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  throw new ErrandError('INVALID_INPUT', `Invalid report: ${z.prettifyError(parsed.error)}`, { issues })
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  // The rest of a body that is too long is read and discarded, because a client that is still sending would not read the response.
  // The requestTimeout of the server limits how long this may take.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= maxBodyBytes) chunks.push(chunk)
  }
  if (size > maxBodyBytes) {
    throw new RequestError(413, 'BODY_TOO_LARGE', `The body has ${size} bytes; the maximum is ${maxBodyBytes}.`)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown
  } catch (cause) {
    throw new ErrandError('INVALID_INPUT', `The body is not JSON: ${(cause as Error).message}`, {}, cause)
  }
}

/** The fields of a task for clients: without its input, which they have sent, and without internal fields. */
function toView({ id, name, status, statusReason, progress, result, error, createdAt, completedAt }: Task): object {
  return { id, title: name, status, statusReason, progress, result, error, createdAt, completedAt }
}
