// The runs, model steps, calls and waits of a task on lanes. Zoomed with Ctrl and the wheel, by dragging, or with the keyboard; every bar is focusable
// and has a label.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { startOf } from '../../../src/core/storable-text.ts'
import { clipped, clockTime, counted, duration, sinceStart } from '../model/format.ts'
import {
  type Bar,
  drawnBars,
  type Mark,
  moved,
  positionOf,
  type Range,
  type Timeline,
  ticksOf,
  timelineOf,
  zoomed,
} from '../model/timeline.ts'
import type { Call, Message, RunRecord, TaskEvent } from '../model/wire.ts'
import { Section, useNow, useWidth } from './elements.tsx'

const laneHeight = 22
const labelWidth = 74
const headHeight = 20
const minBar = 3
const maxBars = 400
const letterWidth = 6.2
/** A label of which fewer letters fit on the bar is left out. */
const minLetters = 6
/** Offset of a label, since a rest often starts with the mark of a question. */
const besideMark = 14
/** Space for the left half of a mark at the very start. */
const besideLabel = 9

interface TaskTimelineProps {
  runs: RunRecord[]
  calls: Call[]
  messages: Message[]
  events: TaskEvent[]
  /** The shown time of the past; null for now. */
  until: number | null
}

/** Nothing for a task that has not run, waited or asked. */
export function TimelineSection({ runs, calls, messages, events, until }: TaskTimelineProps) {
  const isActive = runs.some(({ endedAt }) => endedAt === null) || calls.some(({ status }) => status === 'in_progress')
  const second = useNow(isActive ? 500 : 60_000)
  const now = until ?? second
  const timeline = useMemo(
    () => timelineOf({ runs, calls, messages, events, now }),
    [runs, calls, messages, events, now],
  )
  return timeline.bars.length + timeline.marks.length === 0 ? null : (
    <Section title="Timeline" note={`${counted(runs.length, 'run')}, ${counted(calls.length, 'call')}`}>
      <Measured timeline={timeline} now={now} />
    </Section>
  )
}

function Measured(props: { timeline: Timeline; now: number }) {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  return (
    <div ref={box} class="timeline-box">
      {width === 0 ? null : <Drawing {...props} width={width} />}
    </div>
  )
}

function Drawing({ timeline, now, width }: { timeline: Timeline; now: number; width: number }) {
  const { lanes, bars, marks, range: whole } = timeline
  // Null: the whole range, also while it grows.
  const [chosen, setChosen] = useState<Range | null>(null)
  const [description, setDescription] = useState('')
  const svg = useRef<SVGSVGElement>(null)
  const range = chosen ?? whole
  const plotWidth = Math.max(100, width - labelWidth - 8)
  const xOf = (at: number) => labelWidth + positionOf(at, range) * plotWidth
  const zoom = (factor: number, around = (range.from + range.to) / 2) => {
    const next = zoomed(range, whole, factor, around)
    setChosen(next.to - next.from >= whole.to - whole.from ? null : next)
  }
  const timeAt = (clientX: number) => {
    const left = svg.current?.getBoundingClientRect().left ?? 0
    return range.from + ((clientX - left - labelWidth) / plotWidth) * (range.to - range.from)
  }
  useWheel(svg, (event) => zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event.clientX)))
  const drag = useDrag(timeAt, (from, to) => setChosen(zoomed({ from, to }, whole, 1, (from + to) / 2)))
  const keys: Record<string, () => void> = {
    '+': () => zoom(0.5),
    '=': () => zoom(0.5),
    '-': () => zoom(2),
    ArrowLeft: () => setChosen(moved(range, whole, -0.2)),
    ArrowRight: () => setChosen(moved(range, whole, 0.2)),
    '0': () => setChosen(null),
  }
  const { drawn, left } = drawnBars(bars, range, now, maxBars)
  const ticks = ticksOf(range, whole.from, Math.max(2, Math.floor(plotWidth / 80)))
  const step = (ticks[1] ?? Number.POSITIVE_INFINITY) - (ticks[0] ?? 0)
  const height = headHeight + lanes.length * laneHeight + 4
  return (
    <>
      <div class="timeline-tools">
        <button type="button" aria-label="Zoom in" onClick={() => zoom(0.5)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" disabled={chosen === null} onClick={() => zoom(2)}>
          −
        </button>
        <button type="button" disabled={chosen === null} onClick={() => setChosen(null)}>
          Whole timeline
        </button>
        {left === 0 ? null : <span class="note">{counted(left, 'short bar')} not drawn: zoom in</span>}
        <output class="bar-description">
          {description === ''
            ? `${clockTime(range.from)} to ${clockTime(range.to)}, ${duration(range.to - range.from)}`
            : description}
        </output>
      </div>
      <svg
        ref={svg}
        class="timeline"
        width={width}
        height={height}
        role="group"
        aria-label={`Timeline: ${counted(bars.length, 'bar')} over ${duration(whole.to - whole.from)}`}
        onKeyDown={(event) => {
          const act = keys[event.key]
          if (act === undefined || event.ctrlKey || event.metaKey) return
          event.preventDefault()
          event.stopPropagation()
          act()
        }}
        {...drag.handlers}
      >
        <clipPath id="plot-clip">
          <rect x={labelWidth - besideLabel} y={0} width={plotWidth + besideLabel + 8} height={height} />
        </clipPath>
        {ticks.map((at) => (
          <g class="tick" key={at}>
            <line x1={xOf(at)} x2={xOf(at)} y1={headHeight - 4} y2={height} />
            <text x={xOf(at)} y={headHeight - 8} text-anchor={xOf(at) > width - 32 ? 'end' : 'middle'}>
              {sinceStart(at - whole.from, step)}
            </text>
          </g>
        ))}
        {lanes.map((name, lane) => (
          <text class="lane-name" key={`${lane}-${name}`} x={0} y={headHeight + lane * laneHeight + 15}>
            {name}
          </text>
        ))}
        <g clip-path="url(#plot-clip)">
          {drawn.map((bar) => (
            <BarShape key={bar.id} bar={bar} range={range} xOf={xOf} now={now} describe={setDescription} />
          ))}
          {marks.map((mark) => (
            <MarkShape key={mark.id} mark={mark} x={xOf(mark.at)} describe={setDescription} />
          ))}
        </g>
        {drag.span === null ? null : (
          <rect
            class="drag"
            x={xOf(drag.span.from)}
            width={xOf(drag.span.to) - xOf(drag.span.from)}
            y={headHeight}
            height={height - headHeight}
          />
        )}
      </svg>
    </>
  )
}

