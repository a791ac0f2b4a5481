// TAB completion for tasks: the name if it is one word and unique, else the number; the id if the user has begun to type one.

import { openStatuses, type TaskStatus } from '../../entities/task.ts'
import { statesAccepting } from '../../machines/task-edges.ts'
import type { TaskEventName } from '../../machines/task-machine.ts'
import type { TaskRow } from '../../operations/views/task-row.ts'
import { wordsOf } from './read-line.ts'
import type { Session } from './session.ts'

/** Names of the tasks in these states. @param typed the typed beginning of the name. */
export async function taskRefs(session: Session, typed: string, statuses?: readonly TaskStatus[]): Promise<string[]> {
  const rows = await session.rows({ status: statuses })
  const byName = Map.groupBy(rows, ({ name }) => name)
  if (typed.startsWith('#')) return rows.map(({ seq }) => `#${seq}`)
  if (typed.startsWith('task-') || (typed !== '' && rows.some(({ id }) => id.startsWith(typed))))
    return rows.map(({ id }) => id)
  if (/^\d+$/.test(typed)) return rows.map(({ seq }) => `${seq}`)
  return rows.map((row) => refOf(row, byName.get(row.name)?.length === 1))
}

function refOf({ name, seq }: TaskRow, isOnlyOne: boolean): string {
  const isOneWord = /^[\p{L}_][\p{L}\p{N}_.:-]*$/u.test(name) && !name.startsWith('task-')
  return isOneWord && isOnlyOne ? name : `${seq}`
}

/** Completes the first word after a verb with tasks that accept one of these events. */
export function refsAccepting(...events: TaskEventName[]) {
  return refsIn(events.flatMap(statesAccepting))
}

export const openRefs = refsIn(openStatuses)
export const anyRefs = refsIn(undefined)

function refsIn(statuses: readonly TaskStatus[] | undefined) {
  return async (session: Session, typed: string): Promise<readonly string[]> => {
    const words = wordsOf(typed)
    const isFirst = words.length === 0 || (words.length === 1 && !/\s$/.test(typed))
    return isFirst ? await taskRefs(session, words[0] ?? '', statuses) : []
  }
}
