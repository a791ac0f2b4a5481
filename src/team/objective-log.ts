// What became of objectives, when, and by whom: read from the events of their task, which nobody can change.
import type { Caller } from '../bus/caller.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { ObjectiveStatus } from '../entities/team.ts'
import type { Op } from '../ledger/ledger.ts'
import { requireObjectives } from './objectives.ts'
import { loadShared } from './reach.ts'
import type { TeamHost } from './team-host.ts'

/** One change of an objective. `from` and `to` are the same where only its agent or its notes changed. */
export interface ObjectiveLogLine {
  /** Epoch milliseconds. */
  at: number
  objectiveId: number
  from: ObjectiveStatus
  to: ObjectiveStatus
  agentId: string | null
  notes: string | null
}

/** Events read at once. */
const eventsAtOnce = 1_000

/** The changes of one objective, or of all, oldest first. @throws ErrandError NOT_FOUND */
export function objectiveLog(
  host: TeamHost,
  caller: Caller,
  { taskId, objectiveId }: { taskId: string; objectiveId?: number | undefined },
): Promise<ObjectiveLogLine[]> {
  return host.read(function* (tx): Op<ObjectiveLogLine[]> {
    const task = yield* loadShared(tx, caller, taskId)
    if (objectiveId !== undefined) yield* requireObjectives(tx, task, [objectiveId])
    const lines: ObjectiveLogLine[] = []
    for (let after = 0; ; ) {
      const events = yield* tx.event.after(after, eventsAtOnce, taskId)
      for (const event of events) {
        if (event.type !== 'objective.updated') continue
        const line = toLine(event)
        if (objectiveId === undefined || line.objectiveId === objectiveId) lines.push(line)
      }
      const last = events.at(-1)
      if (last === undefined || events.length < eventsAtOnce) return lines
      after = last.seq
    }
  })
}

function toLine({ at, data }: TaskEvent): ObjectiveLogLine {
  const { objectiveId, from, to, agentId, notes } = data as Omit<ObjectiveLogLine, 'at'>
  return { at, objectiveId, from, to, agentId, notes }
}
