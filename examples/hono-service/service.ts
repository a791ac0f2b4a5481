// A Hono application with an engine inside: routes of its own in its own words, and below /errand all that the engine can, for
// whoever has a key that is good for it.
import { createAdaptorServer, type ServerType } from '@hono/node-server'
import { createEngine, defineExecutor, type Engine } from 'errand'
import { createHttp, type HttpHandler } from 'errand/http'
import { Hono } from 'hono'
import { z } from 'zod'
import { type ApiKey, principals } from './api-keys.ts'

export interface ServiceOptions {
  /** Path of the ledger. Whatever is open in it goes on when the service starts. */
  ledger: string
  /** 0 takes any that is free. */
  port: number
  keys: readonly ApiKey[]
}

export interface Service {
  url: string
  /** Takes no more requests, ends the streams, drains the engine. What was running goes on at the next start. */
  stop(): Promise<void>
}

const releaseInput = z.strictObject({ version: z.string().regex(/^\d+\.\d+\.\d+$/) })

/** Built, approved by a person, published: each step once, however often the process is restarted in between. */
const release = defineExecutor({
  input: releaseInput,
  result: z.object({ version: z.string(), published: z.boolean() }),
  run: async ({ input: { version } }, run) => {
    await run.call('build', { version }, () => `app-${version}.tgz`)
    await run.progress(0.5, 'built')
    const published = await run.ask<boolean>(`Publish ${version}?`, { type: 'boolean' })
    if (published) await run.call('publish', { version }, () => `https://example.org/app-${version}.tgz`)
    return { version, published }
  },
})

export async function startService({ ledger, port, keys }: ServiceOptions): Promise<Service> {
  const engine = await createEngine({ ledger, executors: { release } })
  try {
    const authenticate = principals(keys)
    const http = createHttp(engine, { authenticate, basePath: '/errand', onError: console.error })
    const server = createAdaptorServer({ fetch: createApp(engine, http).fetch })
    const url = await listen(server, port)
    return { url, stop: () => stop(server, http, engine) }
  } catch (error) {
    await engine.close()
    throw error
  }
}

function createApp(engine: Engine<{ release: typeof release }>, http: HttpHandler): Hono {
  const app = new Hono()
  app.get('/health', (context) => context.json({ running: engine.status.get().context.slots.used }))
  // What the public may see of a release is for the service to say: no key, and nothing but its state.
  app.get('/releases/:version', async (context) => {
    const { tasks } = await engine.list({ tags: [context.req.param('version')], limit: 1 })
    const [task] = tasks
    return task === undefined ? context.body(null, 404) : context.json({ version: task.name, status: task.status })
  })
  app.mount('/errand', http.fetch)
  return app
}

function listen(server: ServerType, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      resolve(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : port}`)
    })
  })
}

/** First what never ends by itself, then what is under way, and the engine last: until then answers can come of it. */
async function stop(server: ServerType, http: HttpHandler, engine: Engine<{ release: typeof release }>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  await http.close()
  await closed
  await engine.close()
}
