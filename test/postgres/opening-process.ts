// Opens the ledger at a URL and writes one task: several of these create a ledger at once.
import { openLedger } from '../../src/testing/index.ts'
import { taskRow } from '../ledger/factories.ts'

const [url = '', id = ''] = process.argv.slice(2)
const ledger = await openLedger(url)
await ledger.step({ name: 'add', decide: (tx) => tx.task.insert(taskRow({ id })) })
await ledger.close()
