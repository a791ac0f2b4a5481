// Requests to the engine's routes: with the token of this tab, refusals as typed problems, and nothing that could be told apart from
// the surface of any other client.

import type { Problem } from '../model/wire.ts'

/** What the server says no with, or what kept it from answering. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly problem: Problem

  constructor(problem: Problem) {
    super(`${problem.code}: ${problem.detail}`)
    this.problem = problem
  }

  /** It was never answered: nobody knows whether it was done. */
  get unanswered(): boolean {
    return this.problem.status === 0
  }
}

export interface ApiOptions {
  /** Address of the engine's routes, ending in a slash. */
  base: string
  fetch: typeof fetch
  /** Of this tab; null without one. */
  token(): string | null
  /** Called when the server knows nobody by the token. */
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

  /** Calls an ability that has no route of its own. */
  call<T>(ability: string, input: unknown): Promise<T> {
    return this.post<T>(`abilities/${ability}`, input)
  }

  /** The answer itself, once it is no refusal. @throws ApiError */
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
        detail: 'The server does not answer. Is it still running?',
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
    const told = (await response.json()) as Partial<Problem>
    return { ...fallback, detail: told.title ?? fallback.title, ...told }
  } catch {
    // Something between here and the engine answered in its own words: the status is all there is to tell.
    return { ...fallback, detail: `The server answered ${response.status} ${response.statusText}.` }
  }
}

/** Whatever was thrown, as something that can be shown. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem
  const detail = error instanceof Error ? error.message : String(error)
  return { status: 0, code: 'PAGE_ERROR', title: 'Error', detail, details: {} }
}
