// Started as another process by tests. `open FILE ID`: waits for a line, opens the ledger, writes one task and closes it. `count FILE`: prints
// how many tasks it sees. `hold FILE INSTANCE`: registers an instance until it reads a line. `lock FILE`: holds the write lock until it reads
// a line.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { connect } from '../../../src/ledger/sqlite/connection.ts'
import { taskRow } from '../factories.ts'

const [verb, file, name] = process.argv.slice(2) as [string, string, string]
const lines = createInterface(process.stdin)
const nextLine = () => once(lines, 'line')

switch (verb) {
  case 'open': {
    const line = nextLine()
    console.log('ready')
    await line
    const ledger = await openLedger(file)
    await ledger.step({ name: 'add', decide: (tx) => tx.task.insert(taskRow({ id: name })) })
    await ledger.close()
    break
  }
  case 'count': {
    const connection = connect(file, { busyTimeoutMs: 1_000, readonly: true })
    const [found] = connection.run({ sql: 'select count(*) as count from task', parameters: [], want: 'rows' }) as [
      { count: number },
    ]
    console.log(found.count)
    connection.close()
    break
  }
  case 'hold': {
    const ledger = await openLedger(file)
    await ledger.register(name)
    const line = nextLine()
    console.log('held')
    await line
    await ledger.close()
    break
  }
  case 'lock': {
    const connection = connect(file, { busyTimeoutMs: 1_000 })
    connection.execute('begin immediate')
    const line = nextLine()
    console.log('locked')
    await line
    connection.execute('rollback')
    connection.close()
    break
  }
  default:
    throw new Error(`unknown: ${verb}`)
}
lines.close()