interface BarShapeProps {
  bar: Bar
  range: Range
  xOf: (at: number) => number
  now: number
  describe: (text: string) => void
}

function BarShape({ bar, range, xOf, now, describe }: BarShapeProps) {
  const to = bar.to ?? now
  if (to < range.from || bar.from > range.to) return null
  const x = xOf(Math.max(bar.from, range.from))
  const width = Math.max(minBar, xOf(Math.min(to, range.to)) - x)
  const y = headHeight + bar.lane * laneHeight + 3
  const text = `${bar.label}: ${bar.status}, ${clockTime(bar.from, true)}, ${duration(to - bar.from)}${bar.to === null ? ' so far' : ''}`
  const beside = bar.kind === 'rest' ? besideMark : 5
  const letters = Math.floor((width - beside - 3) / letterWidth)
  return (
    <g
      class={`time-bar ${bar.kind} is-${bar.status}`}
      tabIndex={0}
      role="img"
      aria-label={text}
      onFocus={() => describe(text)}
      onBlur={() => describe('')}
      onMouseEnter={() => describe(text)}
      onMouseLeave={() => describe('')}
    >
      <rect x={x} y={y} width={width} height={laneHeight - 6} rx={3} />
      {letters < Math.min(minLetters, bar.label.length) ? null : (
        <text x={x + beside} y={y + 12}>
          {clipped(bar.label, letters)}
        </text>
      )}
    </g>
  )
}

const markGlyphs: Record<Mark['kind'], string> = { question: '?', answer: '↩', failure: '✕', claim: '@' }

function MarkShape({ mark, x, describe }: { mark: Mark; x: number; describe: (text: string) => void }) {
  const text = `${startOf(mark.label, 200)}, ${clockTime(mark.at, true)}`
  return (
    <g
      class={`time-mark ${mark.kind}`}
      tabIndex={0}
      role="img"
      aria-label={text}
      onFocus={() => describe(text)}
      onBlur={() => describe('')}
      onMouseEnter={() => describe(text)}
      onMouseLeave={() => describe('')}
    >
      <circle cx={x} cy={headHeight + mark.lane * laneHeight + 11} r={8} />
      <text x={x} y={headHeight + mark.lane * laneHeight + 15} text-anchor="middle">
        {markGlyphs[mark.kind]}
      </text>
    </g>
  )
}

/**
 * The wheel scrolls the page; with Ctrl or Cmd it zooms the timeline instead, which requires a non-passive listener. Trackpads report a
 * pinch as a wheel with Ctrl.
 */
function useWheel(element: { current: SVGSVGElement | null }, onWheel: (event: WheelEvent) => void): void {
  const latest = useRef(onWheel)
  latest.current = onWheel
  useEffect(() => {
    const node = element.current
    const listener = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      latest.current(event)
    }
    node?.addEventListener('wheel', listener, { passive: false })
    return () => node?.removeEventListener('wheel', listener)
  }, [element])
}

/** A range selected by dragging. */
function useDrag(timeAt: (clientX: number) => number, onSpan: (from: number, to: number) => void) {
  const [drag, setDrag] = useState<{ startX: number; from: number; to: number } | null>(null)
  const minPixels = 6
  return {
    span: drag === null ? null : { from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) },
    handlers: {
      onPointerDown: (event: PointerEvent) => {
        if (event.button !== 0) return
        const at = timeAt(event.clientX)
        setDrag({ startX: event.clientX, from: at, to: at })
      },
      onPointerMove: (event: PointerEvent) => {
        if (drag !== null) setDrag({ ...drag, to: timeAt(event.clientX) })
      },
      onPointerUp: (event: PointerEvent) => {
        if (drag !== null && Math.abs(event.clientX - drag.startX) >= minPixels) {
          onSpan(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to))
        }
        setDrag(null)
      },
      onPointerLeave: () => setDrag(null),
    },
  }
}
