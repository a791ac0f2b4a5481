// Two small plots: used slots and events per second. Their values are also shown as text.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { perSecond, smoothed } from '../model/throughput.ts'
import { engineStatus, missing, type SlotSample, slotSamples } from '../state/engine-status.ts'
import { link } from '../state/task-list.ts'
import { theme } from '../state/theme.ts'
import { useNow, useWidth } from './elements.tsx'

const height = 48

interface PlotLine {
  label: string
  /** Name of the custom property with its colour. */
  color: string
  fill?: boolean
  stepped?: boolean
}

interface PlotProps {
  lines: PlotLine[]
  data: number[][]
  label: string
  minSeconds?: number
}

/** A canvas is inaccessible to screen readers: `label` describes the current plot. */
function Plot({ lines, data, label, minSeconds }: PlotProps) {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const [plot, setPlot] = useState<uPlot | null>(null)
  const latest = useRef(data)
  latest.current = data
  useEffect(() => {
    const node = box.current
    if (node === null || width === 0) return
    let made: uPlot | undefined
    let disposed = false
    void import('./small-plot.ts').then(({ smallPlot }) => {
      if (disposed) return
      const seen = minSeconds === undefined ? {} : { minSeconds }
      made = smallPlot(node, { lines, data: latest.current, width, height, ...seen })
      setPlot(made)
    })
    return () => {
      disposed = true
      made?.destroy()
      setPlot(null)
    }
    // Colours are read at creation, so a change of theme creates a new plot.
  }, [width, theme.value])
  useEffect(() => plot?.setData(data as uPlot.AlignedData), [plot, data])
  return <div class="plot" ref={box} role="img" aria-label={label} style={{ height: `${height}px` }} />
}

const slotLines: PlotLine[] = [
  { label: 'used', color: '--accent', fill: true, stepped: true },
  { label: 'maximum', color: '--faint', stepped: true },
]
const rateLines: PlotLine[] = [
  { label: 'events', color: '--accent' },
  { label: 'completed', color: '--completed', fill: true },
]

/** A line needs two points, so the first sample is extended into the past. */
function slotSeries(samples: readonly SlotSample[]): number[][] {
  const first = samples[0]
  const all = first === undefined ? [] : [{ ...first, at: first.at - 2_000 }, ...samples]
  return [all.map(({ at }) => at / 1_000), all.map(({ used }) => used), all.map(({ max }) => max)]
}

export function Plots() {
  const now = useNow()
  const status = engineStatus.value
  const { seconds, events, completed } = link.throughput.rates(now)
  const eventRate = perSecond(events)
  const doneRate = perSecond(completed)
  const samples = slotSamples.value
  const slots = useMemo(() => slotSeries(samples), [samples])
  const used = status?.slots.used ?? 0
  const max = status?.slots.maxConcurrent ?? 0
  const [lacking, ...others] = missing.value
  return (
    <div class="plots">
      <figure>
        <figcaption>
          <span>Slots</span>
          <b>{status === null ? 'unknown' : `${used} of ${max} used`}</b>
          <span class="note">
            {status === null ? '' : `${status.queued} queued`}
            {status === null || status.working ? '' : ', this engine does not work'}
            {lacking === undefined
              ? ''
              : others.length === 0
                ? `, the executor ${lacking.executor} is missing`
                : `, ${others.length + 1} executors are missing`}
          </span>
        </figcaption>
        <Plot
          lines={slotLines}
          data={slots}
          minSeconds={20}
          label={`Slots since this page was opened: ${used} of ${max} used now`}
        />
      </figure>
      <figure>
        <figcaption>
          <span>Last 5 minutes</span>
          <b>{rate(eventRate)} events/s</b>
          <b class="completed-rate">{rate(doneRate)} completed/s</b>
        </figcaption>
        <Plot
          lines={rateLines}
          data={[seconds, smoothed(events, 3), smoothed(completed, 3)]}
          label={`Over the last five minutes: ${rate(eventRate)} events and ${rate(doneRate)} completed tasks a second now`}
        />
      </figure>
    </div>
  )
}

function rate(value: number): string {
  return value >= 10 ? value.toFixed(0) : value.toFixed(1)
}
