// A Fastify application with an engine. It has routes of its own, and all routes of the engine below /errand for clients with a valid key.
import { createEngine, defineExecutor, type Engine } from 'errand'
import { createHttp, type HttpHandler, toNodeListener } from 'errand/http'
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { type ApiKey, principals } from './api-keys.ts'

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

const releaseInput = z.strictObject({ version: z.string().regex(/^\d+\.\d+\.\d+$/) })

/** Builds, waits for the approval of a person, and publishes: each step once, even if the process is restarted in between. */
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
    const http = createHttp(engine, {
      authenticate: principals(keys),
      basePath: '/errand',
      onError: console.error,
    })
    const app = await createApp(engine, http)
    const url = await app.listen({ host: '127.0.0.1', port })
    return { url, stop: () => stop(app, http, engine) }
  } catch (error) {
    await engine.close()
    throw error
  }
}

async function createApp(engine: Engine<{ release: typeof release }>, http: HttpHandler): Promise<FastifyInstance> {
  const app = Fastify()
  app.get('/health', () => ({ running: engine.status.get().context.slots.used }))
  // A public route without a key, which shows only the state of a release.
  app.get<{ Params: { version: string } }>('/releases/:version', async (request, reply) => {
    const { tasks } = await engine.list({ tags: [request.params.version], limit: 1 })
    const [task] = tasks
    return task === undefined ? reply.code(404).send() : { version: task.name, status: task.status }
  })
  await app.register(engineRoutes(http), { prefix: '/errand' })
  return app
}

/** A scope in which Fastify reads no bodies, because the engine authenticates a request before it reads the body. */
function engineRoutes(http: HttpHandler): FastifyPluginAsync {
  const listener = toNodeListener(http.fetch, console.error)
  return async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.all('/*', (request, reply) => {
      reply.hijack()
      listener(request.raw, reply.raw)
    })
  }
}

/** Ends the streams first, then the requests in progress, and the engine last, because they still need it. */
async function stop(
  app: FastifyInstance,
  http: HttpHandler,
  engine: Engine<{ release: typeof release }>,
): Promise<void> {
  await http.close()
  await app.close()
  await engine.close()
}
