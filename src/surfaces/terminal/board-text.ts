// Tasks of the board for people: the same lines that tools print, with colours on a terminal.

import { lineOf } from '../../board/list-text.ts'
import { isoTime } from '../../core/clock.ts'
import type { BoardStatus, BoardTask } from '../../entities/board.ts'
import { type CommandIo, hasColor, isLiveTerminal, type JsonFlag, printJson, printPainted } from './io.ts'
import { createPaint, type Paint } from './paint.ts'
import { cleanLine, fitWidth } from './terminal-text.ts'

const markerWidth = 3

/** One line with at most `columns` columns. */
function boardLine(task: BoardTask, paint: Paint, columns = Number.POSITIVE_INFINITY): string {
  const line = fitWidth(cleanLine(lineOf(task)), columns)
  return colorOf(task, paint)(line.slice(0, markerWidth)) + line.slice(markerWidth)
}

/** One line per task, cut to the width of a terminal. */
export function printBoard(io: CommandIo, tasks: readonly BoardTask[]): void {
  const paint = createPaint(hasColor(io))
  const columns = isLiveTerminal(io) ? (io.stdout.columns || 80) - 1 : undefined
  for (const task of tasks) printPainted(io, boardLine(task, paint, columns))
}

/** Prints a changed task and the tasks that it unblocked; with `--json` the value. */
export function printChanged(
  io: CommandIo,
  { json }: JsonFlag,
  task: BoardTask,
  unblocked: Unblocked = [],
  value: unknown = task,
): void {
  if (json) {
    printJson(io, value)
    return
  }
  printBoard(io, [task])
  printUnblocked(io, unblocked)
}

type Unblocked = ReadonlyArray<{ id: number; subject: string }>

export function printUnblocked(io: CommandIo, unblocked: Unblocked): void {
  for (const { id, subject } of unblocked) printPainted(io, `    #${id} unblocked: ${cleanLine(subject)}`)
}

/** The owner and the claim: `claimed by ann (claim 2), lease until 2030-01-31T08:00:00.000Z`; empty without an owner. */
export function claimText({ owner, fence, leaseUntil, status }: BoardTask): string {
  if (owner === '') return ''
  if (status === 'pending') return `meant for ${owner}`
  if (status === 'completed') return `by ${owner}`
  const lease = leaseUntil === null ? '' : `, lease until ${isoTime(leaseUntil)}`
  return `claimed by ${owner}${fence === 0 ? '' : ` (claim ${fence})`}${lease}`
}

type Color = (text: string) => string

/** `claimable` colours tasks that may be claimed. */
export function colorOf(task: BoardTask, paint: Paint, claimable: Color = paint.asking): Color {
  const colors: Record<BoardStatus, Color> = {
    pending: task.ready ? claimable : paint.quiet,
    in_progress: paint.busy,
    completed: paint.good,
    failed: paint.bad,
    deleted: paint.quiet,
  }
  return colors[task.status]
}
