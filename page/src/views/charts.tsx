// Ended tasks, failures and waiting times over the last hour or day, as bars, and as a table.

import { useEffect, useState } from 'preact/hooks'
import { heightsOf } from '../model/bars.ts'
import { clockTime, duration } from '../model/format.ts'
import type { EventCounts } from '../model/wire.ts'
import { countsProblem, eventCounts, followCounts, type Span, spans } from '../state/event-counts.ts'
import { linkToAll } from '../state/filters.ts'
import { ProblemBox, useFocusOnOpen } from './elements.tsx'

export function Charts() {
  useFocusOnOpen()
  const [span, setSpan] = useState<Span>('hour')
  useEffect(() => followCounts(span), [span])
  const counts = eventCounts.value
  const problem = countsProblem.value
  return (
    <main class="schedules" id="main" tabIndex={-1}>
      <nav aria-label="Breadcrumb" class="crumbs">
        <a href={linkToAll.value}>All tasks</a>
      </nav>
      <h1>Charts</h1>
      <div class="actions" role="group" aria-label="Time">
        {(Object.keys(spans) as Span[]).map((each) => (
          <button type="button" key={each} aria-pressed={each === span} onClick={() => setSpan(each)}>
            {spans[each].label}
          </button>
        ))}
      </div>
      {problem === null ? null : <ProblemBox problem={problem} />}
      {counts === null ? problem === null ? <p class="empty">Counting…</p> : null : <Figures counts={counts} />}
    </main>
  )
}

function Figures({ counts: { from, widthMs, buckets } }: { counts: EventCounts }) {
  const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
  const ended = buckets.map(({ completed, failed, canceled }) => completed + failed + canceled)
  const failed = buckets.map((bucket) => bucket.failed)
  const waits = buckets.map(({ waitMs }) => waitMs ?? 0)
  const starts = buckets.map(({ started }) => started)
  const started = sumOf(starts)
  const waited = started === 0 ? 0 : sumOf(buckets.map((bucket) => (bucket.waitMs ?? 0) * bucket.started)) / started
  const count = (value: number) => value.toLocaleString('en')
  return (
    <>
      <Bars name="Ended tasks" values={ended} note={`${count(sumOf(ended))} in all`} word={count} from={from} />
      <Bars
        name="Failures"
        values={failed}
        note={`${count(sumOf(failed))} in all`}
        word={count}
        from={from}
        className="failed"
      />
      <Bars
        name="Waiting time before a start"
        values={waits}
        note={started === 0 ? 'nothing started' : `${duration(waited)} on average`}
        word={duration}
        from={from}
      />
      <details>
        <summary>The figures as a table</summary>
        <Table from={from} widthMs={widthMs} buckets={buckets} />
      </details>
    </>
  )
}

interface BarsProps {
  name: string
  values: readonly number[]
  note: string
  word: (value: number) => string
  from: number
  className?: string
}

const height = 60

function Bars({ name, values, note, word, from, className = '' }: BarsProps) {
  const { top, heights } = heightsOf(values)
  return (
    <figure class="bars">
      <figcaption>
        <b>{name}</b> <span class="note">{note}</span>
      </figcaption>
      <svg
        class={className}
        viewBox={`0 0 ${values.length} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name}: ${note}, at most ${word(Math.max(0, ...values))} at a time. The table has the figures.`}
      >
        {heights.map((part, index) =>
          part === 0 ? null : (
            <rect key={index} x={index + 0.1} width={0.8} y={height * (1 - part)} height={height * part} />
          ),
        )}
      </svg>
      <div class="bars-axis note">
        <span>{clockTime(from)}</span>
        <span>full height: {word(top)}</span>
        <span>now</span>
      </div>
    </figure>
  )
}

function Table({ from, widthMs, buckets }: EventCounts) {
  const rows = buckets
    .map((bucket, index) => ({ ...bucket, at: from + index * widthMs }))
    .filter(({ started, completed, failed, canceled }) => started + completed + failed + canceled > 0)
  if (rows.length === 0) return <p class="empty">No task started or ended in this time.</p>
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="Figures">
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">Started</th>
            <th scope="col">Completed</th>
            <th scope="col">Failed</th>
            <th scope="col">Canceled</th>
            <th scope="col">Waited</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ at, started, completed, failed, canceled, waitMs }) => (
            <tr key={at}>
              <th scope="row">{clockTime(at)}</th>
              <td>{started}</td>
              <td>{completed}</td>
              <td>{failed}</td>
              <td>{canceled}</td>
              <td>{waitMs === null ? '' : duration(waitMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
