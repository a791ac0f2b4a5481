// Cancel: cancels the task and every live descendant, also below settled ones, in one transaction. Each of them has its own event.

import { type Step, step } from '../../ledger/ledger.ts'
import { isStuckGroup } from '../../machines/family.ts'
import { cancelBelow, settleAll } from './settle-family.ts'
import { loadTask, type StepContext } from './step-context.ts'
import { transition } from './transition.ts'

/** A group that failed because nothing in it could move stays FAILED; its open descendants are canceled. */
export function cancel(id: string, reason: string | null, ctx: StepContext): Step<void> {
  return step('cancel', function* (tx) {
    const task = yield* loadTask(tx, id)
    const below = isStuckGroup(task) ? yield* cancelBelow(tx, task, reason, ctx) : []
    if (below.length > 0) yield* settleAll(tx, below, ctx)
    else yield* transition(tx, task, 'cancel', ctx, { set: { statusReason: reason } })
  })
}
