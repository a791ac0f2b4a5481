// Contains the executor of a report, starts the process, reads its arguments and handles signals. The service is in service.ts.
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
 * Counts each document in its own call, so that documents that were counted before a restart are not counted again. A call that a
 * crash interrupted is repeated (`rerun`), because counting has no side effects.
 */
const report = defineExecutor({
  input: reportRequest,
  result: z.object({ documents: z.array(z.object({ name: z.string(), ...statistics.shape })), total: statistics }),
  onInterrupt: 'rerun',
  run: async ({ input: { documents } }, run) => {
    const counted = []
    const total = { lines: 0, words: 0, characters: 0 }
    for (const [index, { name, text }] of documents.entries()) {
      // The key is the index: two documents may have the same name, and the text would be stored again as a parameter.
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

/** Counting is fast; --words-per-second slows it down, to watch, cancel or kill it. */
async function countText(name: string, text: string, signal: AbortSignal): Promise<z.output<typeof statistics>> {
  const words = text.match(/\S+/g)?.length ?? 0
  console.log(`counting ${name}`)
  await delay((words / wordsPerSecond) * 1_000, undefined, { signal })
  return { lines: text.split('\n').length, words, characters: text.length }
}

const service = await startService({ report, ledger: values.ledger, port, shutdownTimeoutMs })
// The limit includes time for requests before the engine closes, and for the engine after its own limit.
closeOnSignals(service, shutdownTimeoutMs + 3_000)
console.log(`Listening on ${service.url}`)
