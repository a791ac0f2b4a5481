// Cross-origin requests from pages of allowed origins.

/** Adds the headers of CORS for pages of allowed origins; a page of the host itself needs none. */
export function withCors(request: Request, response: Response, allowedOrigins: readonly string[]): Response {
  const origin = request.headers.get('origin')
  if (origin === null || !allowedOrigins.includes(origin)) return response
  response.headers.set('access-control-allow-origin', origin)
  response.headers.append('vary', 'origin')
  response.headers.set('access-control-expose-headers', 'etag, location, retry-after, idempotency-replayed')
  if (!isPreflight(request)) return response
  response.headers.set('access-control-allow-methods', 'GET, POST, PATCH, DELETE')
  response.headers.set(
    'access-control-allow-headers',
    'authorization, content-type, if-match, idempotency-key, last-event-id',
  )
  response.headers.set('access-control-max-age', '600')
  return response
}

/** True for a CORS preflight, which carries no credentials. */
export function isPreflight(request: Request): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.headers.has('origin') &&
    request.headers.has('access-control-request-method')
  )
}
