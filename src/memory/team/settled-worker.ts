// Completes the agent of a task that has settled. Whether that still holds is checked in the same step, because the task may have been
// retried, or the agent completed, meanwhile.
import { isSettled } from '../../entities/task.ts'
import type { StintRecord, TeamRecord } from '../../entities/team.ts'
import type { Op } from '../../ledger/ledger.ts'
import type { MemoryHost } from '../memory-host.ts'
import { runMemoryStep } from '../memory-step.ts'
import { endStint } from './complete-agent.ts'
import { completeTask } from './complete-task.ts'

/** The trigger recorded in the history. */
const trigger = 'task-end'

/** Returns false and does nothing if the stint has ended, or the worker is working again. */
export async function completeWorker(
  host: MemoryHost,
  { taskId, agentId, number, workerId }: StintRecord,
  summary: string | undefined,
): Promise<boolean> {
  return runMemoryStep(host, 'complete agent', function* (tx, memory): Op<boolean> {
    const stint = yield* tx.team.latestStint(taskId, agentId)
    if (stint?.number !== number || stint.status !== 'active') return false
    if (workerId === null) return false
    // A purged worker had settled before.
    const worker = yield* tx.task.get(workerId)
    if (worker !== undefined && !isSettled(worker.status)) return false
    const task = yield* tx.task.get(taskId)
    const team = yield* tx.team.get(taskId)
    if (task === undefined || team === undefined) return false
    const objectives = worker?.status === 'completed' ? 'done' : 'todo'
    yield* endStint(tx, memory, { task, team, stint, summary: summary ?? null, trigger, objectives })
    return true
  })
}

/** Closes the team of a task that was completed without it. @throws ErrandError AGENTS_ACTIVE, NOT_FOUND */
export async function closeCompleted(
  host: MemoryHost,
  { taskId }: TeamRecord,
  summary: string | undefined,
): Promise<void> {
  await completeTask(host, { surface: 'engine' }, { taskId, trigger, ...(summary === undefined ? {} : { summary }) })
}
