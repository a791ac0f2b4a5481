// The board as text, one line per task, for coding agents to print and read.
import type { BoardStatus, BoardTask } from '../entities/board.ts'

const markers: Record<BoardStatus, string> = {
  pending: '[ ]',
  in_progress: '[>]',
  completed: '[x]',
  failed: '[!]',
  deleted: '[-]',
}

type Listed = Pick<BoardTask, 'id' | 'taskId' | 'subject' | 'status' | 'owner' | 'blockedBy'>

/** `[ ] #2: Write code (blocked by: [1])`, with `@owner` for an owned task. */
export function lineOf({ id, taskId, subject, status, owner, blockedBy }: Listed): string {
  const who = owner === '' ? '' : ` @${owner}`
  const waits = blockedBy.length === 0 ? '' : ` (blocked by: [${blockedBy.join(', ')}])`
  return `${markers[status]} #${id === 0 ? taskId : id}: ${subject.replace(/\s+/g, ' ')}${who}${waits}`
}

/** The list as text; `No tasks.` if empty. If `total` is larger than the list, the last line says how many are missing. */
export function listText(tasks: readonly BoardTask[], total: number = tasks.length): string {
  if (total === 0) return 'No tasks.'
  const lines = tasks.map(lineOf)
  if (total > tasks.length) lines.push(`… and ${total - tasks.length} more`)
  return lines.join('\n')
}
