// What a task has printed, as lines: stored output from its events, and output that is only live from its stream. The stream repeats the
// stored output, which is left to the events.

import { startOf } from '../../../src/core/storable-text.ts'
import type { OutputStreamName } from '../../../src/entities/output.ts'
import { textIn } from './event-data.ts'
import type { RunRecord, StreamItem, TaskEvent } from './wire.ts'

/** A piece of output from the stream. `seq` is the position of its event, or of the event before it. */
export interface OutputPiece {
  seq: number
  text: string
  stream: OutputStreamName
}

export interface OutputLine {
  attempt: number
  stream: OutputStreamName
  text: string
}

/** Adjacent lines of one stream. */
export interface OutputBlock extends OutputLine {
  /** Position of its first line among all lines. */
  first: number
}

/** Live pieces that are kept, and their characters; older ones are dropped. */
const maxPieces = 2_000
const maxLiveLength = 200_000
/** A longer line is shown in part. In UTF-16 units. */
const maxLineLength = 2_000

/** Undefined for an item that is no output. */
export function pieceIn(item: StreamItem): OutputPiece | undefined {
  if (item.type !== 'content' || item.messageId !== undefined) return undefined
  return { seq: item.seq, text: item.content, stream: item.stream ?? 'stdout' }
}

/** The pieces that no event has. */
export function unstored(pieces: readonly OutputPiece[], events: readonly TaskEvent[]): OutputPiece[] {
  return pieces.filter((piece) => !isStored(piece, events))
}

/** The latest pieces, as many as are kept. */
export function latest(pieces: readonly OutputPiece[]): OutputPiece[] {
  const kept = pieces.slice(-maxPieces)
  let length = kept.reduce((sum, { text }) => sum + text.length, 0)
  while (length > maxLiveLength && kept.length > 1) length -= (kept.shift() as OutputPiece).text.length
  return kept
}

function isStored({ seq, text }: OutputPiece, events: readonly TaskEvent[]): boolean {
  // From the end, near which a live piece is.
  const event = events.findLast((each) => each.seq <= seq)
  return event?.seq === seq && event.type === 'output.written' && textIn(event.data, 'text') === text
}

/** The output of the generation of these runs. A line is begun by one piece and may be continued by the next of its stream. */
export function outputLines(
  events: readonly TaskEvent[],
  runs: readonly RunRecord[],
  live: readonly OutputPiece[],
): OutputLine[] {
  const attempts = new Map(runs.map(({ number, attempt }) => [number, attempt]))
  const firstRun = runs[0]?.number ?? 0
  // An event may arrive before its run has been read.
  const lastAttempt = runs.at(-1)?.attempt ?? 1
  const lines = new Lines()
  let next = 0
  for (const { type, seq, data } of events) {
    if (type !== 'output.written' || Number(data['run']) < firstRun) continue
    for (let piece = live[next]; piece !== undefined && piece.seq < seq; piece = live[++next])
      lines.add(lastAttempt, piece)
    const stream = data['stream'] === 'stderr' ? 'stderr' : 'stdout'
    lines.add(attempts.get(Number(data['run'])) ?? lastAttempt, { stream, text: textIn(data, 'text') })
  }
  for (const piece of live.slice(next)) lines.add(lastAttempt, piece)
  return lines.all
}

class Lines {
  readonly all: OutputLine[] = []
  #isOpen = false

  add(attempt: number, { stream, text }: Pick<OutputPiece, 'stream' | 'text'>): void {
    const [first = '', ...rest] = text.split('\n')
    const last = this.all.at(-1)
    const continues = this.#isOpen && last?.attempt === attempt && last.stream === stream
    if (continues) last.text += first
    else rest.unshift(first)
    this.#isOpen = !text.endsWith('\n')
    if (!this.#isOpen) rest.pop()
    for (const line of rest) this.all.push({ attempt, stream, text: line })
  }
}

/** Joins adjacent lines of one stream, so that many lines are few elements. `first` is the position of the first line. */
export function outputBlocks(lines: readonly OutputLine[], first = 0): OutputBlock[] {
  const blocks: OutputBlock[] = []
  for (const [index, { attempt, stream, text }] of lines.entries()) {
    const block = blocks.at(-1)
    const shown = shownLine(text)
    if (block?.attempt === attempt && block.stream === stream) block.text += `\n${shown}`
    else blocks.push({ attempt, stream, text: shown, first: first + index })
  }
  return blocks
}

/** Escape sequences of terminals, and control characters other than tabs. */
const controls = /(?!\t)\p{Cc}(?:\[[0-?]*[ -/]*[@-~]|\][^\p{Cc}]*\p{Cc}\\?)?/gu

/** What a terminal would show of a line, without colours: a carriage return writes over what stood before. */
export function shownLine(line: string): string {
  const piece = line.split('\r').findLast((each) => each !== '') ?? ''
  const text = piece.replace(controls, '')
  if (text.length <= maxLineLength) return text
  return `${startOf(text, maxLineLength)}… (${text.length.toLocaleString('en')} characters)`
}

const outputStreams: readonly OutputStreamName[] = ['stdout', 'stderr']
/** Lines shown with an error. */
const maxLastLines = 20

/** The last lines that an attempt printed. Of a command that printed more than is stored, the details of its error have the end. */
export function lastOutput(lines: readonly OutputLine[], attempt: number, details: unknown): OutputLine[] {
  const printed = lines.filter((line) => line.attempt === attempt)
  const ends = endsIn(details, attempt)
  const isWhole = outputStreams.every((stream) => {
    const last = lastOf(ends, stream)
    return last === undefined || last === lastOf(printed, stream)
  })
  return (isWhole ? printed : ends).slice(-maxLastLines)
}

function endsIn(details: unknown, attempt: number): OutputLine[] {
  const texts = (details ?? {}) as Partial<Record<OutputStreamName, unknown>>
  const lines = new Lines()
  for (const stream of outputStreams) {
    const text = texts[stream]
    if (typeof text === 'string' && text !== '') lines.add(attempt, { stream, text })
  }
  return lines.all
}

function lastOf(lines: readonly OutputLine[], stream: OutputStreamName): string | undefined {
  return lines.findLast((line) => line.stream === stream && line.text.trim() !== '')?.text
}
