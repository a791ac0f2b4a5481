// A Hono application with an engine. It has routes of its own, and all routes of the engine below /errand for clients with a valid key.
import { createAdaptorServer, type ServerType } from '@hono/node-server'
import { createEngine, type Engine } from 'errand'
import { createHttp, type HttpHandler } from 'errand/http'
import { Hono } from 'hono'
import { type ApiKey, principals } from './api-keys.ts'
import { release } from './release.ts'

export interface ServiceOptions {
  /** Path of the ledger. Open tasks in it continue when the service starts. */
  ledger: string
  /** 0: any free port. */
  port: number
  keys: readonly ApiKey[]
}

export interface Service {
  url: string
  /** Stops accepting requests, ends the streams, and drains the engine. Running tasks continue at the next start. */
  stop(): Promise<void>
}

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
  // A public route without a key, which shows only the state of a release.
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

/** Ends the streams first, then the requests in progress, and the engine last, because they still need it. */
async function stop(server: ServerType, http: HttpHandler, engine: Engine<{ release: typeof release }>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  await http.close()
  await closed
  await engine.close()
}
