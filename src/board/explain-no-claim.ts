// Why a claim of the next task got none: what the open tasks that match wait for, each with its number.
import { z } from 'zod'
import { boardRefSchema } from '../entities/board.ts'
import { openStatuses, type TaskRecord } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { obstacleOf } from '../machines/readiness.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'
import { claimFilterOf, type NextClaim } from './claim-task.ts'
import { readBoard } from './numbering.ts'

/** The reasons, the most useful to the claimant first, and how a sentence about the tasks begins. */
const sentences = {
  yours: 'You hold',
  claimed: 'In progress',
  blocked: 'Blocked by other tasks',
  role: 'For another role',
  assigned: 'Assigned to another owner',
  answer: 'Waiting for an answer',
  timer: 'Not due yet',
  held: 'Held until a start or a resume',
  executor: 'Run by an executor, not by claims',
  waiting: 'Waiting for their children',
  free: 'Free since a moment ago, so claim again',
} as const

type Reason = keyof typeof sentences
const reasons = Object.keys(sentences) as [Reason, ...Reason[]]

export const noClaimSchema = z.object({
  message: z.string(),
  /** `count` is the number of tasks with this reason, at most 1,000; `tasks` holds the first five. */
  reasons: z.array(z.object({ reason: z.enum(reasons), count: z.int(), tasks: z.array(boardRefSchema) })),
})

/** The maximum of open tasks that are looked at, by priority, and of those named for each reason. */
const maxLookedAt = 1_000
const maxNamed = 5

/** Explains why there is nothing for this claimant, from the tasks as they are now. */
export function explainNoClaim(
  host: BoardHost,
  target: BoardTarget,
  next: NextClaim,
): Promise<z.output<typeof noClaimSchema>> {
  return readBoard(host, target.board, function* (tx) {
    const { parentId, below, tags } = yield* claimFilterOf(tx, target, next)
    const filter = { statuses: [...openStatuses], parentId, ...(below && { below }), ...(tags && { tags }) }
    const open = yield* tx.task.list(filter, maxLookedAt)
    const grouped = Map.groupBy(open, (task) => reasonOf(task, next))
    const found: z.output<typeof noClaimSchema>['reasons'] = []
    const lines: string[] = []
    for (const reason of reasons) {
      const tasks = grouped.get(reason)
      if (tasks === undefined) continue
      const named = yield* refsOf(tx, target.board, tasks.slice(0, maxNamed))
      found.push({ reason, count: tasks.length, tasks: named.map(({ ref }) => ref) })
      const more = tasks.length > maxNamed ? ` and ${tasks.length - maxNamed} more` : ''
      lines.push(`${sentences[reason]}: ${named.map(({ ref, of }) => `${ref}${of}`).join(', ')}${more}.`)
    }
    const isNarrowed = next.parent !== undefined || (tags !== undefined && tags.length > 0)
    if (lines.length > 0) return { message: `Nothing can be claimed now. ${lines.join(' ')}`, reasons: found }
    return {
      message: isNarrowed
        ? 'There is nothing to do: no open task matches the parent and the tags.'
        : `There is nothing to do: the board "${target.board}" has no open task.`,
      reasons: [],
    }
  })
}

/** Null for a group, which ends with its children and is never claimed. */
function reasonOf(task: TaskRecord, { as, role }: NextClaim): Reason | null {
  if (task.group) return null
  const obstacle = obstacleOf(task)
  switch (obstacle) {
    case 'running':
      if (task.executor !== null) return 'executor'
      return task.owner === as ? 'yours' : 'claimed'
    case 'blocked':
    case 'timer':
    case 'answer':
    case 'held':
      return obstacle
    case 'children':
      return 'waiting'
    default:
      if (task.executor !== null) return 'executor'
      if (task.role !== null && task.role !== role) return 'role'
      return task.owner === null || task.owner === as ? 'free' : 'assigned'
  }
}

/** The tasks by number, else by id, with the owner or the role that matters. */
function* refsOf(
  tx: Reads,
  board: string,
  tasks: readonly TaskRecord[],
): Op<Array<{ ref: number | string; of: string }>> {
  const refs: Array<{ ref: number | string; of: string }> = []
  for (const task of tasks) {
    const about = task.role === null || task.status === 'working' ? task.owner : `role ${task.role}`
    const entry = yield* tx.board.entryOf(board, task.id)
    refs.push({ ref: entry?.number ?? task.id, of: about === null ? '' : ` (${about})` })
  }
  return refs
}
