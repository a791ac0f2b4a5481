// The runs, model steps, calls, questions and waits of a task as bars and marks on lanes. Positions are fractions of the visible range.

import { callStarts, type StartOf } from './call-starts.ts'
import { answererIn, textIn } from './event-data.ts'
import { tokensText } from './format.ts'
import { paramsText } from './params-text.ts'
import type { Call, Message, RunRecord, TaskEvent } from './wire.ts'

export interface Range {
  from: number
  to: number
}

export interface Bar {
  id: string
  kind: 'run' | 'step' | 'call' | 'rest'
  /** Outcome of a run, status of a call, state of a rest. */
  status: string
  label: string
  from: number
  /** Null while it is in progress. */
  to: number | null
  lane: number
}

export interface Mark {
  id: string
  kind: 'question' | 'answer' | 'failure' | 'claim'
  label: string
  at: number
  lane: number
}

export interface Timeline {
  /** Labels of the lanes, from top to bottom. */
  lanes: string[]
  bars: Bar[]
  marks: Mark[]
  /** From the first event to the last, or to now while something is in progress. */
  range: Range
}

const maxCallLanes = 6

export interface TimelineSource {
  runs: readonly RunRecord[]
  calls: readonly Call[]
  /** Those of models have their steps. */
  messages: readonly Message[]
  events: readonly TaskEvent[]
  /** Epoch milliseconds; the end of bars in progress. */
  now: number
}

/** `runs` and `calls` are of one generation. */
export function timelineOf({ runs, calls, messages, events: all, now }: TimelineSource): Timeline {
  const beginning = beginningOf(runs)
  const events = all.filter(({ at }) => at >= beginning)
  const attempts = [...new Set(runs.map(({ attempt }) => attempt))].sort((a, b) => a - b)
  const laneOfAttempt = new Map(attempts.map((attempt, index) => [attempt, index]))
  const rests = restsOf(events)
  const hasRestLane = rests.length > 0 || events.some(({ type }) => type in markKinds && type !== 'task.failed')
  const restLane = attempts.length
  const firstStepLane = restLane + (hasRestLane ? 1 : 0)
  const runBars = runs.map((run) => toRunBar(run, laneOfAttempt.get(run.attempt) ?? 0))
  const restBars = rests.map((bar) => ({ ...bar, lane: restLane }))
  const steps = packLanes(
    messages.flatMap((message) => toStepBar(message, beginning)),
    now,
    firstStepLane,
  )
  const startOf = callStarts(all)
  const packed = packLanes(
    calls.map((call) => toCallBar(call, startOf)),
    now,
    firstStepLane + steps.lanes,
  )
  const bars = [...runBars, ...restBars, ...steps.bars, ...packed.bars]
  const marks = events.flatMap((event) => toMark(event, restLane, runBars))
  return {
    lanes: [
      ...attempts.map((attempt) => `attempt ${attempt}`),
      ...(hasRestLane ? ['waits'] : []),
      ...laneNames('model', steps.lanes),
      ...laneNames('calls', packed.lanes),
    ],
    bars,
    marks,
    range: rangeOf(bars, marks, now),
  }
}

function laneNames(name: string, lanes: number): string[] {
  return Array.from({ length: lanes }, (_, index) => (index === 0 ? name : ''))
}

/** When the generation of these runs began: the first with the task, a later one with its first run. */
function beginningOf([first]: readonly RunRecord[]): number {
  return first === undefined || first.generation === 1 ? 0 : first.startedAt
}

function toStepBar({ id, step, timestamp }: Message, beginning: number): Array<Omit<Bar, 'lane'>> {
  if (step?.tookMs === undefined || timestamp < beginning) return []
  const { modelId, tookMs, usage } = step
  const label = [modelId || 'model', tokensText(usage)].filter((part) => part !== '').join(', ')
  return [{ id, kind: 'step', status: 'completed', label, from: timestamp - tookMs, to: timestamp }]
}

function toRunBar(run: RunRecord, lane: number): Bar {
  return {
    id: `run-${run.number}`,
    kind: 'run',
    status: run.outcome ?? 'live',
    label: `run ${run.number}`,
    from: run.startedAt,
    to: run.endedAt,
    lane,
  }
}

function toCallBar(call: Call, startOf: StartOf): Omit<Bar, 'lane'> {
  const over = call.status === 'completed' || call.status === 'failed'
  return {
    id: call.id,
    kind: 'call',
    status: call.status,
    label: `${call.name} ${paramsText(call.params)}`.trimEnd(),
    from: startOf(call),
    to: over ? call.updatedAt : null,
  }
}

/** Periods in which the task rested: from entering such a state to leaving it. */
function restsOf(events: readonly TaskEvent[]): Array<Omit<Bar, 'lane'>> {
  const rests: Array<Omit<Bar, 'lane'>> = []
  let open: Omit<Bar, 'lane'> | undefined
  for (const { data, at, seq } of events) {
    const status = textIn(data, 'status')
    if (open !== undefined && open.status !== status) {
      rests.push({ ...open, to: at })
      open = undefined
    }
    if (open === undefined && (status === 'waiting' || status === 'input_required' || status === 'paused')) {
      open = { id: `rest-${seq}`, kind: 'rest', status, label: status, from: at, to: null }
    }
  }
  if (open !== undefined) rests.push(open)
  return rests
}

