// The family of a task on a time axis: a line for each task from its creation to its end, with bars where it worked. Open lines grow.

import { useRef } from 'preact/hooks'
import { type Family, type FamilyLine, type Span, workedMs } from '../model/family.ts'
import { clipped, clockTime, duration, sinceStart } from '../model/format.ts'
import { stateLooks, wordOf } from '../model/lifecycle.ts'
import { linkTo } from '../model/route.ts'
import { positionOf, ticksOf } from '../model/timeline.ts'
import type { TaskRow } from '../model/wire.ts'
import { useWidth } from './elements.tsx'

const lineHeight = 22
const headHeight = 20
const minBar = 3
const letterWidth = 6.3
const boldWidth = 7.2
const indent = 10
/** Deeper tasks are not indented further. */
const maxIndent = 5

interface GanttProps {
  family: Family
  spanOfRow: (row: TaskRow) => Span
  now: number
}

export function FamilyGantt(props: GanttProps) {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  return (
    <div ref={box} class="timeline-box">
      {width === 0 ? null : <Gantt {...props} width={width} />}
    </div>
  )
}

function Gantt({ family, spanOfRow, now, width }: GanttProps & { width: number }) {
  const lines = family.lines.map((line) => ({ ...line, span: spanOfRow(line.row) }))
  const from = Math.min(...lines.map(({ span }) => span.from))
  const to = Math.max(from + 1, ...lines.map(({ span }) => span.to ?? now))
  const range = { from, to }
  const labelWidth = Math.min(260, Math.floor(width * 0.34))
  const noteWidth = Math.min(180, Math.floor(width * 0.26))
  const plotWidth = Math.max(60, width - labelWidth - noteWidth)
  const xOf = (at: number) => labelWidth + positionOf(at, range) * plotWidth
  const ticks = ticksOf(range, from, Math.max(2, Math.floor(plotWidth / 80)))
  const step = (ticks[1] ?? Number.POSITIVE_INFINITY) - (ticks[0] ?? 0)
  const height = headHeight + lines.length * lineHeight + 4
  return (
    <svg
      class="timeline gantt"
      width={width}
      height={height}
      role="group"
      aria-label={`Family on a time axis of ${duration(to - from)}, from ${clockTime(from)}`}
    >
      {ticks.map((at) => (
        <g class="tick" key={at}>
          <line x1={xOf(at)} x2={xOf(at)} y1={headHeight - 4} y2={height} />
          <text x={xOf(at)} y={headHeight - 8} text-anchor={xOf(at) > width - 32 ? 'end' : 'middle'}>
            {sinceStart(at - from, step)}
          </text>
        </g>
      ))}
      {lines.map((line, index) => (
        <GanttLine
          key={line.row.id}
          line={line}
          span={line.span}
          y={headHeight + index * lineHeight}
          labelWidth={labelWidth}
          plot={{ xOf, right: width }}
          now={now}
        />
      ))}
    </svg>
  )
}

interface LineProps {
  line: FamilyLine
  span: Span
  y: number
  labelWidth: number
  plot: { xOf: (at: number) => number; right: number }
  now: number
}

function GanttLine({ line: { row, level }, span, y, labelWidth, plot: { xOf, right }, now }: LineProps) {
  const left = Math.min(level, maxIndent) * indent
  const end = xOf(span.to ?? now)
  const worked = workedMs(row, span, now)
  const took = worked === null ? '' : duration(worked)
  const name = clipped(
    `#${row.seq} ${row.name}`,
    Math.floor((labelWidth - left - 6) / (level === 0 ? boldWidth : letterWidth)),
  )
  const note = [stateLooks[row.status].glyph, took, noteOf(row)].filter(Boolean).join(' ')
  const label = [`#${row.seq} ${row.name}: ${wordOf(row)}`, took, noteOf(row)].filter(Boolean).join(', ')
  return (
    <g class={`gantt-line state-${row.status}`}>
      <g aria-hidden="true">
        <text class={level === 0 ? 'lane-name own' : 'lane-name'} x={left} y={y + 15}>
          {name}
        </text>
        <line class="exists" x1={xOf(span.from)} x2={Math.max(end, xOf(span.from) + minBar)} y1={y + 11} y2={y + 11} />
        {span.work.map((run) => {
          const x = xOf(run.from)
          const barWidth = Math.max(minBar, xOf(run.to ?? now) - x)
          return (
            <rect
              key={run.number}
              class={`work is-${run.outcome}`}
              x={x}
              y={y + 4}
              width={barWidth}
              height={lineHeight - 8}
              rx={3}
            />
          )
        })}
        <text class="gantt-note" x={end + 6} y={y + 15}>
          {clipped(note, Math.floor((right - end) / letterWidth))}
        </text>
      </g>
      <a href={linkTo({ view: 'task', id: row.id })} aria-label={label}>
        <rect class="hit" x={0} y={y} width={right} height={lineHeight}>
          <title>{row.name}</title>
        </rect>
      </a>
    </g>
  )
}

/** The error of a failed task, the progress of a working one. */
function noteOf({ status, error, progress }: TaskRow): string {
  if (status === 'failed') return error?.code ?? ''
  if (status !== 'working' || progress === null) return ''
  return progress.note ?? `${Math.round(progress.fraction * 100)} %`
}
