// A response as surfaces make it. A server of node:http sends it as it is, in one piece; other servers get a `Response` made of it.

export interface Answer {
  status: number
  /** Names in lower case. A list is sent as several headers. */
  headers: Record<string, string | string[]>
  body: string | Uint8Array | ReadableStream<Uint8Array> | null
  /** Called when the client has received the answer or is gone; for another server than ours, when that server has taken it. */
  onSent?: (() => void) | undefined
}

/** Hop-by-hop headers, which servers set themselves. */
const hopByHopHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

export function toResponse({ status, headers: given, body, onSent }: Answer): Response {
  onSent?.()
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) for (const each of [value].flat()) headers.append(name, each)
  return new Response(body as ConstructorParameters<typeof Response>[0], { status, headers })
}

/** Without hop-by-hop headers. */
export function fromResponse(response: Response): Answer {
  const headers: Answer['headers'] = {}
  for (const [name, value] of response.headers) {
    if (name !== 'set-cookie' && !hopByHopHeaders.has(name)) headers[name] = value
  }
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  return { status: response.status, headers, body: response.body }
}
