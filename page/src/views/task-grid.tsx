// The tree of all tasks. Only visible lines are rendered, and only changed ones again. One line has keyboard focus, any number are selected.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type FlatRow, visibleLines } from '../model/tree.ts'
import { activeId } from '../state/navigation.ts'
import { selectAllShown, selected, shownIds } from '../state/selection.ts'
import { followRows, listing, past, showLines, storeShown } from '../state/task-list.ts'
import { useNow } from './elements.tsx'
import { moveTo, onKey } from './grid-keys.ts'
import { Line, lineHeight, PickBox, reasonOf } from './task-line.tsx'

export function TaskGrid() {
  const scroller = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ scrollTop: 0, height: 600 })
  const { lines } = listing.value
  followRows()
  const chosen = selected.value
  const clock = useNow(5_000)
  const now = Math.floor((past.value?.at ?? clock) / 1_000) * 1_000
  const { rows } = storeShown()
  const { from, to } = visibleLines(lines.length, { ...view, lineHeight })
  const active = activeId.value
  const current = useMemo(
    () => (active === null ? -1 : lines.findIndex(({ row }) => row.id === active)),
    [lines, active],
  )
  // One line must be reachable with the Tab key, even if the active one is not visible.
  const firstInSight = Math.min(lines.length - 1, Math.ceil(view.scrollTop / lineHeight))
  const tabStop = current >= from && current < to ? current : firstInSight
  // Restores keyboard focus on return from a task.
  useEffect(() => {
    const at = listing.peek().lines.findIndex(({ row }) => row.id === activeId.peek())
    if (at >= 0 && document.activeElement === document.body) moveTo(at, scroller.current)
  }, [])
  useLayoutEffect(() => showLines(lines.slice(from, to).map(({ row }) => row.id)), [lines, from, to])
  useSteadyView(scroller, lines)
  useEffect(() => {
    const node = scroller.current
    if (node === null) return
    const observer = new ResizeObserver(() => setView({ scrollTop: node.scrollTop, height: node.clientHeight }))
    observer.observe(node)
    return () => observer.disconnect()
  }, [])
  return (
    <div
      role="treegrid"
      aria-label="Tasks"
      aria-multiselectable="true"
      class="grid"
      aria-rowcount={lines.length + 1}
      onKeyDown={(event) => onKey(event, scroller.current)}
    >
      <div role="rowgroup" class="grid-head">
        <div role="row" class="line head" aria-rowindex={1}>
          <div role="columnheader" class="cell pick">
            <SelectAll chosen={chosen} />
          </div>
          {['Name', 'State', 'Worked on by', 'Progress', 'Age', 'Why'].map((title) => (
            <div role="columnheader" class={`cell ${headClass[title] ?? ''}`} key={title}>
              {title}
            </div>
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        class="grid-body"
        ref={scroller}
        onScroll={(event) => {
          const { scrollTop, clientHeight } = event.currentTarget
          setView({ scrollTop, height: clientHeight })
        }}
      >
        <div role="presentation" class="spacer" style={{ height: `${lines.length * lineHeight}px` }}>
          {lines.slice(from, to).map((line, offset) => {
            const row = rows.get(line.row.id) ?? line.row
            return (
              <Line
                key={row.id}
                line={line}
                row={row}
                why={reasonOf(row)}
                index={from + offset}
                active={from + offset === tabStop}
                selected={chosen.has(line.row.id)}
                now={now}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

function SelectAll({ chosen }: { chosen: ReadonlySet<string> }) {
  const ids = chosen.size === 0 ? [] : shownIds()
  const all = ids.length > 0 && ids.every((id) => chosen.has(id))
  return (
    <PickBox label="Select all listed tasks" checked={all || (chosen.size > 0 && 'mixed')} onPick={selectAllShown} />
  )
}

/** Lines added above do not shift the visible ones, except at the very top, where new lines should appear. */
function useSteadyView(scroller: { current: HTMLElement | null }, lines: readonly FlatRow[]): void {
  const before = useRef(lines)
  useLayoutEffect(() => {
    const node = scroller.current
    const former = before.current
    before.current = lines
    if (node === null || former === lines || node.scrollTop === 0) return
    const was = Math.floor(node.scrollTop / lineHeight)
    const id = former[was]?.row.id
    if (id === undefined || lines[was]?.row.id === id) return
    const is = lines.findIndex(({ row }) => row.id === id)
    if (is >= 0) node.scrollTop += (is - was) * lineHeight
  }, [lines])
}

const headClass: Record<string, string> = {
  Name: 'name',
  'Worked on by': 'who',
  Progress: 'progress',
  Age: 'age',
  Why: 'why',
}
