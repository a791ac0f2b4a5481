// A client of the engine's routes: sends the token of this tab, and returns refusals as typed problems. It uses the same routes as any
// other client.

import type { Problem, TaskRow } from '../model/wire.ts'

/** A refusal by the server, or the reason why there was no response. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly problem: Problem

  constructor(problem: Problem) {
    super(`${problem.code}: ${problem.detail}`)
    this.problem = problem
  }

  /** True if there was no response: whether the request was executed is unknown. */
  get unanswered(): boolean {
    return this.problem.status === 0
  }
}

export interface ApiOptions {
  /** Base URL of the engine's routes, with a trailing slash. */
  base: string
  fetch: typeof fetch
  /** The token of this tab; null if there is none. */
  token(): string | null
  /** Called when the server rejects the token. */
  signedOut(): void
}

export type Query = Record<string, string | number | boolean | null | undefined>

export interface RequestOptions {
  query?: Query
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

export class ApiClient {
  readonly #options: ApiOptions

  constructor(options: ApiOptions) {
    this.#options = options
  }

  get base(): string {
    return this.#options.base
  }

  get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
    return this.#json<T>('GET', path, { query, ...(signal === undefined ? {} : { signal }) })
  }

  post<T>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
    return this.#json<T>('POST', path, { body, headers })
  }

  patch<T>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
    return this.#json<T>('PATCH', path, { body, headers })
  }

  /** Calls an ability that has no route. */
  call<T>(ability: string, input: unknown): Promise<T> {
    return this.post<T>(`abilities/${ability}`, input)
  }

  /** Resolves to the response unless it is a refusal. @throws ApiError */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const { query = {}, body, headers = {}, signal } = options
    const token = this.#options.token()
    const response = await this.#reach(new URL(path + queryText(query), this.#options.base), {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
    if (response.status === 401) this.#options.signedOut()
    if (!response.ok) throw new ApiError(await problemIn(response))
    return response
  }

  async #json<T>(method: string, path: string, options: RequestOptions): Promise<T> {
    const response = await this.send(method, path, options)
    return (await response.json()) as T
  }

  async #reach(url: URL, request: RequestInit): Promise<Response> {
    try {
      return await this.#options.fetch(url, request)
    } catch (error) {
      if (request.signal?.aborted) throw error
      throw new ApiError({
        status: 0,
        code: 'UNREACHABLE',
        title: 'No answer',
        detail: 'The server does not respond. Check that it is running.',
        details: {},
      })
    }
  }
}

function queryText(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, String(value)] as [string, string]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

async function problemIn(response: Response): Promise<Problem> {
  const fallback = { status: response.status, code: `HTTP_${response.status}`, title: response.statusText, details: {} }
  try {
    const body = (await response.json()) as Partial<Problem>
    return { ...fallback, detail: body.title ?? fallback.title, ...body }
  } catch {
    // A proxy responded instead of the engine: only the status is known.
    return { ...fallback, detail: `The server answered ${response.status} ${response.statusText}.` }
  }
}

/** The problem with the task's number instead of its id, as everywhere on the page. */
export function withNumber(problem: Problem, { id, seq }: Pick<TaskRow, 'id' | 'seq'>): Problem {
  return { ...problem, detail: problem.detail.replaceAll(id, `#${seq}`) }
}

/** Nothing can be followed from a position before a purge, or beyond the end of a ledger that an older copy has replaced: all is read again. */
export function isLostPosition({ code }: Problem): boolean {
  return code === 'CURSOR_TOO_OLD' || code === 'CURSOR_AHEAD'
}

/** Converts anything thrown to a problem that can be shown. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem
  const detail = error instanceof Error ? error.message : String(error)
  return { status: 0, code: 'PAGE_ERROR', title: 'Error', detail, details: {} }
}
