// Changes of a few tasks in a large ledger: they should take as long as in an empty one.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { floorDurability } from '../floors/bare-database.ts'
import { defineRow, type World } from '../runner/row.ts'
import { copyTask } from '../runner/settled-ledger.ts'
import { stallOf } from '../runner/stall.ts'
import { median } from '../runner/statistics.ts'

interface Size {
  others: number
  oldRoots: number
  atOnce: number
}

const leaves = 10
const longAgo = 1_000
const nameOf = (others: number): string => `among ${others.toLocaleString('en')} tasks`
const fileOf = (prepared: string, { others, oldRoots }: Size): string =>
  join(prepared, `cancel-${others}-${oldRoots}.db`)

/** Roots that completed long ago, and others: half have completed just now, half are open. */
async function prepareLedger({ errand, packageRoot, prepared }: World, size: Size): Promise<void> {
  const { createEngine } = await errand()
  const ledger = fileOf(prepared, size)
  const engine = await createEngine({ ledger, executors: { trivial: () => null } })
  const settled = await engine.create({ executor: 'trivial' })
  const open = await engine.create({ executor: 'trivial', autoStart: false })
  await engine.result(settled.id)
  await engine.close()
  copyTask(packageRoot, ledger, settled.id, size.oldRoots, { completed_at: longAgo })
  if (size.others === 0) return
  // A number of copies makes the ids of the copies, so the three numbers differ.
  copyTask(packageRoot, ledger, settled.id, size.others / 2)
  copyTask(packageRoot, ledger, open.id, size.others / 2 + 1)
}

export const cancelAndPurge = defineRow<Size, Size>({
  name: 'cancel-and-purge',
  title: 'Cancel and purge in a large ledger',
  method:
    'One cancel of a task without children (median of ten), forty such cancels at once, and the purge of 200 old roots: with no other ' +
    'tasks in the ledger, and with 200,000, half of them settled. The stall is the longest time in which the event loop was blocked.',
  figures: {
    leaf: { label: 'one cancel', unit: 'ms', better: 'less' },
    forty: { label: 'cancels at once', unit: 'ms', better: 'less' },
    purge: { label: 'purge of old roots', unit: 'ms', better: 'less' },
    stall: { label: 'longest stall', unit: 'ms', better: 'less' },
  },
  sizes: {
    full: { others: 200_000, oldRoots: 200, atOnce: 40 },
    quick: { others: 50_000, oldRoots: 200, atOnce: 40 },
    tiny: { others: 40, oldRoots: 5, atOnce: 4 },
  },
  rounds: { full: 5, quick: 2, tiny: 1 },
  cases: (size) => [0, size.others].map((others) => ({ name: nameOf(others), given: { ...size, others } })),
  async prepare(size, world) {
    for (const others of [0, size.others]) await prepareLedger(world, { ...size, others })
  },
  sides: {
    errand: {
      durability: floorDurability,
      async measure(given, { errand, folder, prepared }) {
        const { createEngine } = await errand()
        const ledger = join(folder, 'ledger.db')
        copyFileSync(fileOf(prepared, given), ledger)
        const engine = await createEngine({ ledger, work: false })
        const created = await engine.create(Array.from({ length: leaves + given.atOnce }, () => ({ name: 'leaf' })))
        const [some, many] = [created.slice(0, leaves), created.slice(leaves)]
        const single: Array<{ took: number; stall: number }> = []
        for (const task of some) single.push(await stallOf(() => engine.cancel(task)))
        const forty = await stallOf(() => Promise.all(many.map((task) => engine.cancel(task))))
        const purge = await stallOf(() => engine.purge({ before: longAgo + 1 }))
        const canceled = (await engine.list({ status: 'canceled', limit: 0 })).total
        if (canceled !== created.length || purge.value.families !== given.oldRoots) {
          throw new Error(`${canceled} tasks were canceled, and ${purge.value.families} families purged`)
        }
        await engine.close()
        return {
          leaf: median(single.map(({ took }) => took)),
          forty: forty.took,
          purge: purge.took,
          stall: Math.max(...single.map(({ stall }) => stall), forty.stall, purge.stall),
        }
      },
    },
  },
  goals: [
    { figure: 'leaf', case: nameOf(200_000), as: 'ratio', beside: { case: nameOf(0) }, atMost: 2 },
    { figure: 'stall', case: nameOf(200_000), as: 'value', atMost: 50 },
  ],
})
