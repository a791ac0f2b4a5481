// Forks a task with a long journal.
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { floorDurability } from '../floors/bare-database.ts'
import { defineRow } from '../runner/row.ts'

interface Size {
  steps: number
  forks: number
}

const nameOf = (steps: number): string => `${steps.toLocaleString('en')} calls`

export const fork = defineRow<Size, Size>({
  name: 'fork',
  title: 'Fork of a task',
  method:
    'The time of `engine.fork` for a task with the number of completed calls that the row names, as the mean of several forks.',
  figures: { time: { label: 'a fork', unit: 'ms', better: 'less' } },
  sizes: { full: { steps: 1_000, forks: 20 }, quick: { steps: 1_000, forks: 5 }, tiny: { steps: 5, forks: 1 } },
  rounds: { full: 5, quick: 3, tiny: 1 },
  cases: (size) => [{ name: nameOf(size.steps), given: size }],
  sides: {
    errand: {
      durability: floorDurability,
      async measure({ steps, forks }, { errand, folder }) {
        const { createEngine } = await errand()
        const engine = await createEngine({
          ledger: join(folder, 'ledger.db'),
          executors: {
            async long(_task, run) {
              for (let step = 0; step < steps; step++) await run.call('step', { step }, () => ({ done: step }))
            },
          },
        })
        const task = await engine.create({ executor: 'long' })
        await engine.result(task)
        let time = 0
        for (let each = 0; each < forks; each++) {
          const began = performance.now()
          const made = await engine.fork(task)
          time += performance.now() - began
          await engine.result(made)
        }
        await engine.close()
        return { time: time / forks }
      },
    },
  },
  goals: [{ figure: 'time', case: nameOf(1_000), as: 'value', atMost: 50 }],
})
