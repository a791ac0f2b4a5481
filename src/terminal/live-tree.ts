// A run on a terminal: the tree of the plan, redrawn while it changes, ten times a second at most. A picture of it is pure: which
// rows fit, and what each says.
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
const widestName = 32
const stateWidth = 10
const timeWidth = 7

/** `prompt`: where open questions are answered; undefined when nobody sits at a keyboard. */
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
    // A terminal that does not know its size says 0.
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
    event() {}, // the next picture shows it
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
  const rankOf = (row: Row) => (row.group ? groupRank : lookOf(row).rank)
  const kept = new Set(rows.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, room))
  return rows.filter((row) => kept.has(row))
}

/** How a task of each status looks. Rows of lower `rank` are shown first where there is no room for all. */
const looks: Readonly<Record<TaskStatus, { sign: string; color: keyof Paint; rank: number; word?: string }>> = {
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

function lookOf(row: Row) {
  return row.ready ? queued : looks[row.status]
}

function drawRow(row: Row, nameWidth: number, { now, tick, columns, paint }: FrameOptions): string {
  const look = lookOf(row)
  const [color, word] = [paint[look.color], padWidth(look.word ?? row.status, stateWidth)]
  const turning = row.group ? '▾' : (spinner[tick % spinner.length] as string)
  const sign = look.sign || turning
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
