// Cancel: the task and every live descendant, below settled ones too, in one transaction; each with its own event.

import type { Op, Step } from '../ledger/ledger.ts'
import { loadTask, type Moment } from './moment.ts'
import { transition } from './transition.ts'

export function cancel(id: string, reason: string | null, moment: Moment): Step<void> {
  return {
    name: 'cancel',
    *decide(tx): Op<void> {
      yield* transition(tx, yield* loadTask(tx, id), 'cancel', moment, { set: { statusReason: reason } })
    },
  }
}
