// The time from createEngine to the first line of a task that waits in the ledger.
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { floorDurability } from '../floors/bare-database.ts'
import { defineRow } from '../runner/row.ts'
import { prepareSettled, settledFile } from '../runner/settled-ledger.ts'

interface Size {
  settled: number
}

const nameOf = (settled: number): string => `${settled.toLocaleString('en')} tasks`

export const startup = defineRow<Size, Size>({
  name: 'startup',
  title: 'Start-up',
  method:
    'The time from `createEngine` in a new process until the executor of the one ready task starts, in an empty ledger and in one ' +
    'with completed tasks.',
  figures: { time: { label: 'until the executor starts', unit: 'ms', better: 'less' } },
  sizes: { full: { settled: 1_000_000 }, quick: { settled: 100_000 }, tiny: { settled: 50 } },
  rounds: { full: 7, quick: 3, tiny: 1 },
  cases: ({ settled }) => [0, settled].map((each) => ({ name: nameOf(each), given: { settled: each } })),
  prepare: ({ settled }, world) => prepareSettled(world, settled),
  sides: {
    errand: {
      durability: floorDurability,
      async measure({ settled }, { errand, folder, prepared }) {
        const { createEngine } = await errand()
        const ledger = settled === 0 ? join(folder, 'ledger.db') : settledFile(prepared, settled)
        const producer = await createEngine({ ledger, work: false })
        await producer.create({ executor: 'first' })
        await producer.close()
        const started = Promise.withResolvers<number>()
        const began = performance.now()
        const engine = await createEngine({
          ledger,
          executors: { first: () => started.resolve(performance.now() - began) },
        })
        const time = await started.promise
        await engine.idle()
        await engine.close()
        return { time }
      },
    },
  },
  goals: [{ figure: 'time', case: nameOf(1_000_000), as: 'difference', beside: { case: nameOf(0) }, atMost: 300 }],
})
