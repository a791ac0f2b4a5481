// Recovery: what a dead instance left, and nothing else. Its calls in progress are failed once and exactly once, its runs are
// closed, and their tasks compete for a slot again. Closing the runs raises the fence against an owner that was only slow.

import { type CallRecord, interruptedError } from '../entities/call.ts'
import type { InstanceRecord } from '../entities/instance.ts'
import type { RunRecord } from '../entities/run.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { StoredError } from '../errors.ts'
import type { Op, Step, Tx } from '../ledger/ledger.ts'
import { moved, touched } from '../machines/task-transition.ts'
import { closeEntries, isInFlight } from './journal-closing.ts'
import { eventOf, type Moment } from './moment.ts'
import { settleFamily } from './settle-family.ts'

export interface RecoverRequest extends Moment {
  /** The instance that is gone. */
  instanceId: string
  /** Who recovers. */
  by: string
  maxCrashes: number
  /** `interrupted`: it died. `released`: it let go (its own close), which counts for no crash. */
  reason: 'interrupted' | 'released'
  /** The instance may still be alive, and is only taken over if its lease was over at this time; null for one that is gone. */
  onlyIfSilentAt: number | null
}

interface Loaded {
  instance: InstanceRecord | undefined
  runs: RunRecord[]
}

/** Resolves to the ids of the tasks whose runs were closed. */
export function recover(request: RecoverRequest): Step<Loaded, RunRecord[] | null, string[]> {
  const moment: Moment = { at: request.at, instanceId: request.by }
  return {
    name: 'recover',
    *load(tx): Op<Loaded> {
      const instance = yield* tx.instance.get(request.instanceId)
      return { instance, runs: yield* tx.run.openOf(request.instanceId) }
    },
    judge({ instance, runs }) {
      const { onlyIfSilentAt } = request
      const showsUp = onlyIfSilentAt !== null && instance !== undefined && instance.leaseUntil > onlyIfSilentAt
      return showsUp ? null : runs
    },
    *write(tx, runs): Op<string[]> {
      if (runs === null) return []
      for (const run of runs) yield* recoverRun(tx, run, request, moment)
      yield* tx.instance.end(request.instanceId, request.at)
      return runs.map((run) => run.taskId)
    },
  }
}

function* recoverRun(tx: Tx, run: RunRecord, request: RecoverRequest, moment: Moment): Op<void> {
  const task = yield* tx.task.get(run.taskId)
  if (!task) return
  // Whether the run left any trace is asked before the closing leaves its own.
  const recorded = yield* recordedAnything(tx, run)
  yield* closeEntries(tx, task, isInFlight, (call) => brokenOff(call, request), moment)
  yield* tx.run.save({
    ...run,
    status: 'closed',
    outcome: run.outcome ?? request.reason,
    endedAt: run.endedAt ?? request.at,
    closedAt: request.at,
  })
  const live = task.status === 'working' && task.run === run.number
  const next = live ? lostHolder(task, recorded, request) : touched(task, request.at, { runOpen: false })
  yield* tx.task.save(next)
  if (next.status === 'failed') {
    yield* tx.event.append(
      eventOf(moment, 'task.failed', next, { from: 'working', run: run.number, error: next.error, willRetry: false }),
    )
    yield* settleFamily(tx, [next], moment)
  } else if (live) {
    yield* tx.event.append(
      eventOf(moment, 'task.waiting', next, { from: 'working', run: run.number, reason: next.statusReason }),
    )
  }
  yield* tx.event.append(eventOf(moment, 'run.closed', next, { run: run.number, lost: request.instanceId }))
}

/** WORKING → WAITING, ready for another holder; or FAILED when its runs die again and again and leave nothing. */
function lostHolder(task: TaskRecord, recorded: boolean, request: RecoverRequest): TaskRecord {
  if (request.reason === 'released') {
    return moved(task, 'wait', request.at, { runOpen: false, statusReason: 'released', wakes: 0 })
  }
  const crashes = recorded ? 1 : task.crashes + 1
  if (crashes < request.maxCrashes || recorded) {
    return moved(task, 'wait', request.at, { runOpen: false, statusReason: 'interrupted', wakes: 0, crashes })
  }
  return moved(task, 'fail', request.at, {
    runOpen: false,
    crashes,
    error: {
      code: 'POISONED',
      message: `${crashes} runs in a row died with nothing recorded in between: it seems to take its process down`,
      details: { crashes, lastInstance: request.instanceId },
    },
  })
}

function* recordedAnything(tx: Tx, run: RunRecord): Op<boolean> {
  for (const call of yield* tx.call.list(run.taskId)) if (call.run === run.number) return true
  for (const message of yield* tx.message.list(run.taskId)) if (message.run === run.number) return true
  return false
}

/** What had begun may have happened. Only a death is called one. */
function brokenOff(call: CallRecord, { reason }: RecoverRequest): StoredError {
  if (reason === 'interrupted') return interruptedError(call.name)
  const message = 'The engine let go of the run before the call ended: it may have happened'
  return { code: 'CALL_INTERRUPTED', message, details: { call: call.name } }
}
