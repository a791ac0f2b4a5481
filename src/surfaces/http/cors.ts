// Cross-origin requests from pages of allowed origins.
import type { Answer } from '../web/answer.ts'
import type { ServedRequest } from '../web/served-request.ts'

/** Adds the headers of CORS for pages of allowed origins; a page of the host itself needs none. */
export function withCors(request: ServedRequest, answer: Answer, allowedOrigins: readonly string[]): Answer {
  const origin = request.headers.get('origin')
  if (origin === null || !allowedOrigins.includes(origin)) return answer
  const { headers } = answer
  headers['access-control-allow-origin'] = origin
  headers['vary'] = 'origin'
  headers['access-control-expose-headers'] = 'etag, location, retry-after, idempotency-replayed'
  if (!isPreflight(request)) return answer
  headers['access-control-allow-methods'] = 'GET, POST, PATCH, DELETE'
  headers['access-control-allow-headers'] = 'authorization, content-type, if-match, idempotency-key, last-event-id'
  headers['access-control-max-age'] = '600'
  return answer
}

/** True for a CORS preflight, which carries no credentials. */
export function isPreflight(request: ServedRequest): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.headers.has('origin') &&
    request.headers.has('access-control-request-method')
  )
}
