// The process: what a report is, the arguments, the start, and the signals. The service itself is in service.ts.
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { defineExecutor } from 'errand'
import { z } from 'zod'
import { closeOnSignals, reportRequest, startService } from './service.ts'

const { values } = parseArgs({
  options: {
    ledger: { type: 'string', default: process.env['REPORTS_LEDGER'] ?? 'reports.db' },
    port: { type: 'string', default: '0' },
    'words-per-second': { type: 'string', default: '1000000' },
    'shutdown-timeout-ms': { type: 'string', default: '5000' },
  },
})
const port = z.coerce.number().int().min(0).max(65_535).parse(values.port)
const wordsPerSecond = z.coerce.number().positive().parse(values['words-per-second'])
const shutdownTimeoutMs = z.coerce.number().int().min(0).parse(values['shutdown-timeout-ms'])

const statistics = z.object({ lines: z.number(), words: z.number(), characters: z.number() })

/**
 * Each document is counted in a call of its own: those that were counted before a restart are not counted again. A call that a
 * crash interrupted may simply be repeated (`rerun`), for counting does nothing to the world.
 */
const report = defineExecutor({
  input: reportRequest,
  result: z.object({ documents: z.array(z.object({ name: z.string(), ...statistics.shape })), total: statistics }),
  onInterrupt: 'rerun',
  run: async ({ input: { documents } }, run) => {
    const counted = []
    const total = { lines: 0, words: 0, characters: 0 }
    for (const [index, { name, text }] of documents.entries()) {
      // Its key is its place: two documents may have one name, and the text would be stored a second time as a parameter.
      const count = await run.call('count', { name }, (_params, { signal }) => countText(name, text, signal), {
        key: `${index}`,
      })
      counted.push({ name, ...count })
      total.lines += count.lines
      total.words += count.words
      total.characters += count.characters
      await run.progress((index + 1) / documents.length, name)
    }
    return { documents: counted, total }
  },
})

/** Counting takes no time; a slow reader (--words-per-second) gives you some to watch, to cancel and to kill. */
async function countText(name: string, text: string, signal: AbortSignal): Promise<z.output<typeof statistics>> {
  const words = text.match(/\S+/g)?.length ?? 0
  console.log(`counting ${name}`)
  await delay((words / wordsPerSecond) * 1_000, undefined, { signal })
  return { lines: text.split('\n').length, words, characters: text.length }
}

const service = await startService({ report, ledger: values.ledger, port, shutdownTimeoutMs })
// Requests get a moment before the engine closes, and the engine one after its time is over; beyond that something hangs.
closeOnSignals(service, shutdownTimeoutMs + 3_000)
console.log(`Listening on ${service.url}`)
