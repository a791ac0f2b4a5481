// The page beside the routes: its files for whoever has signed in, a place to sign in for whoever has not, and all else to the routes.

import type { FetchFunction, Peer } from '../../../web/node-server.ts'
import { methodNotAllowed, problemAnswer, Refusal, unauthenticated } from '../../../web/problem.ts'
import { type RequestGuardOptions, refuseRequest } from '../../../web/request-guard.ts'
import type { PageFile, PageFiles } from './page-files.ts'
import { guardingHeaders, pagePolicy } from './page-headers.ts'
import type { PageSession } from './page-session.ts'
import { signInPage } from './sign-in-page.ts'

export interface SiteOptions {
  door: RequestGuardOptions
  /** Whether a request itself brings credentials. What it throws is answered: a refusal as it is, anything else as 500. */
  admits: (request: Request, peer: Peer) => Promise<boolean>
  session: PageSession
  /** Undefined when the page has not been built. */
  page: PageFiles | undefined
  /** Answers all else, and judges by itself whom. */
  routes: FetchFunction
  /** Routes that tell of the server and nothing of its tasks: whoever has signed in reads them like the page. */
  readable: readonly string[]
  /** A request as it would be with the credentials of whoever signed in; undefined where these are not known. */
  vouchFor: (request: Request) => Request | undefined
  onError: (error: unknown) => void
}

export function createSite(options: SiteOptions): FetchFunction {
  const { page, routes, readable, onError } = options
  const isOfPage = (path: string) => path === '/' || path.startsWith('/assets/') || page?.has(path) === true
  return async (request, peer) => {
    const path = new URL(request.url).pathname
    try {
      if (path === '/session') return await answerSession(request, peer, options)
      if (isOfPage(path)) return await answerPage(request, peer, path, options)
      if (isReading(request) && readable.includes(path)) {
        const allowed = await reading(request, peer, options)
        return allowed instanceof Response ? allowed : await routes(allowed, peer)
      }
    } catch (error) {
      return problemAnswer(error, onError)
    }
    return routes(request, peer)
  }
}

/** Signing in takes credentials; signing out also the cookie that it takes away. */
async function answerSession(request: Request, peer: Peer, { door, admits, session }: SiteOptions): Promise<Response> {
  parseGuardOptions(request, door)
  const isOut = request.method === 'DELETE'
  if (!(await admits(request, peer)) && !(isOut && session.holds(request))) throw unauthenticated()
  if (request.method !== 'POST' && !isOut) throw methodNotAllowed(['POST', 'DELETE'])
  const headers = { 'set-cookie': isOut ? session.clearing() : session.setting(), 'cache-control': 'no-store' }
  return new Response(null, { status: 204, headers: { ...guardingHeaders, ...headers } })
}

async function answerPage(request: Request, peer: Peer, path: string, options: SiteOptions): Promise<Response> {
  const { door, admits, session, page } = options
  parseGuardOptions(request, door)
  if (!session.holds(request) && !(await admits(request, peer))) {
    if (isNavigation(request)) return signInPage()
    throw unauthenticated()
  }
  if (!isReading(request)) throw methodNotAllowed(['GET', 'HEAD'])
  if (page === undefined) return notBuilt()
  const file = page.get(path)
  if (file === undefined) throw new Refusal('NOT_FOUND', 'There is no such file.')
  return fileResponse(request, path, file)
}

/** The request as it may go on, or what it is answered with here. */
async function reading(request: Request, peer: Peer, options: SiteOptions): Promise<Request | Response> {
  const { door, admits, session, vouchFor } = options
  if (refuseRequest(request, door) !== undefined) return request
  if (session.holds(request)) return vouchFor(request) ?? request
  return isNavigation(request) && !(await admits(request, peer)) ? signInPage() : request
}

function parseGuardOptions(request: Request, door: RequestGuardOptions): void {
  const refused = refuseRequest(request, door)
  if (refused !== undefined) throw new Refusal('FORBIDDEN', refused.why)
}

function isReading({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** A person who opens an address, as opposed to what the page, or a program, asks for. */
function isNavigation(request: Request): boolean {
  return request.method === 'GET' && (request.headers.get('accept') ?? '').includes('text/html')
}

function fileResponse(request: Request, path: string, { bytes, type, etag }: PageFile): Response {
  const headers = {
    ...guardingHeaders,
    etag,
    'content-security-policy': pagePolicy,
    // What has a name made of what it holds never changes under it.
    'cache-control': path.startsWith('/assets/') ? 'private, max-age=31536000, immutable' : 'private, no-cache',
  }
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
  const length = `${bytes.byteLength}`
  return new Response(bytes, { headers: { ...headers, 'content-type': type, 'content-length': length } })
}

function notBuilt(): Response {
  const words =
    'The page has not been built: "npm run build" makes it. The routes are served all the same; see /docs.\n'
  const headers = { ...guardingHeaders, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  return new Response(words, { status: 503, headers })
}
