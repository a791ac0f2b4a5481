// The engine of this process, and its routes. Next.js makes several bundles of a service and loads a module again when it changes, so what
// there is once in a process is kept in `globalThis`. Nothing is opened before the first call: `next build` imports the routes, too.
import { setTimeout as delay } from 'node:timers/promises'
import { createEngine, defineExecutor, type Engine } from 'errand'
import { createHttp, type HttpHandler } from 'errand/http'
import { z } from 'zod'

const sections = ['Summary', 'Figures', 'Outlook']

/** Writes a report section by section. A section that has been written is not written again after a restart. */
const report = defineExecutor({
  input: z.strictObject({ topic: z.string().min(1).max(200) }),
  result: z.object({ text: z.string() }),
  onInterrupt: 'rerun',
  run: async ({ input: { topic } }, run) => {
    const written: string[] = []
    for (const [index, section] of sections.entries()) {
      written.push(
        await run.call('write', { section }, async (_params, { signal }) => {
          await delay(Number(process.env['SECTION_MS'] ?? 1_000), undefined, { signal }) // in place of a model
          await run.progress((index + 1) / sections.length, section)
          return `${section}: ${topic}`
        }),
      )
    }
    return { text: written.join('\n') }
  },
})

export interface Service {
  engine: Engine<{ report: typeof report }>
  http: HttpHandler
}

const held = globalThis as { errandService?: Promise<Service> | undefined }

/** Opens the ledger at the first call. Its open tasks continue then. */
export function service(): Promise<Service> {
  held.errandService ??= start().catch((error: unknown) => {
    held.errandService = undefined
    throw error
  })
  return held.errandService
}

async function start(): Promise<Service> {
  const { ERRAND_LEDGER: ledger = 'reports.db', ERRAND_TOKEN: token, ALLOWED_HOSTS: hosts } = process.env
  const engine = await createEngine({ ledger, executors: { report }, onError: console.error })
  try {
    const allowed = hosts === undefined ? {} : { allowedHosts: hosts.split(',') } // as it is, names of this machine only
    const http = createHttp(engine, { token, ...allowed, basePath: '/errand', page: true, onError: console.error })
    return { engine, http }
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** Ends the streams and then the runs, between two calls. The next start continues them. */
export async function stopService(): Promise<void> {
  const { engine, http } = (await held.errandService) ?? {}
  await http?.close()
  await engine?.close()
}

/** Only where Next.js leaves the signals to the service: it would end the process while runs are still on their way to a safe point. */
export function closeOnSignals(): void {
  if (process.env['NEXT_MANUAL_SIG_HANDLE'] === undefined) return
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stopService().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
    })
  }
}