/** Overlapping calls are stacked; beyond the last lane they share it. */
function packLanes(
  calls: ReadonlyArray<Omit<Bar, 'lane'>>,
  now: number,
  first: number,
): { bars: Bar[]; lanes: number } {
  const ends: number[] = []
  const bars = [...calls]
    .sort((a, b) => a.from - b.from)
    .map((bar) => {
      const free = ends.findIndex((end) => end <= bar.from)
      const lane = free >= 0 ? free : Math.min(ends.length, maxCallLanes - 1)
      ends[lane] = Math.max(ends[lane] ?? 0, bar.to ?? now)
      return { ...bar, lane: first + lane }
    })
  return { bars, lanes: ends.length }
}

const markKinds: Readonly<Partial<Record<TaskEvent['type'], Mark['kind']>>> = {
  'question.asked': 'question',
  'task.answered': 'answer',
  'task.claimed': 'claim',
  'task.failed': 'failure',
}

/** A failure is marked on its run; one without a run is not marked, because there is nothing to compare it with. */
function toMark({ type, data, at, seq }: TaskEvent, restLane: number, runs: readonly Bar[]): Mark[] {
  const kind = markKinds[type]
  if (kind === undefined) return []
  const lane = kind === 'failure' ? runs.findLast(({ from }) => from <= at)?.lane : restLane
  return lane === undefined ? [] : [{ id: `mark-${seq}`, kind, label: markLabel(kind, data), at, lane }]
}

function markLabel(kind: Mark['kind'], data: TaskEvent['data']): string {
  if (kind === 'question') return `asked: ${textIn(data, 'question')}`
  if (kind === 'answer') return `answered${answererIn(data)}`
  if (kind === 'claim') return `claimed by ${textIn(data, 'owner')}`
  return `failed${data['willRetry'] === true ? ', will be retried' : ''}`
}

function rangeOf(bars: readonly Bar[], marks: readonly Mark[], now: number): Range {
  const from = Math.min(...bars.map((bar) => bar.from), ...marks.map((mark) => mark.at), now)
  const ends = [...bars.map((bar) => bar.to ?? now), ...marks.map((mark) => mark.at)]
  const to = ends.length === 0 ? now : Math.max(...ends)
  return { from, to: Math.max(to, from + 1) }
}

/** The bars of a range that are drawn: all runs and rests, and the longest of the others if there are too many. */
export function drawnBars(
  bars: readonly Bar[],
  range: Range,
  now: number,
  max: number,
): { drawn: Bar[]; left: number } {
  const inSight = bars.filter(({ from, to }) => from <= range.to && (to ?? now) >= range.from)
  if (inSight.length <= max) return { drawn: inSight, left: 0 }
  const isShown = ({ kind }: Bar) => kind === 'run' || kind === 'rest'
  const length = (bar: Bar) => (isShown(bar) ? Number.POSITIVE_INFINITY : (bar.to ?? now) - bar.from)
  const kept = new Set([...inSight].sort((a, b) => length(b) - length(a)).slice(0, max))
  return { drawn: inSight.filter((bar) => kept.has(bar)), left: inSight.length - kept.size }
}

const minRange = 1

/** Zooms around a position of the range: 0.5 shows half as much. Never beyond the whole range. */
export function zoomed(range: Range, whole: Range, factor: number, around: number): Range {
  const size = Math.min(Math.max((range.to - range.from) * factor, minRange), whole.to - whole.from)
  const from = around - ((around - range.from) / (range.to - range.from)) * size
  return within({ from, to: from + size }, whole)
}

/** Moves by a fraction of the visible range. */
export function moved(range: Range, whole: Range, part: number): Range {
  const by = (range.to - range.from) * part
  return within({ from: range.from + by, to: range.to + by }, whole)
}

/** Position of a time: 0 at the left edge, 1 at the right. */
export function positionOf(at: number, { from, to }: Range): number {
  return (at - from) / (to - from)
}

function within({ from, to }: Range, whole: Range): Range {
  const size = Math.min(to - from, whole.to - whole.from)
  const start = Math.min(Math.max(from, whole.from), whole.to - size)
  return { from: start, to: start + size }
}

const niceSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500].concat(
  [1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  [1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  [1, 2, 6, 12, 24, 48, 168].map((hours) => hours * 3_600_000),
)

/** Round times since the start, at most `max`. */
export function ticksOf(range: Range, origin: number, max: number): number[] {
  const size = range.to - range.from
  const step = niceSteps.find((each) => size / each <= max) ?? Math.ceil(size / max)
  const first = Math.ceil((range.from - origin) / step) * step + origin
  const ticks: number[] = []
  for (let at = first; at <= range.to; at += step) ticks.push(at)
  return ticks
}
