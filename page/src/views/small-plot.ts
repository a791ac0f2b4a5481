// A minimal uPlot without axes, legend and cursor. Loaded on demand.

import uPlot from 'uplot'
import { windowSeconds } from '../model/throughput.ts'

interface SmallPlot {
  lines: ReadonlyArray<{ label: string; color: string; fill?: boolean; stepped?: boolean }>
  data: number[][]
  width: number
  height: number
  /** Shows the available time, at least this many seconds; without it always the whole window. */
  minSeconds?: number
}

export function smallPlot(box: HTMLElement, { lines, data, width, height, minSeconds }: SmallPlot): uPlot {
  const stepped = uPlot.paths.stepped?.({ align: 1 })
  return new uPlot(
    {
      width,
      height,
      padding: [4, 2, 2, 2],
      legend: { show: false },
      cursor: { show: false },
      axes: [{ show: false }, { show: false }],
      scales: {
        x: {
          time: false,
          range: (_plot, min, max) => {
            const last = max ?? 0
            const span = minSeconds === undefined ? windowSeconds : Math.max(minSeconds, last - (min ?? last))
            return [last - Math.min(span, windowSeconds), last]
          },
        },
        y: { range: (_plot, _min, max) => [0, Math.max(1, max ?? 1) * 1.1] },
      },
      series: [
        {},
        ...lines.map(({ label, color, fill, stepped: inSteps }) => {
          const stroke = colorOf(color, box)
          return {
            label,
            stroke,
            width: 1.25,
            points: { show: false },
            ...(fill ? { fill: stroke.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.16)') } : {}),
            ...(inSteps && stepped !== undefined ? { paths: stepped } : {}),
          }
        }),
      ],
    },
    data as uPlot.AlignedData,
    box,
  )
}

/** A canvas does not resolve custom properties, so the browser resolves one on an element. */
function colorOf(property: string, box: HTMLElement): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${property})`
  box.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
