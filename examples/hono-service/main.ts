// Starts the process, reads its arguments and keys, and handles signals. The service is in service.ts.
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { apiKeysSchema } from './api-keys.ts'
import { startService } from './service.ts'

const { values } = parseArgs({
  options: {
    ledger: { type: 'string', default: 'releases.db' },
    port: { type: 'string', default: '0' },
  },
})
const port = z.coerce.number().int().min(0).max(65_535).parse(values.port)
// The keys are not arguments, because every user of the machine can read the command line.
const keys = apiKeysSchema.parse(JSON.parse(process.env['API_KEYS'] ?? '[]'))

const service = await startService({ ledger: values.ledger, port, keys })
console.log(`Listening on ${service.url}`)

let isStopping = false
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    // A second signal ends the process at once. For the ledger this is like `kill -9`: nothing is lost.
    if (isStopping) process.exit(1)
    isStopping = true
    console.log(`${signal}: stopping`)
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
}
