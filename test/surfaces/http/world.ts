// What the tests of the HTTP surface share: an engine behind a handler, requests in one line, and a reader of server-sent events.
import { expect, onTestFinished } from 'vitest'
import { createEngine, type Engine, type EngineOptions } from '../../../src/index.ts'
import {
  createHttp,
  type HttpHandler,
  type HttpOptions,
  type Problem,
  type TenantHttpHandler,
} from '../../../src/surfaces/http/index.ts'

export const token = 'a-token-that-is-long-enough-for-a-test'

export interface World {
  engine: Engine
  http: HttpHandler
  /** Errors that were reported only to onError. */
  errors: unknown[]
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
}

export interface Reply {
  status: number
  headers: Headers
  body: any
}

/** An engine with a handler; both are closed at the end of the test. Without `token` and `authenticate` the handler requires the token of this file. */
export async function openWorld(
  options: Partial<HttpOptions> = {},
  engineOptions: Partial<EngineOptions> = {},
): Promise<World> {
  const engine = await createEngine({ ledger: ':memory:', ...engineOptions } as EngineOptions)
  onTestFinished(() => engine.close())
  return { engine, ...serve(engine, options) }
}

export function serve(engine: Engine, options: Partial<HttpOptions> = {}): Omit<World, 'engine'> {
  const errors: unknown[] = []
  const guard = options.authenticate === undefined && options.token === undefined ? { token } : {}
  const http = createHttp(engine, { ...guard, onError: (error) => errors.push(error), ...options })
  onTestFinished(() => http.close())
  return { http, errors, ask: (...request) => ask(http, ...request) }
}

export async function ask(
  http: TenantHttpHandler,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await http(requestOf(method, path, body, headers))
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text }
}

/** A string body is sent as it is. An empty header is omitted. */
export function requestOf(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Request {
  const all = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  }
  return new Request(`http://localhost${path}`, {
    method,
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
}

/** The problem in a response; its status must be that of the response. */
export function problemIn({ status, headers, body }: Reply): Problem {
  expect(headers.get('content-type')).toBe('application/problem+json')
  const problem = body as Problem
  expect(problem.status).toBe(status)
  expect(problem.type).toBe(`urn:errand:error:${problem.code}`)
  return problem
}

export interface ServerEvent {
  id?: string
  event?: string
  data?: any
  comment?: string
}

/** A stream that is read event by event; `retry:` lines are skipped. */
export function eventsOf(response: Response) {
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  /** Undefined at the end. */
  const next = async (): Promise<ServerEvent | undefined> => {
    while (!text.includes('\n\n')) {
      const { done, value } = await reader.read()
      if (done) return undefined
      text += value
    }
    const end = text.indexOf('\n\n')
    const event = parseEvent(text.slice(0, end))
    text = text.slice(end + 2)
    return event ?? next()
  }
  const rest = async (): Promise<ServerEvent[]> => {
    const events: ServerEvent[] = []
    for (let event = await next(); event !== undefined; event = await next()) events.push(event)
    return events
  }
  return { next, rest, cancel: () => reader.cancel() }
}

function parseEvent(block: string): ServerEvent | undefined {
  const event: ServerEvent = {}
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    const [field, value] = [line.slice(0, colon), line.slice(colon + 1).trim()]
    if (field === 'retry') return undefined
    if (field === '') event.comment = value
    else if (field === 'data') event.data = JSON.parse(value)
    else event[field as 'id' | 'event'] = value
  }
  return event
}
