// Cancel: the task and every live descendant, below settled ones too, in one transaction; each with its own event.

import type { Op, Step } from '../ledger/ledger.ts'
import { requireTransition } from '../machines/task-machine.ts'
import { loadTask, type Moment } from './moment.ts'
import { cancelFamily, settleAll } from './settle-family.ts'

export function cancel(id: string, reason: string | null, moment: Moment): Step<void> {
  return {
    name: 'cancel',
    *decide(tx): Op<void> {
      const task = yield* loadTask(tx, id)
      requireTransition(task, 'cancel')
      yield* settleAll(tx, yield* cancelFamily(tx, task, reason, moment), moment)
    },
  }
}
