// The server of the benchmark of the page: an engine with ten thousand tasks, its HTTP server, and two kinds of load on demand.
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { createEngine } from '../../src/index.ts'
import { serve } from '../../src/surfaces/http/page/serve.ts'

const [ledger = '', token = '', given = '10000'] = process.argv.slice(2)
const concurrency = 100

const engine = await createEngine({
  ledger,
  maxConcurrent: concurrency,
  executors: { trivial: () => null },
})
const tasks = Number(given)
for (let made = 0; made < tasks; ) {
  const size = Math.min(1000, tasks - made)
  await engine.create(
    Array.from({ length: size }, (_, n) => ({
      name: `Task ${made + n}`,
      autoStart: false,
      ...(n % 10 === 0 ? {} : { tags: ['leaf'] }),
    })),
  )
  made += size
}
const server = await serve(engine, { token, rateLimit: false })

/** Creates and completes trivial tasks as fast as possible; returns tasks per second. */
async function flood(count: number): Promise<number> {
  const started = performance.now()
  await Promise.all(
    Array.from({ length: concurrency }, async (_, lane) => {
      for (let n = lane; n < count; n += concurrency) await engine.create({ executor: 'trivial' } as never)
    }),
  )
  await engine.idle()
  return (count * 1000) / (performance.now() - started)
}

/** Writes events for existing tasks at a rate, for a time; returns the number of events. */
async function drip(perSecond: number, seconds: number): Promise<number> {
  const { tasks: some } = await engine.list({ limit: 1000 })
  const before = (await engine.bus.call('event:list', { limit: 1 })).seq
  const started = performance.now()
  const changes: Array<Promise<unknown>> = []
  for (let n = 0; n < perSecond * seconds; n++) {
    const due = started + (n * 1000) / perSecond
    if (due > performance.now()) await delay(due - performance.now())
    changes.push(engine.update(some[n % some.length]?.id as string, { priority: n % 7, name: `Changed ${n}` }))
  }
  await Promise.all(changes)
  return (await engine.bus.call('event:list', { limit: 1 })).seq - before
}

process.on('message', (order: { do: 'flood' | 'drip'; a: number; b: number }) => {
  const work = order.do === 'flood' ? flood(order.a) : drip(order.a, order.b)
  void work.then((result) => process.send?.({ result }))
})
process.send?.({ result: server.url })
