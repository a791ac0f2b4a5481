// The client of the row `http`: a process that sends requests over kept connections, a number of them at a time.
import { Agent, request } from 'node:http'
import { performance } from 'node:perf_hooks'
import { inLanes } from '../floors/lanes.ts'
import { quantile } from '../runner/statistics.ts'

export interface LoadOrder {
  url: string
  token: string
  requests: number
  concurrency: number
  /** Tasks that are read. */
  ids: readonly string[]
  /** What is created; null to read. */
  body: object | null
}

export interface LoadReport {
  tookMs: number
  p50: number
  failed: number
  /** The first failure. */
  reason: string
}

async function load({ url, token, requests, concurrency, ids, body }: LoadOrder): Promise<LoadReport> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency })
  const payload = body === null ? '' : JSON.stringify(body)
  const headers = { authorization: `Bearer ${token}`, ...(body !== null && { 'content-type': 'application/json' }) }
  const method = body === null ? 'GET' : 'POST'
  let [failed, reason] = [0, '']
  const send = (path: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, { agent, method, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('end', () => {
          if ((response.statusCode ?? 0) >= 300) {
            failed++
            reason ||= `${response.statusCode} ${text.slice(0, 300)}`
          }
          resolve()
        })
      })
      sent.on('error', reject)
      sent.end(payload)
    })
  const times: number[] = []
  const began = performance.now()
  await inLanes(requests, concurrency, async (n) => {
    const since = performance.now()
    await send(body === null ? `/tasks/${ids[n % ids.length]}` : '/tasks')
    times.push(performance.now() - since)
  })
  const tookMs = performance.now() - began
  agent.destroy()
  return { tookMs, p50: quantile(times, 0.5), failed, reason }
}

process.once('message', (order) => {
  void load(order as LoadOrder).then((report) => process.send?.(report))
})
