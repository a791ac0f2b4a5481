// The machine of a task: the chart of its definition with the present states and the moves, the events that it accepts, and its context.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { stateText } from '../../../src/entities/machine-view.ts'
import { idempotencyKeys } from '../live/idempotency-keys.ts'
import type { TaskSession } from '../live/task-session.ts'
import { counted } from '../model/format.ts'
import type { PlacedGraph } from '../model/graph-layout.ts'
import { isSettled } from '../model/lifecycle.ts'
import { type MachineGraph, machineGraphOf, presentStates } from '../model/machine-graph.ts'
import type { ShownTask, TaskMachine, TaskStatus } from '../model/wire.ts'
import { api } from '../state/api.ts'
import { past } from '../state/task-list.ts'
import { pathOf, useRequest } from './action-form.tsx'
import { Field, ProblemBox, Section, Time, useWidth } from './elements.tsx'
import { JsonTree } from './json-tree.tsx'
import { ArrowHeads, Edge, PathList } from './state-chart.tsx'

interface MachinePanelProps {
  open: TaskSession
  shown: ShownTask
  status: TaskStatus
}

export function MachinePanel({ open, shown, status }: MachinePanelProps) {
  const machine = open.machine.value
  if (machine === null) return null
  const position = past.value?.seq ?? null
  const path = machine.path.filter(({ seq }) => position === null || seq <= position)
  const value = position === null ? machine.value : path.at(-1)?.value
  const steps = path.slice(1).map(({ event, value: to, at }, index) => ({ n: index + 1, event, to: stateText(to), at }))
  return (
    <Section title={machine.id === null ? 'Machine' : `Machine ${machine.id}`} note={stateText(value ?? 'not begun')}>
      {position !== null || isSettled(status) ? null : <Events open={open} shown={shown} machine={machine} />}
      {machine.chart === null ? null : <Chart chart={machine.chart} path={path} value={value} />}
      <PathList path={steps} />
      {position === null ? <JsonTree value={{ context: machine.context }} label="context" /> : null}
    </Section>
  )
}

/** The events that the present states accept. A pattern of names has no button, because it is not known which event is meant. */
function Events({ open, shown, machine }: Omit<MachinePanelProps, 'status'> & { machine: TaskMachine }) {
  const [payload, setPayload] = useState('')
  const [wrong, setWrong] = useState<string | null>(null)
  const keyOf = useMemo(() => idempotencyKeys((bytes) => crypto.getRandomValues(bytes)), [])
  const { problem, busy, submit } = useRequest({
    label: 'Send event',
    name: shown.task.name,
    onClose: () => setPayload(''),
    onDone: () => void open.read(),
  })
  const send = async (name: string) => {
    let body: { name: string; payload?: unknown } = { name }
    try {
      if (payload.trim() !== '') body = { name, payload: JSON.parse(payload) }
    } catch {
      return setWrong('This is not JSON.')
    }
    setWrong(null)
    // The same event may be sent again from the next state.
    const headers = { 'idempotency-key': keyOf({ ...body, step: machine.step }) }
    await submit(() => api.post(pathOf(shown, '/signals'), body, headers))
  }
  const names = machine.accepts.filter((name) => !name.endsWith('*'))
  const patterns = machine.accepts.filter((name) => name.endsWith('*'))
  return (
    <div class="machine-events" role="group" aria-label="Events">
      {machine.next === null ? null : (
        <p class="note">
          {machine.next.event} at <Time at={machine.next.dueAt} />
        </p>
      )}
      {patterns.length === 0 ? null : <p class="note">It also accepts {patterns.join(', ')}.</p>}
      {names.length === 0 ? null : (
        <>
          <div class="actions">
            {names.map((name) => (
              <button type="button" key={name} disabled={busy} onClick={() => void send(name)}>
                {name}
              </button>
            ))}
          </div>
          <Field label="Payload" note="JSON, if the event has one" wrong={wrong}>
            {(control) => (
              <textarea
                {...control}
                rows={1}
                spellcheck={false}
                value={payload}
                onInput={(event) => setPayload(event.currentTarget.value)}
              />
            )}
          </Field>
        </>
      )}
      {problem === null ? null : <ProblemBox problem={problem} />}
    </div>
  )
}

interface ChartProps extends Pick<TaskMachine, 'path' | 'value'> {
  chart: NonNullable<TaskMachine['chart']>
}

function Chart({ chart, path, value }: ChartProps) {
  const [drawn, setDrawn] = useState<(MachineGraph & { placed: PlacedGraph }) | null>(null)
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const latest = path.at(-1)?.seq ?? 0
  useEffect(() => {
    if (width === 0) return
    let disposed = false
    void import('../model/graph-layout.ts').then(({ placeGraph }) => {
      if (disposed) return
      const graph = machineGraphOf(chart, path)
      const place = (direction: 'LR' | 'TB') =>
        placeGraph(graph.nodes, graph.edges, { direction, nodeGap: 22, rankGap: 30 }, graph.frames)
      const wide = place('LR')
      setDrawn({ ...graph, placed: wide.width <= width ? wide : place('TB') })
    })
    return () => {
      disposed = true
    }
  }, [chart.id, latest, width])
  return (
    <div ref={box} class="chart-box" role="group" aria-label="Chart of the machine">
      {drawn === null ? (
        <p class="note">Drawing…</p>
      ) : (
        <Drawing
          drawn={drawn}
          present={presentStates(chart, value)}
          latest={path.length - 1}
          state={stateText(value)}
        />
      )}
    </div>
  )
}

interface DrawingProps {
  drawn: MachineGraph & { placed: PlacedGraph }
  present: ReadonlySet<string>
  /** The number of the last move. */
  latest: number
  state: string
}

function Drawing({ drawn: { nodes, frames, edges, placed }, present, latest, state }: DrawingProps) {
  const { width, height } = placed
  return (
    <svg
      class="chart machine"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`Machine: it is in ${state} after ${counted(latest, 'move')}`}
    >
      <ArrowHeads />
      {frames.map(({ id }) => {
        const frame = placed.frames.get(id)
        if (frame === undefined) return null
        const [x, y] = [frame.x - frame.width / 2, frame.y - frame.height / 2]
        return <rect key={id} class="frame" x={x} y={y} width={frame.width} height={frame.height} rx={8} />
      })}
      {edges.map((edge) => (
        <Edge key={edge.id} edge={edge} placed={placed} latest={latest} />
      ))}
      {nodes.map((node) => {
        const { x, y } = placed.nodes.get(node.id) ?? { x: 0, y: 0 }
        const isPresent = present.has(node.id)
        return (
          <g
            key={node.id}
            class={`node state-working type-${node.type}${isPresent ? ' current' : ''}`}
            transform={`translate(${x - node.width / 2},${y - node.height / 2})`}
          >
            <rect width={node.width} height={node.height} rx={6} />
            <text x={node.width / 2} y={node.height / 2 + 4} text-anchor="middle">
              {node.key}
            </text>
            <title>{`${node.id}${isPresent ? ', present' : ''}`}</title>
          </g>
        )
      })}
    </svg>
  )
}
