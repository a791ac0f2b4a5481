// Cancel: the task and every live descendant, below settled ones too, in one transaction; each with its own event.

import type { TaskRecord } from '../entities/task.ts'
import { inThree } from '../ledger/in-three.ts'
import type { Op, Step } from '../ledger/ledger.ts'
import { requireTransition } from '../machines/task-machine.ts'
import { loadTask, type Moment } from './moment.ts'
import { cancelFamily, settleAll } from './settle-family.ts'

export function cancel(id: string, reason: string | null, moment: Moment): Step<void> {
  return inThree<TaskRecord, TaskRecord, void>({
    name: 'cancel',
    *load(tx) {
      return yield* loadTask(tx, id)
    },
    judge(task) {
      requireTransition(task, 'cancel')
      return task
    },
    *write(tx, task): Op<void> {
      yield* settleAll(tx, yield* cancelFamily(tx, task, reason, moment), moment)
    },
  })
}
