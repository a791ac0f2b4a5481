// The board as text, a line a task: what coding agents print and read.
import type { BoardStatus, BoardTask } from '../entities/board.ts'

const markers: Record<BoardStatus, string> = {
  pending: '[ ]',
  in_progress: '[>]',
  completed: '[x]',
  failed: '[!]',
  deleted: '[-]',
}

type Listed = Pick<BoardTask, 'id' | 'taskId' | 'subject' | 'status' | 'owner' | 'blockedBy'>

/** `[ ] #2: Write code (blocked by: [1])`, with `@owner` where somebody owns it. */
export function lineOf({ id, taskId, subject, status, owner, blockedBy }: Listed): string {
  const who = owner === '' ? '' : ` @${owner}`
  const waits = blockedBy.length === 0 ? '' : ` (blocked by: [${blockedBy.join(', ')}])`
  return `${markers[status]} #${id === 0 ? taskId : id}: ${subject.replace(/\s+/g, ' ')}${who}${waits}`
}

/** The list as text: `No tasks.` for an empty one; of `total` tasks those that are not listed are counted at its end. */
export function listText(tasks: readonly BoardTask[], total: number = tasks.length): string {
  if (total === 0) return 'No tasks.'
  const lines = tasks.map(lineOf)
  if (total > tasks.length) lines.push(`… and ${total - tasks.length} more`)
  return lines.join('\n')
}
