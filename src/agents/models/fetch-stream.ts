// A fetch for models whose answer must be a stream of events: another answer with status 200 (a login page, an error as JSON, a server that does
// not stream) has no event at all, and would look like a stream that broke off. Its beginning decides, because some servers stream events under
// another content type.

import { Failure } from '../../core/errors.ts'
import { startOf } from '../../core/storable-text.ts'
import { clean, saidIn } from './provider-error.ts'

/** Characters of the answer that are read and quoted, before they are shortened to a line. */
const maxQuotedLength = 2_000

/** @throws Failure `protocol`, which quotes the beginning of an answer that is no stream; what `fetch` throws. */
export const fetchStream: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  const type = response.headers.get('content-type') ?? 'no content type'
  if (!response.ok || response.body === null || type.includes('event-stream') || !asksForStream(init?.body)) {
    return response
  }
  const parts = response.body[Symbol.asyncIterator]() as AsyncGenerator<Uint8Array>
  const { read, text } = await beginningOf(parts)
  if (lineOfStream.test(text)) return new Response(ReadableStream.from(continued(read, parts)), response)
  await parts.return(undefined)
  throw new Failure(
    `the server answered with ${type} in place of a stream: ${clean(saidIn(startOf(text, maxQuotedLength)))}. Check the address: most servers need /v1 at its end.`,
    { code: 'protocol', retry: false },
  )
}

const lineOfStream = /^\s*(data|event|id|retry)?:/

/** Enough of an answer to say what it is. */
async function beginningOf(parts: AsyncGenerator<Uint8Array>): Promise<{ read: Uint8Array[]; text: string }> {
  const decoder = new TextDecoder()
  const read: Uint8Array[] = []
  let text = ''
  while (text.length < maxQuotedLength && !lineOfStream.test(text)) {
    const { done, value } = await parts.next()
    if (done) break
    read.push(value)
    text += decoder.decode(value, { stream: true })
  }
  return { read, text }
}

async function* continued(read: readonly Uint8Array[], parts: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* read
  yield* parts
}

function asksForStream(body: unknown): boolean {
  return typeof body === 'string' && body.includes('"stream":true')
}
