// A fetch for models whose answer must be a stream of events: another answer with status 200 (a login page, an error as JSON, a server that does
// not stream) has no event at all, and would look like a stream that broke off.

import { Failure } from '../../core/errors.ts'
import { startOf } from '../../core/storable-text.ts'
import { clean, saidIn } from './provider-error.ts'

/** Characters of the answer that are quoted, before they are shortened to a line. */
const maxQuotedLength = 2_000

/** @throws Failure `protocol`, which quotes the beginning of an answer that is no stream; what `fetch` throws. */
export const fetchStream: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  const type = response.headers.get('content-type') ?? 'no content type'
  if (!response.ok || type.includes('event-stream') || !asksForStream(init?.body)) return response
  const text = startOf(await response.text(), maxQuotedLength)
  throw new Failure(
    `the server answered with ${type} in place of a stream: ${clean(saidIn(text))}. Check the address: most servers need /v1 at its end.`,
    { code: 'protocol', retry: false },
  )
}

function asksForStream(body: unknown): boolean {
  return typeof body === 'string' && body.includes('"stream":true')
}
