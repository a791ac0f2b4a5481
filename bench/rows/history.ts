// Dispatch in a ledger that holds many settled tasks: it should take as long as in an empty one.
import { join } from 'node:path'
import { floorDurability } from '../floors/bare-database.ts'
import { defineRow } from '../runner/row.ts'
import { prepareSettled, settledFile } from '../runner/settled-ledger.ts'
import { dispatchByEngine, latencyFigures, latencyKinds } from './dispatch.ts'

interface Size {
  tasks: number
  everyMs: number
  settled: readonly number[]
}

interface Given {
  tasks: number
  everyMs: number
  settled: number
}

const nameOf = (settled: number): string => `${settled.toLocaleString('en')} settled`

export const history = defineRow<Size, Given>({
  name: 'history',
  title: 'From create to the start of the executor, with history',
  method:
    'The idle case of the table above, in a ledger with the number of completed tasks that the row names, each with its run and its events.',
  figures: latencyKinds,
  sizes: {
    full: { tasks: 200, everyMs: 25, settled: [0, 100_000, 1_000_000] },
    quick: { tasks: 60, everyMs: 20, settled: [0, 100_000] },
    tiny: { tasks: 3, everyMs: 1, settled: [0, 50] },
  },
  rounds: { full: 5, quick: 3, tiny: 1 },
  cases: ({ settled, ...rest }) => settled.map((each) => ({ name: nameOf(each), given: { ...rest, settled: each } })),
  async prepare({ settled }, world) {
    for (const count of settled) if (count > 0) await prepareSettled(world, count)
  },
  sides: {
    errand: {
      durability: floorDurability,
      async measure(given, { errand, folder, prepared }) {
        // The tasks of each sample are added to the file.
        const path = given.settled === 0 ? join(folder, 'ledger.db') : settledFile(prepared, given.settled)
        return latencyFigures(await dispatchByEngine(await errand(), path, { ...given, load: 0 }))
      },
    },
  },
  goals: [100_000, 1_000_000].map((settled) => ({
    figure: 'p50',
    case: nameOf(settled),
    as: 'ratio',
    beside: { case: nameOf(0) },
    atMost: 1.1,
  })),
})
