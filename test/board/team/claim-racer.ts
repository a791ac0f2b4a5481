// A member in its own process. `race`: claims each task of the board by number and reports those it got. `hold`: claims one with a lease
// and a session, reports it, and runs until it is killed.
import { once } from 'node:events'
import { createBoardSession } from '../../../src/board/board-session.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { ErrandError } from '../../../src/core/errors.ts'
import { createEngine } from '../../../src/index.ts'

export interface RaceReport {
  won: number[]
  lost: number[]
  /** Refusals that a race does not explain. */
  refusals: string[]
}

const [how, ledger, as, count] = process.argv.slice(2) as ['race' | 'hold', string, string, string]
const engine = await createEngine({ ledger, work: false })
const send = (what: unknown) => process.stdout.write(`${JSON.stringify(what)}\n`)

async function race(): Promise<RaceReport> {
  const report: RaceReport = { won: [], lost: [], refusals: [] }
  for (let id = 1; id <= Number(count); id++) {
    try {
      await engine.bus.call('board:claim', { id, as, leaseMs: 60_000 })
      report.won.push(id)
    } catch (error) {
      if (ErrandError.isInstance(error) && error.code === 'NOT_CLAIMABLE') report.lost.push(id)
      else report.refusals.push(String(error))
    }
  }
  return report
}

send('ready')
await once(process.stdin, 'data')
if (how === 'race') {
  send(await race())
  await engine.close()
  process.stdin.destroy()
} else {
  const session = createBoardSession({
    bus: engine.bus,
    as,
    clock: systemClock,
    leaseMs: Number(count),
    surface: 'child',
  })
  send(await session.call('board:claim_next', {}))
}
