// The words that filter tasks by state: the eight states, and the words of the designs that this engine joins. For
// input only; output always has one of the eight states.
import { z } from 'zod'
import type { TaskStatus } from './task.ts'

/** The meaning of a word. */
export interface StatusFilter {
  statuses: TaskStatus[]
  /** Of the WAITING ones only those whose holder was lost or released them (true), or only the others (false). */
  released?: boolean
}

/**
 * A word that is one of the eight states means that state, even if it means something else in a design: `waiting` of processes would
 * include more, and `failed` of teams would include canceled tasks.
 */
const meanings = {
  submitted: { statuses: ['submitted'] },
  working: { statuses: ['working'] },
  paused: { statuses: ['paused'] },
  input_required: { statuses: ['input_required'] },
  waiting: { statuses: ['waiting'] },
  completed: { statuses: ['completed'] },
  failed: { statuses: ['failed'] },
  canceled: { statuses: ['canceled'] },
  // Of processes (S1). Boards say `pending` for the same.
  pending: { statuses: ['submitted', 'waiting'], released: true },
  running: { statuses: ['working'] },
  killed: { statuses: ['canceled'] },
  // Of completion (S0).
  success: { statuses: ['completed'] },
  cancelled: { statuses: ['canceled'] },
  // Of teams (S2).
  active: { statuses: ['submitted', 'working', 'input_required', 'waiting'] },
  // Of boards (S4).
  in_progress: { statuses: ['working', 'paused', 'input_required', 'waiting'], released: false },
  deleted: { statuses: ['canceled'] },
} as const satisfies Readonly<Record<string, Readonly<{ statuses: readonly TaskStatus[]; released?: boolean }>>>

export type StatusWord = keyof typeof meanings
export const statusLabels = Object.keys(meanings) as [StatusWord, ...StatusWord[]]

/** One word. */
export const statusWordSchema = z.enum(statusLabels)

/** One word or several, joined by or. */
export const statusFilterSchema = z.union([statusWordSchema, z.array(statusWordSchema).min(1)])

/** The union of the meanings of the words. */
export function filterByStatus(words: StatusWord | readonly StatusWord[]): StatusFilter {
  const found: StatusFilter[] = [words]
    .flat()
    .map((word) => ({ ...meanings[word], statuses: [...meanings[word].statuses] }))
  const statuses = [...new Set(found.flatMap((each) => each.statuses))]
  const waiting = new Set(found.filter((each) => each.statuses.includes('waiting')).map(({ released }) => released))
  const [released] = waiting.size === 1 ? waiting : []
  return released === undefined ? { statuses } : { statuses, released }
}
