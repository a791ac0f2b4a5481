// What a test starts as another process. `open FILE ID`: waits for a word, opens the ledger, writes one task, closes.
// `count FILE`: prints how many tasks it sees. `hold FILE INSTANCE`: enlists an instance and stays. `lock FILE`: takes the write lock and gives it back at a word.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { connect } from '../../../src/ledger/dialects/sqlite/connection.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { taskRow } from '../../../src/testing/factories.ts'

const [verb, file, name] = process.argv.slice(2) as [string, string, string]
const words = createInterface(process.stdin)
const word = () => once(words, 'line')

switch (verb) {
  case 'open': {
    const told = word()
    console.log('ready')
    await told
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
    const told = word()
    console.log('held')
    await told
    await ledger.close()
    break
  }
  case 'lock': {
    const connection = connect(file, { busyTimeoutMs: 1_000 })
    connection.execute('begin immediate')
    const told = word()
    console.log('locked')
    await told
    connection.execute('rollback')
    connection.close()
    break
  }
  default:
    throw new Error(`unknown: ${verb}`)
}
words.close()
