// Cancels a family of many tasks, ten levels deep: the engine with one event for each task in one commit, beside the bare statement that
// sets the same columns of the same rows under the same indexes.

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { eventRow, taskRow } from '../../test/ledger/factories.ts'
import { Database, floorDurability } from '../floors/bare-database.ts'
import { loadEntry } from '../runner/package.ts'
import { defineRow } from '../runner/row.ts'
import { countCommits } from '../runner/statements.ts'

interface Size {
  family: number
}

const levels = 10
const rootId = 'task-root'
const writtenAtOnce = 1_000

const fileOf = (prepared: string, { family }: Size): string => join(prepared, `family-${family}.db`)

/** Spread over the index, as real ids are. */
const idOf = (n: number): string => `task-${(((n + 1) * 2_654_435_761) % 2 ** 32).toString(36)}`

export const cancelFamily = defineRow<Size, Size>({
  name: 'cancel-family',
  title: 'Cancel of a large family',
  method:
    'A family of ten levels is canceled in one commit. One third of its tasks is ready, one third claimable, one third held. The ' +
    'floor updates the same rows, without events and without walking the tree.',
  figures: { time: { label: 'cancel', unit: 'ms', better: 'less' } },
  sizes: { full: { family: 100_000 }, quick: { family: 20_000 }, tiny: { family: 30 } },
  rounds: { full: 3, quick: 2, tiny: 1 },
  cases: (size) => [{ name: `${size.family.toLocaleString('en')} tasks`, given: size }],

  async prepare(size, { packageRoot, prepared }) {
    const { openLedger } = await loadEntry<typeof import('errand/testing')>(packageRoot, 'errand/testing')
    const perLevel = size.family / levels
    const row = (n: number) => {
      const id = n < 0 ? rootId : idOf(n)
      return taskRow({
        id,
        snapshot: `{"version":1,"value":"submitted","context":{"taskId":"${id}"}}`,
        ready: n % 3 === 0,
        claimable: n % 3 === 1,
        held: n % 3 === 2,
        ...(n % 3 !== 1 && { executor: 'later' }),
        ...(n >= 0 && {
          parentId: n < perLevel ? rootId : idOf(n - perLevel),
          depth: Math.floor(n / perLevel) + 1,
        }),
      })
    }
    const ledger = await openLedger(fileOf(prepared, size))
    for (let from = -1; from < size.family; from += writtenAtOnce) {
      await ledger.step({
        name: 'fill',
        *decide(tx) {
          for (let n = from; n < Math.min(size.family, from + writtenAtOnce); n++) {
            const task = row(n)
            yield* tx.task.insert(task)
            yield* tx.event.append(eventRow({ taskId: task.id, type: 'task.created' }))
          }
        },
      })
    }
    await ledger.close()
  },

  sides: {
    errand: {
      durability: floorDurability,
      async measure(given, { errand, folder, packageRoot, prepared }) {
        const { createEngine } = await errand()
        const ledger = join(folder, 'ledger.db')
        copyFileSync(fileOf(prepared, given), ledger)
        const engine = await createEngine({ ledger, work: false })
        let time = 0
        const commits = await countCommits(packageRoot, async () => {
          const began = performance.now()
          await engine.cancel(rootId)
          time = performance.now() - began
        })
        const { total } = await engine.list({ status: 'canceled', limit: 0 })
        await engine.close()
        if (commits !== 1 || total !== given.family + 1) {
          throw new Error(`${total} of ${given.family + 1} tasks were canceled in ${commits} commits`)
        }
        return { time }
      },
    },
    floor: {
      durability: floorDurability,
      async measure(given, { folder, prepared }) {
        const path = join(folder, 'ledger.db')
        copyFileSync(fileOf(prepared, given), path)
        const database = new Database(path)
        database.pragma('journal_mode = wal')
        database.pragma('synchronous = full')
        database.pragma('foreign_keys = on')
        const update = database.prepare(
          `update task set status = 'canceled', status_reason = null, ready = 0, claimable = 0, not_before = null,
             lease_until = null, completed_at = @at, updated_at = @at, version = version + 1,
             snapshot = replace(snapshot, '"value":"' || status || '"', '"value":"canceled"')
           where status not in ('completed', 'failed', 'canceled')`,
        )
        const began = performance.now()
        const { changes } = update.run({ at: 2 })
        const time = performance.now() - began
        database.close()
        if (changes !== given.family + 1) throw new Error(`the bare statement changed ${changes} rows`)
        return { time }
      },
    },
  },
  goals: [{ figure: 'time', case: '100,000 tasks', as: 'ratio', atMost: 10 }],
})
