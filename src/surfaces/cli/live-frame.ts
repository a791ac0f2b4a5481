// One picture of a running plan as lines of text: which rows fit, and what each says. Pure, so that tests can look at
// it.
import { isSettled } from '../../entities/task.ts'
import { formatDuration } from './duration.ts'
import type { Paint } from './paint.ts'
import type { Row } from './run-view.ts'
import { cleanLine, displayWidth, firstLine, fitWidth, padWidth } from './terminal-text.ts'

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const widestName = 32
const stateWidth = 10
const timeWidth = 7

export interface FrameOptions {
  now: number
  /** Counts the pictures: turns the spinner. */
  tick: number
  columns: number
  /** Most lines that may be used. */
  height: number
  paint: Paint
}

/** The rows that matter most, in the order of the plan, each on one line, and a count of the rest. */
export function drawFrame(rows: readonly Row[], options: FrameOptions): string[] {
  const shown = choose(rows, Math.max(1, options.height - 1))
  const nameWidth = Math.min(
    widestName,
    Math.max(0, ...shown.map((row) => row.depth * 2 + displayWidth(cleanLine(row.name)))),
  )
  return [...shown.map((row) => drawRow(row, nameWidth, options)), drawCount(rows, shown, options)]
}

function choose(rows: readonly Row[], room: number): readonly Row[] {
  if (rows.length <= room) return rows
  const urgent = [...rows].sort((a, b) => urgencyOf(a) - urgencyOf(b)).slice(0, room)
  const kept = new Set(urgent)
  return rows.filter((row) => kept.has(row))
}

function urgencyOf(row: Row): number {
  if (row.group) return 7
  if (row.ready) return 5
  switch (row.status) {
    case 'working':
      return 0
    case 'input_required':
      return 1
    case 'failed':
      return 2
    case 'paused':
      return 3
    case 'canceled':
      return 4
    case 'waiting':
    case 'submitted':
      return 6
    case 'completed':
      return 8
  }
}

function drawRow(row: Row, nameWidth: number, { now, tick, columns, paint }: FrameOptions): string {
  const [sign, color] = signOf(row, tick, paint)
  const name = padWidth(fitWidth('  '.repeat(row.depth) + cleanLine(row.name), nameWidth), nameWidth)
  const time = padWidth(elapsed(row, now), timeWidth)
  const head = ` ${sign} ${name}  ${padWidth(wordOf(row), stateWidth)} ${time}`
  const room = columns - displayWidth(head) - 2
  if (room < 1) return fitWidth(head.trimEnd(), columns - 1)
  return ` ${color(sign)} ${name}  ${color(padWidth(wordOf(row), stateWidth))} ${time} ${paint.quiet(fitWidth(noteOf(row), room))}`.trimEnd()
}

function drawCount(rows: readonly Row[], shown: readonly Row[], { columns, paint }: FrameOptions): string {
  const leaves = rows.filter((row) => !row.group && row.subtask !== true)
  const count = (wanted: (row: Row) => boolean) => leaves.filter(wanted).length
  const parts = [
    `${count((row) => row.status === 'completed')} of ${leaves.length} completed`,
    ...numbered(
      count((row) => row.status === 'working'),
      'working',
    ),
    ...numbered(
      count((row) => row.status === 'failed'),
      'failed',
    ),
    ...numbered(rows.length - shown.length, 'not shown'),
  ]
  return paint.quiet(fitWidth(` ${parts.join(', ')}`, columns - 1))
}

function numbered(count: number, word: string): string[] {
  return count === 0 ? [] : [`${count} ${word}`]
}

function signOf(row: Row, tick: number, paint: Paint): [string, (text: string) => string] {
  if (row.ready) return ['·', paint.quiet]
  switch (row.status) {
    case 'working':
      return [row.group ? '▾' : (spinner[tick % spinner.length] as string), paint.busy]
    case 'completed':
      return ['✓', paint.good]
    case 'failed':
      return ['✗', paint.bad]
    case 'canceled':
      return ['⊘', paint.bad]
    case 'input_required':
      return ['?', paint.asking]
    case 'paused':
      return ['‖', paint.asking]
    case 'submitted':
    case 'waiting':
      return ['·', paint.quiet]
  }
}

function wordOf(row: Row): string {
  if (row.ready) return 'queued'
  if (row.status === 'input_required') return 'asks'
  return row.status === 'submitted' ? 'waiting' : row.status
}

function elapsed(row: Row, now: number): string {
  if (row.group || row.startedAt === null) return ''
  if (row.endedAt !== null) return formatDuration(row.endedAt - row.startedAt)
  return row.status === 'working' ? formatDuration(now - row.startedAt) : ''
}

function noteOf(row: Row): string {
  if (row.group) return ''
  if (row.status === 'input_required' && !row.ready) return firstLine(row.question?.text ?? '')
  if (row.status === 'failed') return row.error
  const attempt = row.attempt > 1 && !isSettled(row.status) ? `attempt ${row.attempt}: ` : ''
  return row.status === 'working' ? attempt + row.lastLine : attempt.replace(/: $/, '')
}
