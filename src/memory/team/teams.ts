// Queries across team tasks: the list, counts by type of work, and the stints of an agent.
import { z } from 'zod'
import { type TaskStatus, taskStatuses } from '../../entities/task.ts'
import { stintStatuses } from '../../entities/team.ts'
import type { TypeCount } from '../../ledger/ledger.ts'
import type { MemoryHost } from '../memory-host.ts'
import { type TeamTask, toTeamTask } from './context.ts'

export interface TeamQuery {
  statuses?: TaskStatus[] | undefined
  type?: string | undefined
  limit: number
  offset: number
}

/** Lists team tasks, latest first. */
export function listTeams(host: MemoryHost, { statuses, type, limit, offset }: TeamQuery): Promise<TeamTask[]> {
  return host.read(function* (tx) {
    return (yield* tx.team.list({ statuses, type }, limit, offset)).map(({ task, team }) => toTeamTask(task, team))
  })
}

/** Counts for one type of work. */
export interface TypeReport {
  /** Null: tasks without a type. */
  type: string | null
  total: number
  completed: number
  /** Failed or canceled. */
  failed: number
  /** Completed divided by ended, 0 to 1; null if none has ended. */
  successRate: number | null
  /** Mean time from creation to completion; null if none is completed. */
  meanDurationMs: number | null
}

/** Most frequent types first. */
export async function reportTypes(host: MemoryHost): Promise<TypeReport[]> {
  const counts = await host.read((tx) => tx.team.countByType())
  return counts.map(toReport).toSorted((a, b) => b.total - a.total || compareTypes(a.type, b.type))
}

function toReport({ type, total, completed, failed, canceled, completedMs }: TypeCount): TypeReport {
  const over = completed + failed + canceled
  return {
    type,
    total,
    completed,
    failed: failed + canceled,
    successRate: over === 0 ? null : completed / over,
    meanDurationMs: completed === 0 ? null : completedMs / completed,
  }
}

/** Among equals, those without a type come last. */
function compareTypes(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return a < b ? -1 : 1
}

/** A stint of an agent with its task. Times are epoch milliseconds. */
export const timelineSchema = z.object({
  taskId: z.string(),
  taskName: z.string(),
  type: z.string().nullable(),
  taskStatus: z.enum(taskStatuses),
  /** Number of the agent's stint on that task. */
  stint: z.int(),
  role: z.string().nullable(),
  branch: z.string(),
  status: z.enum(stintStatuses),
  objectives: z.array(z.int()),
  summary: z.string().nullable(),
  joinedAt: z.number(),
  leftAt: z.number().nullable(),
  /** Null while it is active. */
  durationMs: z.number().nullable(),
})

/** Returns an agent's stints on all tasks, latest first; empty for an unknown agent. */
export function stintsOf(
  host: MemoryHost,
  { agentId, limit, offset }: { agentId: string; limit: number; offset: number },
): Promise<Array<z.output<typeof timelineSchema>>> {
  return host.read(function* (tx) {
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
