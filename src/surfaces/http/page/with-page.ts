// Puts the page beside the routes of a handler, with the same credentials.
import type { Credentials } from '../../web/credentials.ts'
import { addressOf, type Peer, type ServeFunction } from '../../web/node-listener.ts'
import { unauthenticated } from '../../web/problem.ts'
import { makeToken, type RequestGuardOptions } from '../../web/request-guard.ts'
import { FetchedRequest, type ServedRequest } from '../../web/served-request.ts'
import type { CheckedHttpOptions } from '../http-options.ts'
import { createPageSession } from './page-session.ts'
import { createSite, type SiteOptions } from './site.ts'

interface PageParts {
  checked: CheckedHttpOptions
  credentials: Credentials
  guard: RequestGuardOptions
  files: SiteOptions['page']
}

/** Answers with the page at the base path, and with the routes below it. */
export function withPage(routes: ServeFunction, { checked, credentials, guard, files }: PageParts): ServeFunction {
  const { basePath, token, onError } = checked
  return createSite({
    basePath,
    guard,
    page: files,
    routes,
    hasCredentials: (request, peer) => hasValidCredentials(request, peer, credentials),
    // Without a configured token, sessions end with the process.
    session: createPageSession(typeof token === 'string' ? token : makeToken(), basePath),
    readable: ['/docs', '/openapi.json'],
    withSessionCredentials: (request) => (typeof token === 'string' ? withBearer(request, token) : undefined),
    onError,
  })
}

/**
 * Whether the request itself carries valid credentials.
 * @throws Refusal 429 after too many invalid ones; the error of `authenticate`.
 */
async function hasValidCredentials(request: ServedRequest, peer: Peer, credentials: Credentials): Promise<boolean> {
  const judged = await credentials.judge(request, addressOf(peer))
  if (judged.principal === null && judged.waitSeconds > 0) throw unauthenticated(judged.waitSeconds)
  return judged.principal !== null
}

function withBearer(given: ServedRequest, token: string): ServedRequest {
  const request = given.toRequest()
  const headers = new Headers(request.headers)
  headers.set('authorization', `Bearer ${token}`)
  return new FetchedRequest(new Request(request, { headers }))
}
