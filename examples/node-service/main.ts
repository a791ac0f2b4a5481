// Starts the process, reads its arguments and handles signals. The service is in service.ts, the executor of a report in report.ts.
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { reportOf } from './report.ts'
import { closeOnSignals, startService } from './service.ts'

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

const service = await startService({
  report: reportOf({ wordsPerSecond }),
  ledger: values.ledger,
  port,
  shutdownTimeoutMs,
})
// The limit includes time for requests before the engine closes, and for the engine after its own limit.
closeOnSignals(service, shutdownTimeoutMs + 3_000)
console.log(`Listening on ${service.url}`)
