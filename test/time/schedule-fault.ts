// The fault that the test of schedules under kills must find: a schedule is moved on in one transaction, and the task of its tick created in another.

import type { ScheduleRecord } from '../../src/entities/schedule.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, Step } from '../../src/ledger/ledger.ts'

class Rehearsed extends Error {}

/** The process dies between the two transactions, in one time of `diesEvery`. */
export function movingOnFirst(inner: Ledger, diesEvery: number): Ledger {
  let times = 0
  return delegateLedger(inner, {
    async step<R>(step: Step<R>): Promise<R> {
      if (step.name !== 'fire schedule') return inner.step(step)
      const moved = await movedBy(inner, step)
      if (moved === undefined) return inner.step(step)
      const [before, after] = moved
      await save(inner, { ...after, taskId: before.taskId, last: before.last })
      if (++times % diesEvery === 0) process.kill(process.pid, 'SIGKILL')
      await save(inner, before)
      return inner.step(step)
    },
  })
}

const save = (ledger: Ledger, schedule: ScheduleRecord) =>
  ledger.step({ name: 'save schedule', decide: (tx) => tx.schedule.save(schedule) })

/** The row that a step moves on, before and after it; undefined if it leaves all as they are. */
async function movedBy<R>(ledger: Ledger, step: Step<R>): Promise<[ScheduleRecord, ScheduleRecord] | undefined> {
  let moved: [ScheduleRecord, ScheduleRecord] | undefined
  const rehearsal = ledger.step({
    name: 'rehearse',
    *decide(tx) {
      const before = yield* tx.schedule.list('', 100)
      yield* step.decide(tx)
      const after = yield* tx.schedule.list('', 100)
      const at = before.findIndex(({ nextTick }, index) => nextTick !== after[index]?.nextTick)
      moved = at < 0 ? undefined : [before[at] as ScheduleRecord, after[at] as ScheduleRecord]
      throw new Rehearsed()
    },
  })
  await rehearsal.catch((error: unknown) => {
    if (!(error instanceof Rehearsed)) throw error
  })
  return moved
}
