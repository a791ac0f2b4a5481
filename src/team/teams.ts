// All team tasks: as a list, and counted by the type of work that they are (conformance S2-007, S2-107).
import type { TaskStatus } from '../entities/task.ts'
import type { TypeCount } from '../ledger/ledger.ts'
import { type TeamTask, toTeamTask } from './context.ts'
import type { TeamHost } from './team-host.ts'

export interface TeamQuery {
  statuses?: TaskStatus[] | undefined
  type?: string | undefined
  limit: number
  offset: number
}

/** The latest first. */
export function listTeams(host: TeamHost, { statuses, type, limit, offset }: TeamQuery): Promise<TeamTask[]> {
  const filter = {
    ...(statuses === undefined ? {} : { statuses }),
    ...(type === undefined ? {} : { type }),
  }
  return host.read(function* (tx) {
    return (yield* tx.team.list(filter, limit, offset)).map(({ task, team }) => toTeamTask(task, team))
  })
}

/** How a type of work has gone so far. */
export interface TypeReport {
  /** Null: the tasks of which nobody said what they are. */
  type: string | null
  total: number
  completed: number
  /** Failed, and canceled: what was not reached. */
  failed: number
  /** Completed among those that are over, 0 to 1; null while none is. */
  successRate: number | null
  /** From creation to completion, of the completed ones; null without any. */
  meanDurationMs: number | null
}

/** The most frequent types first. */
export async function reportTypes(host: TeamHost): Promise<TypeReport[]> {
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

/** Those without a type come last among equals. */
function compareTypes(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return a < b ? -1 : 1
}
