// Faults planted between an engine and its ledger, each of which would lose something, publish what is not durable, or
// do something twice: the laws must find them.

import { ErrandError } from '../../../src/core/errors.ts'
import type { TaskEvent } from '../../../src/entities/event.ts'
import type { Ledger, LedgerObserver, Reads, Step, Tx } from '../../../src/ledger/ledger.ts'
import { closeEndedRun } from '../../../src/operations/steps/close-run.ts'
import { altered } from './host.ts'
import type { Plant } from './world.ts'

type Tables<T> = { [K in keyof T]?: Partial<T[K]> }

/** The same tables with some verbs replaced. */
function spoiled<T extends Reads>(tx: T, tables: Tables<T>): T {
  const changes = Object.entries(tables).map(([table, verbs]) => [
    table,
    { ...tx[table as keyof T], ...(verbs as object) },
  ])
  return { ...tx, ...Object.fromEntries(changes) }
}

/** Applies to every read outside of a step. */
function readingThrough(ledger: Ledger, tables: (tx: Reads) => Tables<Reads>): Ledger {
  return altered(ledger, { read: (query) => ledger.read((tx) => query(spoiled(tx, tables(tx)))) })
}

/** Applies to every step, and to every read outside of one. */
function everywhere(ledger: Ledger, tables: (tx: Reads) => Tables<Reads>): Ledger {
  return stepping(readingThrough(ledger, tables), (step) => writingThrough(step, tables))
}

/** Every step is replaced by this. */
function stepping(ledger: Ledger, change: (step: Step) => Step): Ledger {
  return altered(ledger, { step: (step) => ledger.step(change(step as Step)) as Promise<never> })
}

function writingThrough(step: Step, tables: (tx: Tx) => Tables<Tx>): Step {
  return {
    ...step,
    decide: (tx) => step.decide(spoiled(tx, tables(tx))),
  }
}

/** One engine does not read when a sleep or a question is due. */
const losesDueTimes: Plant = (ledger, host) =>
  host.number === 1
    ? ledger
    : everywhere(ledger, () => ({
        task: {
          *nextDue() {
            return undefined
          },
        },
      }))

/** A sleep is recorded without the time at which it ends. */
const armsNoSleep: Plant = (ledger) =>
  stepping(ledger, (step) =>
    step.name !== 'begin sleep'
      ? step
      : writingThrough(step, (tx) => ({ call: { insert: (call) => tx.call.insert({ ...call, dueAt: null }) } })),
  )

/** One engine does not see what is ready when it reads. */
const overlooksReady: Plant = (ledger, host) =>
  host.number === 1
    ? ledger
    : readingThrough(ledger, () => ({
        task: {
          *anyReady() {
            return false
          },
        },
      }))

/** Observers also get the events of steps that were refused after they had written. */
const publishesRefusals: Plant = (ledger) => {
  const observers = new Set<LedgerObserver>()
  return altered(ledger, {
    async step(step) {
      let appended: TaskEvent[] = []
      const watched = writingThrough(step as Step, (tx) => {
        appended = []
        return {
          event: {
            *append(event) {
              yield* tx.event.append(event)
              appended.push({ ...event, seq: yield* tx.event.last() })
            },
          },
        }
      })
      try {
        return (await ledger.step(watched)) as never
      } catch (error) {
        const refused = ErrandError.isInstance(error) && error.code === 'LEDGER_WRITE_FAILED'
        if (refused && appended.length > 0) for (const observer of observers) observer.committed(appended)
        throw error
      }
    },
    observe(observer, options) {
      observers.add(observer)
      const stop = ledger.observe(observer, options)
      return () => {
        observers.delete(observer)
        stop()
      }
    },
  })
}

/** A run is closed in the step that ends it, though the functions of its calls still run. */
const closesAtOnce: Plant = (ledger, host) =>
  stepping(ledger, (step) =>
    step.name !== 'pause' && step.name !== 'settle run'
      ? step
      : {
          ...step,
          *decide(tx) {
            const result: unknown = yield* step.decide(tx)
            const id = host.opening?.engine.instanceId ?? ''
            for (const { taskId, number, status } of yield* tx.run.openOf(id)) {
              const task = yield* tx.task.get(taskId)
              if (status !== 'ending' || task?.run !== number) continue
              yield* closeEndedRun(tx, task, { at: task.updatedAt, instanceId: id })
            }
            return result
          },
        },
  )

/** The outcome of a run is settled as if none of its calls were in flight. */
const forgetsCallsInFlight: Plant = (ledger) =>
  stepping(ledger, (step) =>
    step.name !== 'settle run'
      ? step
      : {
          ...step,
          decide: (tx) =>
            step.decide(
              spoiled(tx, {
                call: {
                  *open() {
                    return []
                  },
                },
              }),
            ),
        },
  )

/** A failed read of the feed is taken for one that found nothing, and is not retried. */
const doesNotReadAgain: Plant = (ledger) =>
  altered(ledger, {
    async read(query) {
      let followed = false
      try {
        return await ledger.read((tx) =>
          query(
            spoiled(tx, {
              event: {
                *after(seq, limit, taskId) {
                  followed = true
                  return yield* tx.event.after(seq, limit, taskId)
                },
                *pageAfter(seq, limit, taskId) {
                  followed = true
                  return yield* tx.event.pageAfter(seq, limit, taskId)
                },
              },
            }),
          ),
        )
      } catch (error) {
        if (!followed) throw error
        return { rows: [], isLast: true } as never
      }
    },
  })

export const faults: Readonly<Record<string, { plant: Plant; complaint: RegExp }>> = {
  'an engine that does not read when sleeps and questions are due': {
    plant: losesDueTimes,
    complaint: /the (sleep|ask|wait) call-\d+ of task-\d+ was due more than/,
  },
  'a sleep without the time of its end': { plant: armsNoSleep, complaint: /It is stuck/ },
  'an engine that overlooks what is ready': {
    plant: overlooksReady,
    complaint: /is ready, and engine 0 has had a slot/,
  },
  'events of a refused step are published': {
    plant: publishesRefusals,
    complaint: /received |notified its subscribers up to|was not aborted|is stuck/,
  },
  'a run is closed while the function of a call still runs': {
    plant: closesAtOnce,
    complaint: /while its function still ran/,
  },
  'a run is settled while the function of a call still runs': {
    plant: forgetsCallsInFlight,
    complaint: /while its function still ran|call call-\d+ of task-\d+ \(\w+\) is in_progress|is stuck/,
  },
  'a read of the feed that failed is not tried again': {
    plant: doesNotReadAgain,
    complaint: /notified its subscribers up to|received |was not aborted|is ready, and engine|is stuck/,
  },
}
