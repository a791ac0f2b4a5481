// An agent's work on all tasks: when it came, as what, for how long, and what it did (conformance S2-107).
import type { TaskStatus } from '../entities/task.ts'
import type { Op } from '../ledger/ledger.ts'
import type { TeamHost } from './team-host.ts'

/** One stint with the task that it was on. Times are epoch milliseconds. */
export interface TimelineEntry {
  taskId: string
  taskName: string
  type: string | null
  taskStatus: TaskStatus
  /** Counts the agent's stints on that task. */
  stint: number
  role: string | null
  branch: string
  status: 'active' | 'completed'
  objectives: number[]
  summary: string | null
  joinedAt: number
  leftAt: number | null
  /** Null while it works. */
  durationMs: number | null
}

/** The latest first. An agent that nobody knows has no entries. */
export function agentTimeline(
  host: TeamHost,
  { agentId, limit, offset }: { agentId: string; limit: number; offset: number },
): Promise<TimelineEntry[]> {
  return host.read(function* (tx): Op<TimelineEntry[]> {
    const found = yield* tx.team.timeline(agentId, limit, offset)
    return found.map(({ stint, task, team }) => ({
      taskId: task.id,
      taskName: task.name,
      type: team.type,
      taskStatus: task.status,
      stint: stint.number,
      role: stint.role,
      branch: stint.branch,
      status: stint.status,
      objectives: stint.objectives,
      summary: stint.summary,
      joinedAt: stint.joinedAt,
      leftAt: stint.leftAt,
      durationMs: stint.leftAt === null ? null : Math.max(0, stint.leftAt - stint.joinedAt),
    }))
  })
}
