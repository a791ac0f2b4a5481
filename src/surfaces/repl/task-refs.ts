// What TAB offers where a task is to be named: its name where that is one word and no other task has it, else its number; and its id for
// whoever has begun to type one.
import type { TaskRow } from '../../abilities/views/task-row.ts'
import { openStatuses, type TaskStatus } from '../../entities/task.ts'
import { statesAccepting, type TaskEventName } from '../../machines/task-machine.ts'
import { wordsOf } from './read-line.ts'
import type { Session } from './session.ts'

/** Of the tasks in these states. @param typed what has been typed of the name so far. */
export async function taskRefs(session: Session, typed: string, statuses?: readonly TaskStatus[]): Promise<string[]> {
  const rows = await session.rows({ status: statuses })
  const byName = Map.groupBy(rows, ({ name }) => name)
  if (typed.startsWith('#')) return rows.map(({ seq }) => `#${seq}`)
  if (typed.startsWith('task-')) return rows.map(({ id }) => id)
  if (/^\d+$/.test(typed)) return rows.map(({ seq }) => `${seq}`)
  return rows.map((row) => minRefLength(row, byName.get(row.name)?.length === 1))
}

function minRefLength({ name, seq }: TaskRow, isOnlyOne: boolean): string {
  const isOneWord = /^[\p{L}_][\p{L}\p{N}_.:-]*$/u.test(name) && !name.startsWith('task-')
  return isOneWord && isOnlyOne ? name : `${seq}`
}

/** Completes the first word after a verb that does this to a task: only tasks that would take it. */
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
