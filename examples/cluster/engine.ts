// One engine of the cluster. It sends letters, each in a recorded call of its own: a letter that was sent before an engine died is not sent
// again by the engine that continues the task.
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { createEngine, defineExecutor } from 'errand'
import { z } from 'zod'

/** In place of a mail server, which would need its own key for each letter (`callId`) to refuse one that arrives twice. */
async function send(to: string, signal: AbortSignal): Promise<string> {
  await delay(1_000, undefined, { signal })
  console.log(`${hostname()} has sent a letter to ${to}`)
  return hostname()
}

const letters = defineExecutor({
  input: z.object({ to: z.array(z.string().min(1)).min(1) }),
  onInterrupt: 'rerun',
  run: async ({ input: { to } }, run) => {
    const sentBy: Record<string, string> = {}
    for (const [index, name] of to.entries()) {
      sentBy[name] = await run.call('send', { to: name }, (_params, { signal }) => send(name, signal), {
        key: `${index}`,
      })
      await run.progress((index + 1) / to.length, name)
    }
    return sentBy
  },
})

const { ERRAND_LEDGER: ledger } = process.env
if (ledger === undefined) throw new Error('ERRAND_LEDGER must be the URL of the ledger.')
const engine = await createEngine({ ledger, executors: { letters }, maxConcurrent: 4 })
console.log(`${hostname()} is working`)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void engine.close())
