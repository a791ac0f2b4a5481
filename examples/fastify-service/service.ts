// A Fastify application with an engine inside: routes of its own in its own words, and below /errand all that the engine can, for
// whoever has a key that is good for it.
import { createEngine, defineExecutor, type Engine } from 'errand'
import { createHttp, type HttpHandler, toNodeListener } from 'errand/http'
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
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
  // What the public may see of a release is for the service to say: no key, and nothing but its state.
  app.get<{ Params: { version: string } }>('/releases/:version', async (request, reply) => {
    const { tasks } = await engine.list({ tags: [request.params.version], limit: 1 })
    const [task] = tasks
    return task === undefined ? reply.code(404).send() : { version: task.name, status: task.status }
  })
  await app.register(engineRoutes(http), { prefix: '/errand' })
  return app
}

/** A scope of their own, in which Fastify reads no bodies: the engine's door has to judge a request before anything of it is read. */
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

/** First what never ends by itself, then what is under way, and the engine last: until then answers can come of it. */
async function stop(
  app: FastifyInstance,
  http: HttpHandler,
  engine: Engine<{ release: typeof release }>,
): Promise<void> {
  await http.close()
  await app.close()
  await engine.close()
}
