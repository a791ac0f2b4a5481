// Admission: ready tasks start as runs of this instance, by priority, then age, as many as there are free slots.
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import type { TaskEventName } from '../machines/task-machine.ts'
import { snapshotFault } from '../machines/task-snapshot.ts'
import { moved } from '../machines/task-transition.ts'
import { dueAfter, eventOf, type Moment } from './moment.ts'
import { startGroupsAbove } from './settle-family.ts'

export interface AdmitRequest extends Moment {
  /** Free slots in all. */
  free: number
  /** Executors that this instance has, with their free slots. */
  executors: ReadonlyArray<{ name: string; free: number; timeoutMs: number | undefined }>
}

const wayIn: Partial<Record<TaskRecord['status'], TaskEventName>> = {
  submitted: 'start',
  paused: 'resume',
  input_required: 'answer',
  waiting: 'unblock',
}

interface Admitted {
  from: TaskRecord['status']
  task: TaskRecord
  /** Why the stored image of its machine was made anew from the row; null when it was sound. */
  fault: string | null
}

/** Starts what may start; resolves to the tasks as they are then, WORKING, each with its new run. */
export function admit(request: AdmitRequest): Step<TaskRecord[], Admitted[], TaskRecord[]> {
  return {
    name: 'admit',
    *load(tx: Reads): Op<TaskRecord[]> {
      const heads: TaskRecord[] = []
      for (const executor of request.executors) {
        const limit = Math.min(request.free, executor.free)
        if (limit > 0) heads.push(...(yield* tx.task.ready(executor.name, limit)))
      }
      return heads
    },
    judge(heads) {
      const chosen =
        request.executors.length > 1
          ? heads.sort((a, b) => b.priority - a.priority || a.seq - b.seq).slice(0, request.free)
          : heads
      return chosen.map((task) => ({
        from: task.status,
        fault: snapshotFault(task),
        task: moved(task, wayIn[task.status] as TaskEventName, request.at, {
          run: task.run + 1,
          runOpen: true,
          held: false,
          wakes: 0,
        }),
      }))
    },
    *write(tx: Tx, admitted): Op<TaskRecord[]> {
      for (const { from, task, fault } of admitted) {
        if (fault !== null) yield* tx.event.append(eventOf(request, 'task.repaired', task, { fault }))
        const timeoutMs =
          task.policy.timeoutMs ?? request.executors.find((each) => each.name === task.executor)?.timeoutMs
        const dueAt = timeoutMs === undefined ? null : dueAfter(request.at, timeoutMs)
        yield* tx.task.save(task)
        yield* tx.run.insert({
          taskId: task.id,
          number: task.run,
          attempt: task.attempt,
          instanceId: request.instanceId,
          status: 'live',
          outcome: null,
          error: null,
          startedAt: request.at,
          endedAt: null,
          closedAt: null,
          dueAt,
        })
        yield* tx.event.append(
          eventOf(request, 'task.started', task, {
            from,
            run: task.run,
            attempt: task.attempt,
            ...(dueAt === null ? {} : { dueAt }),
          }),
        )
        if (task.parentId !== null) yield* startGroupsAbove(tx, task, request)
      }
      return admitted.map(({ task }) => task)
    },
  }
}
