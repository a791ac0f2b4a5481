// Shows a run on a terminal as the tree of its plan, redrawn ten times per second. `drawFrame` is pure: it chooses the rows that fit
// and formats them.
import { type Clock, systemClock } from '../core/clock.ts'
import { formatDuration } from '../core/duration.ts'
import { isSettled, type TaskStatus } from '../entities/task.ts'
import type { AnswerPrompt } from './answer-prompt.ts'
import { type CommandIo, hasColor } from './io.ts'
import { LiveScreen } from './live-screen.ts'
import { createPaint, type Paint } from './paint.ts'
import type { Reporter, RoundView, Row } from './round-view.ts'
import { cleanLine, displayWidth, firstLine, fitWidth, padWidth } from './terminal-text.ts'

const frameMs = 100
const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const maxNameWidth = 32
const stateWidth = 10
const timeWidth = 7

/** `prompt`: the line for answers to open questions; undefined without a keyboard. */
export function createLiveTree(
  io: CommandIo,
  view: RoundView,
  { prompt, clock = systemClock }: { prompt?: AnswerPrompt | undefined; clock?: Clock } = {},
): Reporter {
  const screen = new LiveScreen(io.stdout)
  const paint = createPaint(hasColor(io))
  let tick = 0
  let timer: unknown

  const draw = () => {
    // A terminal of unknown size reports 0.
    const columns = io.stdout.columns || 80
    const rows = io.stdout.rows || 24
    const now = clock.now()
    const question = prompt?.draw(view.rows, columns, now)
    const height = rows - (question === undefined ? 1 : 2)
    const lines = drawFrame(view.rows, { now, tick, columns, height, paint })
    screen.draw(question === undefined ? lines : [...lines, paint.asking(question)])
  }
  const turn = () => {
    draw()
    tick++
    timer = clock.setTimeout(turn, frameMs)
  }
  turn()
  return {
    ownsScreen: true,
    event() {}, // the next frame shows it
    end() {
      clock.clearTimeout(timer)
      prompt?.end()
      prompt = undefined
      draw()
      screen.end()
    },
  }
}

export interface FrameOptions {
  now: number
  /** The number of the frame, for the spinner. */
  tick: number
  columns: number
  /** The maximum of lines. */
  height: number
  paint: Paint
}

/** The most relevant rows that fit, in the order of the plan, one per line, and a line with counts. */
export function drawFrame(rows: readonly Row[], options: FrameOptions): string[] {
  const shown = choose(rows, Math.max(1, options.height - 1))
  const nameWidth = Math.min(
    maxNameWidth,
    Math.max(0, ...shown.map((row) => row.depth * 2 + displayWidth(cleanLine(row.name)))),
  )
  return [...shown.map((row) => drawRow(row, nameWidth, options)), drawCount(rows, shown, options)]
}

function choose(rows: readonly Row[], room: number): readonly Row[] {
  if (rows.length <= room) return rows
  const rankOf = (row: Row) => (row.group ? groupRank : styleOf(row).rank)
  const kept = new Set(rows.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, room))
  return rows.filter((row) => kept.has(row))
}

/** The style of each status. Rows with a lower `rank` are preferred when not all fit. */
const styles: Readonly<Record<TaskStatus, { sign: string; color: keyof Paint; rank: number; word?: string }>> = {
  working: { sign: '', color: 'busy', rank: 0 },
  input_required: { sign: '?', color: 'asking', rank: 1, word: 'asks' },
  failed: { sign: '✗', color: 'bad', rank: 2 },
  paused: { sign: '‖', color: 'asking', rank: 3 },
  canceled: { sign: '⊘', color: 'bad', rank: 4 },
  waiting: { sign: '·', color: 'quiet', rank: 6 },
  submitted: { sign: '·', color: 'quiet', rank: 6, word: 'waiting' },
  completed: { sign: '✓', color: 'good', rank: 8 },
}
const queued = { sign: '·', color: 'quiet', rank: 5, word: 'queued' } as const
const groupRank = 7

function styleOf(row: Row) {
  return row.ready ? queued : styles[row.status]
}

function drawRow(row: Row, nameWidth: number, { now, tick, columns, paint }: FrameOptions): string {
  const style = styleOf(row)
  const [color, word] = [paint[style.color], padWidth(style.word ?? row.status, stateWidth)]
  const spinning = row.group ? '▾' : (spinner[tick % spinner.length] as string)
  const sign = style.sign || spinning
  const name = padWidth(fitWidth('  '.repeat(row.depth) + cleanLine(row.name), nameWidth), nameWidth)
  const time = padWidth(elapsed(row, now), timeWidth)
  const head = ` ${sign} ${name}  ${word} ${time}`
  const room = columns - displayWidth(head) - 2
  if (room < 1) return fitWidth(head.trimEnd(), columns - 1)
  return ` ${color(sign)} ${name}  ${color(word)} ${time} ${paint.quiet(fitWidth(noteOf(row), room))}`.trimEnd()
}

function drawCount(rows: readonly Row[], shown: readonly Row[], { columns, paint }: FrameOptions): string {
  const leaves = rows.filter((row) => !row.group && row.subtask !== true)
  const count = (status: TaskStatus) => leaves.filter((row) => row.status === status).length
  const parts = [
    `${count('completed')} of ${leaves.length} completed`,
    ...numbered(count('working'), 'working'),
    ...numbered(count('failed'), 'failed'),
    ...numbered(rows.length - shown.length, 'not shown'),
  ]
  return paint.quiet(fitWidth(` ${parts.join(', ')}`, columns - 1))
}

function numbered(count: number, word: string): string[] {
  return count === 0 ? [] : [`${count} ${word}`]
}

function elapsed(row: Row, now: number): string {
  if (row.group || row.startedAt === null) return ''
  if (row.endedAt !== null) return formatDuration(row.endedAt - row.startedAt)
  return row.status === 'working' ? formatDuration(now - row.startedAt) : ''
}

function noteOf(row: Row): string {
  if (row.group) return ''
  if (row.status === 'input_required' && !row.ready) return firstLine(row.question?.question ?? '')
  if (row.status === 'failed') return row.error
  const attempt = row.attempt > 1 && !isSettled(row.status) ? `attempt ${row.attempt}: ` : ''
  return row.status === 'working' ? attempt + row.lastLine : attempt.replace(/: $/, '')
}
