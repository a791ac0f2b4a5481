// The name that an MCP client gives itself, read from its first message. The message stays in the input.

import type { Readable } from 'node:stream'
import { z } from 'zod'
import { startOf } from '../../core/storable-text.ts'

/** A first message beyond this size is not searched for a name. */
const maxPeekBytes = 65_536
const unknownClient = 'agent'

const named = z.looseObject({ name: z.string() })
const firstMessageSchema = z.looseObject({
  params: z.looseObject({
    clientInfo: named.optional().catch(undefined),
    _meta: z.looseObject({ 'io.modelcontextprotocol/clientInfo': named.optional().catch(undefined) }).optional(),
  }),
})

/** A single word, for owners and headers: `claude-code`. `agent` for a client that gives no name. */
export async function clientName(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string> {
  return nameIn(await peekLine(input as Readable, signal))
}

function nameIn(line: string): string {
  try {
    const { params } = firstMessageSchema.parse(JSON.parse(line))
    const { name } = params.clientInfo ?? params._meta?.['io.modelcontextprotocol/clientInfo'] ?? { name: '' }
    const word = name.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-')
    return startOf(word.replaceAll(/^-+|-+$/g, ''), 60) || unknownClient
  } catch {
    // The protocol refuses an invalid message later.
    return unknownClient
  }
}

/** The first line, or its beginning when the input ends or the signal aborts. */
async function peekLine(input: Readable, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  const isEnough = () => chunks.some((chunk) => chunk.includes(10)) || Buffer.concat(chunks).length > maxPeekBytes
  const peeked = Promise.withResolvers<void>()
  const done = () => peeked.resolve()
  const look = () => {
    for (let chunk = input.read() as Buffer | null; chunk !== null; chunk = input.read() as Buffer | null) {
      chunks.push(Buffer.from(chunk))
    }
    if (isEnough()) done()
  }
  input.on('readable', look)
  input.once('end', done)
  input.once('error', done)
  signal.addEventListener('abort', done, { once: true })
  await peeked.promise
  input.off('readable', look)
  input.off('end', done)
  input.off('error', done)
  signal.removeEventListener('abort', done)
  const all = Buffer.concat(chunks)
  if (all.length > 0 && !input.readableEnded) input.unshift(all)
  return all.toString('utf8').split('\n')[0] ?? ''
}
