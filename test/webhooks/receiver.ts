// A receiver of webhooks that verifies each request with the library of Standard Webhooks.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished } from 'vitest'
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts'

export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

export interface Received {
  id: string
  type: string
  timestamp: string
  data: { seq: number; taskId: string; status: string; [field: string]: unknown }
}

/** The library compares the time with that of the machine; with a simulated clock it makes the same signature. */
function verifiedBy(
  body: string,
  headers: Record<string, string>,
  clock: SimulatedClock | 'any time' | undefined,
): Omit<Received, 'id'> {
  const library = new Webhook(secret)
  if (clock === undefined) return library.verify(body, headers) as Omit<Received, 'id'>
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers
  if (clock !== 'any time') expect(Math.abs(clock.now() / 1_000 - Number(timestamp))).toBeLessThan(1)
  expect(signature).toBe(library.sign(id, new Date(Number(timestamp) * 1_000), body))
  return JSON.parse(body) as Omit<Received, 'id'>
}

/** Verifies each request; `answer` returns the status for it, and 2xx accepts it. */
export async function receiver(
  answer: (tries: number) => number | { status: number; headers: Record<string, string> } = () => 204,
  clock?: SimulatedClock | 'any time',
) {
  const accepted: Received[] = []
  const tries: Array<{ id: string; headers: IncomingHttpHeaders }> = []
  const watchers = new Set<() => void>()
  const server: Server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const id = String(request.headers['webhook-id'])
      const verified = verifiedBy(body, request.headers as Record<string, string>, clock)
      tries.push({ id, headers: request.headers })
      const given = answer(tries.length)
      const { status, headers } = typeof given === 'number' ? { status: given, headers: {} } : given
      if (status < 300) accepted.push({ id, ...verified })
      response.writeHead(status, headers).end()
      for (const watcher of watchers) watcher()
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const until = (isDone: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = () => {
        if (!isDone()) return
        watchers.delete(look)
        resolve()
      }
      watchers.add(look)
      look()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, accepted, tries, until }
}
