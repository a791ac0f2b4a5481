// One frame of the board as lines of text: counts, the most relevant tasks, and the latest changes. A pure function, so that tests
// can check it.

import { formatDuration } from '../../core/duration.ts'
import type { BoardStatus, BoardTask } from '../../entities/board.ts'
import { colorOf } from './board-text.ts'
import type { Paint } from './paint.ts'
import { type Columns, formatTable } from './table.ts'
import { leaseLabel } from './task-labels.ts'
import { cleanLine, fitWidth } from './terminal-text.ts'

/** The maximum of lines with changes. */
export const maxChanges = 6

export interface FrameOptions {
  now: number
  columns: number
  /** The maximum of lines. */
  height: number
  paint: Paint
}

export interface BoardPicture {
  board: string
  tasks: readonly BoardTask[]
  /** Tasks beyond the limit of the read. */
  unread: number
  /** The latest last. */
  changes: ReadonlyArray<{ at: number; text: string }>
}

/** In progress, then claimable, pending, failed and completed tasks; of the completed ones the latest first. */
export function drawBoard(
  { board, tasks, unread, changes }: BoardPicture,
  { now, columns, height, paint }: FrameOptions,
): string[] {
  const latest = changes.slice(-Math.max(0, Math.min(maxChanges, Math.floor(height / 4))))
  const room = Math.max(1, height - 2 - (latest.length === 0 ? 0 : latest.length + 1))
  const sorted = [...tasks].sort((a, b) => rankOf(a) - rankOf(b) || within(a, b))
  const shown = sorted.slice(0, room)
  const table: Columns<BoardTask> = {
    '': ({ id }) => `#${id}`,
    state: stateOf,
    owner: (task) => ownerOf(task, now),
    age: (task) => ageOf(task, now),
    subject: ({ subject }) => subject,
  }
  const [header = '', ...lines] = formatTable(shown, table, columns)
  const hidden = tasks.length - shown.length + unread
  return [
    paint.quiet(fitWidth(`${countOf(board, tasks)}${hidden > 0 ? `, ${hidden} not shown` : ''}`, columns)),
    paint.quiet(header),
    ...lines.map((line, index) => colorOf(shown[index] as BoardTask, paint, (text) => text)(line)),
    ...(latest.length === 0 ? [] : ['']),
    ...latest.map(({ at, text }) => fitWidth(`${clockTime(at)} ${cleanLine(text)}`, columns)),
  ]
}

/** `main: 1 in_progress, 2 claimable, 1 blocked, 4 completed` */
function countOf(board: string, tasks: readonly BoardTask[]): string {
  const pending = tasks.filter((task) => task.status === 'pending')
  const of = (status: BoardStatus) => tasks.filter((task) => task.status === status).length
  const claimable = pending.filter((task) => task.ready).length
  const blocked = pending.filter((task) => task.blockedBy.length > 0).length
  const counts: Array<[number, string]> = [
    [of('in_progress'), 'in_progress'],
    [claimable, 'claimable'],
    [blocked, 'blocked'],
    [pending.length - claimable - blocked, 'pending'],
    [of('failed'), 'failed'],
    [of('completed'), 'completed'],
    [of('deleted'), 'deleted'],
  ]
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  return `${cleanLine(board)}: ${parts.length === 0 ? 'no tasks' : parts.join(', ')}`
}

const ranks: Readonly<Record<BoardStatus, number>> = { in_progress: 0, pending: 2, failed: 3, completed: 4, deleted: 5 }

function rankOf({ status, ready }: BoardTask): number {
  return status === 'pending' && ready ? 1 : ranks[status]
}

/** Completed tasks: latest first. Others: by priority, then by number. */
function within(a: BoardTask, b: BoardTask): number {
  if (a.completedAt !== null && b.completedAt !== null) return b.completedAt - a.completedAt
  return b.priority - a.priority || a.id - b.id
}

function stateOf({ status, ready, queued, blockedBy, canonicalStatus }: BoardTask): string {
  if (queued) return 'queued'
  if (status === 'pending')
    return ready ? 'claimable' : blockedBy.length > 0 ? `blocked by ${blockedBy.join(', ')}` : 'pending'
  if (status === 'in_progress') return canonicalStatus === 'working' ? 'in_progress' : canonicalStatus
  return status
}

function ownerOf({ owner, leaseUntil, status }: BoardTask, now: number): string {
  if (owner === '' || leaseUntil === null || status !== 'in_progress') return owner
  return `${owner} (${leaseLabel(leaseUntil, now)})`
}

/** Since its creation or, for a completed task, since its completion. */
function ageOf({ createdAt, completedAt }: BoardTask, now: number): string {
  return formatDuration(now - (completedAt ?? createdAt))
}

/** In local time. */
function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8)
}
