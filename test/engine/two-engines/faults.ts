// Engines and ledgers with one fault each, planted through the port on a step's way to the ledger: the laws must find
// them.
import type { TaskRecord } from '../../../src/entities/task.ts'
import { isSettled } from '../../../src/entities/task.ts'
import type { Reads, Step, Tx } from '../../../src/ledger/ledger.ts'
import { derive, moved, touched } from '../../../src/machines/changed-task.ts'
import { eventOf } from '../../../src/operations/steps/step-context.ts'
import type { Sequence } from './play.ts'
import type { Fault, Host } from './world.ts'

type Tables<T> = (tx: T) => Partial<{ [K in keyof T]: Partial<T[K]> }>

function spoiled<T extends Reads>(tx: T, tables: Tables<T>): T {
  const changes = Object.entries(tables(tx)).map(([table, verbs]) => [table, { ...tx[table as keyof T], ...verbs }])
  return { ...tx, ...Object.fromEntries(changes) }
}

function decidingThrough(step: Step, tables: Tables<Tx>): Step {
  return { ...step, decide: (tx) => step.decide(spoiled(tx, tables)) }
}

/**
 * A run that another engine has closed looks open to the engine that began it, when it settles. The first task that the step reads is that
 * of the run. What it reads later is as it is: otherwise a parent that waits would seem to work, and miss the end of its child.
 */
const noFenceOfRuns: Fault = (step, host) => {
  if (step.name !== 'settle run') return step
  return decidingThrough(step, (tx) => {
    let judged = false
    return {
      task: {
        *get(id) {
          const task = yield* tx.task.get(id)
          const number = judged ? undefined : latestRunOf(host, id)
          judged = true
          if (task === undefined || number === undefined || (task.run === number && task.runOpen)) return task
          return { ...task, run: number, runOpen: true, status: 'working' }
        },
      },
    }
  })
}

function latestRunOf({ world, number }: Host, taskId: string): number | undefined {
  return world.begun.get(`${number} ${taskId}`)
}

/** Every caller that passes a claim token is taken for the owner. */
const noFenceOfOwners: Fault = (step, { world: { sender } }) => {
  if (sender === undefined) return step
  const { owner, fence } = sender
  return decidingThrough(step, (tx) => ({
    task: {
      *get(id) {
        const task = yield* tx.task.get(id)
        return task && { ...task, owner, fence }
      },
      *save(task) {
        const stored = (yield* tx.task.get(task.id)) as TaskRecord
        yield* tx.task.save({ ...task, owner: task.owner && stored.owner, fence: stored.fence })
      },
    },
  }))
}

/** Cancels row by row, and not the waiting tasks. */
const forgetsTheWaiting: Fault = (step) =>
  decidingThrough(step, (tx) => ({
    cascade: {
      *cancel(order) {
        const below = yield* tx.task.subtree(order.root)
        const positions: number[] = []
        for (const task of below) {
          if (isSettled(task.status) || task.status === 'waiting') continue
          const canceled = moved(task, 'canceled', order.at, { statusReason: order.reason })
          derive(canceled, order.at)
          const run = task.runOpen ? yield* tx.run.get(task.id, task.run) : undefined
          if (run?.status === 'live')
            yield* tx.run.save({ ...run, status: 'ending', outcome: 'canceled', endedAt: order.at })
          yield* tx.task.save(canceled)
          yield* tx.event.append(eventOf(order, 'task.canceled', canceled, { run: task.run }))
          positions.push(yield* tx.event.last())
        }
        const [first] = positions
        return first === undefined ? undefined : { type: 'task.canceled', first, last: positions.at(-1) as number }
      },
    },
  }))

/** Open runs are counted before the transaction begins. */
const countsOutside: Fault = async (step, host) => {
  if (step.name !== 'admit') return step
  const before = await host.view.read((tx) => tx.run.countOpen())
  return decidingThrough(step, () => ({
    run: {
      *countOpen() {
        return before
      },
    },
  }))
}

/** A claim whose lease has expired leaves its owner in the row. */
const keepsTheOwner: Fault = (step) =>
  decidingThrough(step, (tx) => ({
    task: {
      *save(task) {
        const before = yield* tx.task.get(task.id)
        const lapsed = task.status === 'waiting' && task.statusReason === 'interrupted' && task.executor === null
        yield* tx.task.save(lapsed ? { ...task, owner: (before as TaskRecord).owner } : task)
      },
    },
  }))

/** A removed dependency is still counted. */
const doesNotRecount: Fault = (step) => {
  if (step.name !== 'unblock') return step
  return decidingThrough(step, (tx) => ({
    task: {
      *save(task) {
        const before = yield* tx.task.get(task.id)
        const { openBlockers } = before as TaskRecord
        yield* tx.task.save(touched(task, task.updatedAt, { openBlockers }))
      },
    },
  }))
}

/** The runs of a lost engine stay as they are. */
const recoversNothing: Fault = (step) =>
  step.name === 'end runs of a lost engine'
    ? {
        ...step,
        *decide() {
          return null
        },
      }
    : step

/** The end of the last child has no effect on the parent. */
const forgetsTheParent: Fault = (step) =>
  decidingThrough(step, (tx) => ({
    task: {
      *childFacts(id) {
        return { ...(yield* tx.task.childFacts(id)), live: true, movable: true }
      },
    },
  }))

const plain = {
  onChildFailure: undefined,
  onDependencyFailure: undefined,
  autoComplete: false,
  retry: false,
  timeout: false,
  deadline: false,
  held: false,
  concurrency: false,
  stubborn: false,
}

/** An engine hangs while an executor of it returns, and wakes after another engine has taken the task over. */
const returnsWhileHung: Sequence = [
  [{ do: 'create', host: 0, kind: 'run', policy: plain, priority: 0, parent: null, after: null }, 'turns'],
  [{ do: 'executor', doing: 'return', run: 0 }, 'at once'],
  [{ do: 'hang', host: 0 }, 'at once'],
  [{ do: 'time', ms: 1_200 }, 'turns'],
  [{ do: 'wake', host: 0 }, 'turns'],
]

interface PlantedFault {
  fault: Fault
  complaint: RegExp
  /** A sequence that shows the fault, where random ones do so rarely. */
  example?: Sequence
}

export const faults: Readonly<Record<string, PlantedFault>> = {
  'a taken-over run may still write': {
    fault: noFenceOfRuns,
    example: returnsWhileHung,
    complaint:
      /by task\.\w+ \(after "settle run"\)|is at run \d|says that its run is|open run at the end|never changes its status|runs are open in one engine/,
  },
  'a former owner may still write': { fault: noFenceOfOwners, complaint: /a stale claim took effect/ },
  'a cascade forgets what waits': { fault: forgetsTheWaiting, complaint: /lives on \(waiting\) below/ },
  'the shared limit is counted outside of the transaction': {
    fault: countsOutside,
    complaint: /runs are open (of \w+ )?in all engines, the limit is/,
  },
  'a lapsed claim keeps its owner': { fault: keepsTheOwner, complaint: /may be claimed and is owner-\d+'s/ },
  'an unblocked task is not counted anew': { fault: doesNotRecount, complaint: /counts \d open blockers and has/ },
  'what a lost engine left is not taken up': {
    fault: recoversNothing,
    complaint: /stuck|come to an end|come to rest|open run at the end/,
  },
  'a parent is not settled by its children': { fault: forgetsTheParent, complaint: /its children say/ },
}
