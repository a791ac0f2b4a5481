// Serves the page beside the routes: its files with a session, the sign-in page without one, and everything else from the routes.

import type { Answer } from '../../web/answer.ts'
import type { Peer, ServeFunction } from '../../web/node-server.ts'
import { methodNotAllowed, problemAnswer, Refusal, unauthenticated } from '../../web/problem.ts'
import { type RequestGuardOptions, refuseRequest } from '../../web/request-guard.ts'
import type { ServedRequest } from '../../web/served-request.ts'
import type { PageFile, PageFiles } from './page-files.ts'
import { guardingHeaders, pagePolicy } from './page-headers.ts'
import type { PageSession } from './page-session.ts'
import { signInPage } from './sign-in-page.ts'

export interface SiteOptions {
  guard: RequestGuardOptions
  /** Whether the request itself carries credentials. A refusal that it throws is sent as it is, any other error as 500. */
  hasCredentials: (request: ServedRequest, peer: Peer) => Promise<boolean>
  session: PageSession
  /** Undefined if the page has not been built. */
  page: PageFiles | undefined
  /** Answers all other requests and verifies their credentials. */
  routes: ServeFunction
  /** Routes about the server without data of tasks; a session is sufficient to read them. */
  readable: readonly string[]
  /** Adds the credentials of the session to a request; undefined if they are not known. */
  withSessionCredentials: (request: ServedRequest) => ServedRequest | undefined
  onError: (error: unknown) => void
}

export function createSite(options: SiteOptions): ServeFunction {
  const { page, routes, readable, onError } = options
  const isOfPage = (path: string) => path === '/' || path.startsWith('/assets/') || page?.has(path) === true
  return async (request, peer) => {
    const path = request.url.pathname
    try {
      if (path === '/session') return await answerSession(request, peer, options)
      if (isOfPage(path)) return await answerPage(request, peer, path, options)
      if (isReading(request) && readable.includes(path)) {
        const allowed = await reading(request, peer, options)
        return 'status' in allowed ? allowed : await routes(allowed, peer)
      }
    } catch (error) {
      return problemAnswer(error, onError)
    }
    return routes(request, peer)
  }
}

/** Signing in requires credentials; signing out also requires the cookie. */
async function answerSession(
  request: ServedRequest,
  peer: Peer,
  { guard, hasCredentials, session }: SiteOptions,
): Promise<Answer> {
  parseGuardOptions(request, guard)
  const isOut = request.method === 'DELETE'
  if (!(await hasCredentials(request, peer)) && !(isOut && session.holds(request))) throw unauthenticated()
  if (request.method !== 'POST' && !isOut) throw methodNotAllowed(['POST', 'DELETE'])
  const headers = { 'set-cookie': isOut ? session.clearing() : session.setting(), 'cache-control': 'no-store' }
  return { status: 204, headers: { ...guardingHeaders, ...headers }, body: null }
}

async function answerPage(request: ServedRequest, peer: Peer, path: string, options: SiteOptions): Promise<Answer> {
  const { guard, hasCredentials, session, page } = options
  parseGuardOptions(request, guard)
  if (!session.holds(request) && !(await hasCredentials(request, peer))) {
    if (isNavigation(request)) return signInPage()
    throw unauthenticated()
  }
  if (!isReading(request)) throw methodNotAllowed(['GET', 'HEAD'])
  if (page === undefined) return notBuilt()
  const file = page.get(path)
  if (file === undefined) throw new Refusal('NOT_FOUND', 'This file does not exist.')
  return fileAnswer(request, path, file)
}

/** The request to pass on to the routes, or the answer. */
async function reading(request: ServedRequest, peer: Peer, options: SiteOptions): Promise<ServedRequest | Answer> {
  const { guard, hasCredentials, session, withSessionCredentials } = options
  if (refuseRequest(request, guard) !== undefined) return request
  if (session.holds(request)) return withSessionCredentials(request) ?? request
  return isNavigation(request) && !(await hasCredentials(request, peer)) ? signInPage() : request
}

function parseGuardOptions(request: ServedRequest, guard: RequestGuardOptions): void {
  const refused = refuseRequest(request, guard)
  if (refused !== undefined) throw new Refusal('FORBIDDEN', refused.why)
}

function isReading({ method }: ServedRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** True for a person who opens an address, as opposed to requests of the page or a program. */
function isNavigation(request: ServedRequest): boolean {
  return request.method === 'GET' && (request.headers.get('accept') ?? '').includes('text/html')
}

function fileAnswer(request: ServedRequest, path: string, { bytes, type, etag }: PageFile): Answer {
  const headers = {
    ...guardingHeaders,
    etag,
    'content-security-policy': pagePolicy,
    // File names with a content hash never change their content.
    'cache-control': path.startsWith('/assets/') ? 'private, max-age=31536000, immutable' : 'private, no-cache',
  }
  if (request.headers.get('if-none-match') === etag) return { status: 304, headers, body: null }
  const length = `${bytes.byteLength}`
  return { status: 200, headers: { ...headers, 'content-type': type, 'content-length': length }, body: bytes }
}

function notBuilt(): Answer {
  const body = 'The page has not been built: run "npm run build". The routes are available; see /docs.\n'
  const headers = { ...guardingHeaders, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  return { status: 503, headers, body }
}
