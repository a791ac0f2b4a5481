// Families: a parent creates children, and is completed by them.
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { floorDurability } from '../floors/bare-database.ts'
import { defineRow } from '../runner/row.ts'

interface Size {
  children: readonly number[]
}

interface Given {
  children: number
}

const batch = 1_000
const nameOf = (children: number): string => `${children.toLocaleString('en')} children`

export const families = defineRow<Size, Given>({
  name: 'families',
  title: 'Families and their completion',
  method:
    'A task spawns children, a thousand in each call. A hundred run at a time, and the last one completes the parent. The time is ' +
    'that from the creation of the parent to its completion, also divided by the number of children.',
  figures: {
    each: { label: 'each child', unit: 'µs', better: 'less' },
    total: { label: 'the family', unit: 'ms', better: 'less' },
  },
  sizes: {
    full: { children: [100, 1_000, 10_000, 100_000] },
    quick: { children: [100, 1_000, 10_000] },
    tiny: { children: [3, 10] },
  },
  rounds: { full: 3, quick: 2, tiny: 1 },
  cases: ({ children }) => children.map((each) => ({ name: nameOf(each), given: { children: each } })),
  sides: {
    errand: {
      durability: floorDurability,
      async measure({ children }, { errand, folder }) {
        const { createEngine } = await errand()
        const engine = await createEngine({
          ledger: join(folder, 'ledger.db'),
          maxConcurrent: 100,
          executors: {
            child: () => null,
            async parent(_task, run) {
              for (let made = 0; made < children; made += batch) {
                const length = Math.min(batch, children - made)
                await run.spawn(Array.from({ length }, () => ({ executor: 'child' })))
              }
            },
          },
        })
        const began = performance.now()
        const parent = await engine.create({ executor: 'parent', autoComplete: true })
        await engine.result(parent.id)
        const total = performance.now() - began
        const completed = (await engine.list({ parentId: parent.id, status: 'completed', limit: 0 })).total
        if (completed !== children) throw new Error(`${completed} of ${children} children completed`)
        await engine.close()
        return { each: (total / children) * 1_000, total }
      },
    },
  },
  goals: [10_000, 100_000].map((children) => ({
    figure: 'each',
    case: nameOf(children),
    as: 'ratio',
    beside: { case: nameOf(1_000) },
    atMost: 1.25,
  })),
})
