// Shows a run on a terminal as the tree of its plan, redrawn ten times per second. `drawFrame` is pure: it chooses the rows that fit
// and formats them.
import { type Clock, systemClock } from '../../core/clock.ts'
import { formatDuration } from '../../core/duration.ts'
import type { TaskStatus } from '../../entities/task.ts'
import type { AnswerPrompt } from './answer-prompt.ts'
import { type CommandIo, hasColor } from './io.ts'
import { LiveScreen } from './live-screen.ts'
import { createPaint, type Paint } from './paint.ts'
import { type Reporter, type RoundRows, type Row, rowLabel } from './round-rows.ts'
import { displayWidth, firstLine, fitWidth, padWidth } from './terminal-text.ts'

const frameMs = 100
const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
/** A longer name gets only columns that no note needs. */
const defaultNameWidth = 32
/** A name keeps at least so much, if it is as long; notes get the columns that it leaves. */
const minNameWidth = 12
const preferredNoteWidth = 24
/** Less of a note is not worth showing. */
const minNoteWidth = 8

/** `prompt`: the lines for answers to open questions; undefined without a keyboard. */
export function createLiveView(
  io: CommandIo,
  view: RoundRows,
  { prompt, clock = systemClock }: { prompt?: AnswerPrompt | undefined; clock?: Clock } = {},
): Reporter {
  const screen = new LiveScreen(io.stdout)
  const begunAt = clock.now()
  const paint = createPaint(hasColor(io))
  let tick = 0
  let timer: unknown

  const draw = () => {
    // A terminal of unknown size reports 0.
    const columns = io.stdout.columns || 80
    const rows = io.stdout.rows || 24
    const now = clock.now()
    // The tree has at least a row and its counts, and the cursor a line below.
    const question = prompt?.draw(view.rows, { columns, height: rows - 3 }, now) ?? []
    const lines = drawFrame(view.rows, { now, begunAt, tick, columns, height: rows - 1 - question.length, paint })
    screen.draw([...lines, ...question.map(paint.asking)])
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
  /** When the run began. */
  begunAt: number
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
  const noted = shown.map((row) => ({ row, note: row.group ? progressOf(row, rows) : noteOf(row) }))
  const widths = widthsOf(noted, options)
  return [...noted.map((each) => drawRow(each, widths, options)), drawCount(rows, shown, options)]
}

interface NotedRow {
  row: Row
  note: string
}

interface Widths {
  name: number
  word: number
  time: number
}

/** The widths of the columns. On a narrow terminal a long name is cut, so that its note can be read. */
function widthsOf(noted: readonly NotedRow[], { now, columns }: FrameOptions): Widths {
  const widest = (texts: string[]) => Math.max(0, ...texts.map(displayWidth))
  const rows = noted.map(({ row }) => row)
  const word = widest(rows.map((row) => row.word))
  const time = widest(rows.map((row) => elapsed(row, now)))
  const widestNote = widest(noted.map(({ note }) => note))
  const notes = widestNote === 0 ? 0 : Math.max(minNoteWidth, widestNote)
  const free = columns - headWidth({ name: 0, word, time }) - 3
  const preferred = Math.min(defaultNameWidth, free - Math.min(preferredNoteWidth, notes))
  const longest = widest(rows.map(indentedName))
  return { name: Math.min(longest, Math.max(minNameWidth, preferred, free - notes)), word, time }
}

/** Of the sign, the columns and the spaces between them. */
function headWidth({ name, word, time }: Widths): number {
  return 3 + name + 2 + word + (time === 0 ? 0 : 2 + time)
}

function indentedName(row: Row): string {
  return '  '.repeat(row.depth) + rowLabel(row, row.name)
}

function choose(rows: readonly Row[], room: number): readonly Row[] {
  if (rows.length <= room) return rows
  const rankOf = (row: Row) => (row.group ? groupRank : styleOf(row).rank)
  const kept = new Set(rows.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, room))
  return rows.filter((row) => kept.has(row))
}

/** The style of each status. Rows with a lower `rank` are preferred when not all fit. */
const styles: Readonly<Record<TaskStatus, { sign: string; color: keyof Paint; rank: number }>> = {
  working: { sign: '', color: 'busy', rank: 0 },
  input_required: { sign: '?', color: 'asking', rank: 1 },
  failed: { sign: '✗', color: 'bad', rank: 2 },
  paused: { sign: '‖', color: 'asking', rank: 3 },
  canceled: { sign: '⊘', color: 'bad', rank: 4 },
  waiting: { sign: '·', color: 'quiet', rank: 6 },
  submitted: { sign: '·', color: 'quiet', rank: 6 },
  completed: { sign: '✓', color: 'good', rank: 8 },
}
const queued = { sign: '·', color: 'quiet', rank: 5 } as const
const groupRank = 7

function styleOf(row: Row) {
  return row.ready ? queued : styles[row.status]
}

function drawRow({ row, note }: NotedRow, widths: Widths, { now, tick, columns, paint }: FrameOptions): string {
  const style = styleOf(row)
  const color = paint[style.color]
  const word = padWidth(row.word, widths.word)
  const sign = style.sign || (row.group ? '▾' : (spinner[tick % spinner.length] as string))
  const name = padWidth(fitWidth(indentedName(row), widths.name), widths.name)
  const time = widths.time === 0 ? '' : `  ${padWidth(elapsed(row, now), widths.time)}`
  const head = ` ${sign} ${name}  ${word}${time}`
  const room = columns - displayWidth(head) - 3
  if (displayWidth(head.trimEnd()) >= columns) return fitWidth(head.trimEnd(), columns - 1)
  const shownNote = room < minNoteWidth ? '' : paint.quiet(fitWidth(note, room))
  return ` ${color(sign)} ${name}  ${color(word)}${time}  ${shownNote}`.trimEnd()
}

/** Tasks of the plan; those that agents create are no part of its progress. */
function countable(row: Row): boolean {
  return !row.group && row.subtask !== true
}

/** `8 of 10` of the tasks in a group, at any depth. */
function progressOf(group: Row, rows: readonly Row[]): string {
  const after = rows.slice(rows.indexOf(group) + 1)
  const end = after.findIndex(({ depth }) => depth <= group.depth)
  const inside = (end === -1 ? after : after.slice(0, end)).filter(countable)
  return `${inside.filter(({ status }) => status === 'completed').length} of ${inside.length}`
}

function drawCount(
  rows: readonly Row[],
  shown: readonly Row[],
  { now, begunAt, columns, paint }: FrameOptions,
): string {
  const leaves = rows.filter(countable)
  const count = (status: TaskStatus) => leaves.filter((row) => row.status === status).length
  const parts = [
    `${count('completed')} of ${leaves.length} completed`,
    ...numbered(count('working'), 'working'),
    ...numbered(count('failed'), 'failed'),
    ...numbered(rows.length - shown.length, 'not shown'),
    formatDuration(now - begunAt),
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
  if (row.status === 'input_required' && !row.ready) return firstLine(row.question?.question ?? '')
  const attempt = row.attempt > 1 ? `attempt ${row.attempt}` : ''
  const said = row.status === 'failed' ? row.error : row.status === 'working' ? row.lastLine : ''
  return [attempt, said].filter((part) => part !== '').join(': ')
}
