// A task that worked as an agent has settled: so has the agent. In the same step it is judged whether that still holds, for the task
// may have been tried again meanwhile, and others may have done it already.
import { isSettled } from '../entities/task.ts'
import type { StintRecord, TeamRecord } from '../entities/team.ts'
import type { Op } from '../ledger/ledger.ts'
import { deliberate } from '../memory/deliberate.ts'
import type { MemoryHost } from '../memory/memory-host.ts'
import { endStint } from './complete-agent.ts'
import { completeTask } from './complete-task.ts'

/** As the history of consolidation tells what set it off. */
const trigger = 'task-end'

/** False, and nothing done, for a stint that has ended, and for a worker that is at work again. */
export async function completeWorker(
  host: MemoryHost,
  { taskId, agentId, number, workerId }: StintRecord,
  summary: string | undefined,
): Promise<boolean> {
  return deliberate(host, 'complete agent', function* (tx, d): Op<boolean> {
    const stint = yield* tx.team.latestStint(taskId, agentId)
    if (stint?.number !== number || stint.status !== 'active') return false
    if (workerId === null) return false
    // One that was purged had settled before.
    const worker = yield* tx.task.get(workerId)
    if (worker !== undefined && !isSettled(worker.status)) return false
    const task = yield* tx.task.get(taskId)
    const team = yield* tx.team.get(taskId)
    if (task === undefined || team === undefined) return false
    const objectives = worker?.status === 'completed' ? 'done' : 'todo'
    yield* endStint(tx, d, { task, team, stint, summary: summary ?? null, trigger, objectives })
    return true
  })
}

/** Of a task that has been completed without its team. @throws ErrandError AGENTS_ACTIVE, NOT_FOUND */
export async function closeCompleted(
  host: MemoryHost,
  { taskId }: TeamRecord,
  summary: string | undefined,
): Promise<void> {
  await completeTask(host, { surface: 'engine' }, { taskId, trigger, ...(summary === undefined ? {} : { summary }) })
}
