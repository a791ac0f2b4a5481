// Judges the open tasks of a ledger once that was written before groups failed when nothing in them could move; such groups fail then.
import { openStatuses } from '../../entities/task.ts'
import { type Op, type Reads, type Step, step } from '../../ledger/ledger.ts'
import { awaitsChildren } from '../../machines/transition-table.ts'
import { settleAll } from './settle-family.ts'
import type { StepContext } from './step-context.ts'

/** Written by the migration that added the column. */
const setting = 'stuck groups'

const everything = 1_000_000

export function* hasOldGroups(tx: Reads): Op<boolean> {
  return (yield* tx.setting.get(setting)) === 'unjudged'
}

export function judgeOldGroups(ctx: StepContext): Step<void> {
  return step('judge old groups', function* (tx) {
    if (!(yield* hasOldGroups(tx))) return
    const open = yield* tx.task.list({ statuses: [...openStatuses] }, everything)
    const waiting = open.filter((task) => task.openBlockers > 0 || awaitsChildren(task))
    yield* settleAll(tx, [], ctx, { tasks: waiting.map((task) => task.id) })
    yield* tx.setting.put(setting, 'judged')
  })
}
