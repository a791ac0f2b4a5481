// The tree of all tasks. Only visible lines are rendered, and only changed ones again. One line has keyboard focus.

import { Component } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { age } from '../model/format.ts'
import { isQueued } from '../model/lifecycle.ts'
import { linkTo } from '../model/route.ts'
import { type FlatRow, visibleLines } from '../model/tree.ts'
import type { TaskRow } from '../model/wire.ts'
import { activeId, go } from '../state/navigation.ts'
import { followRows, listing, past, showLines, storeShown, toggleFold } from '../state/task-list.ts'
import { StateBadge, useNow } from './elements.tsx'

export const lineHeight = 28

/** A short reason for the state of a task. */
export function reasonOf(row: TaskRow): string {
  if (row.error !== null && row.status === 'failed') return `${row.error.code}: ${row.error.message}`
  if (row.statusReason !== null) return row.statusReason
  if (row.openBlockers > 0) return `blocked by ${row.openBlockers}`
  if (row.held) return row.status === 'paused' ? 'until it is resumed' : 'until it is started'
  if (row.ready && row.executor === null) return row.role === null ? 'can be claimed' : `can be claimed by ${row.role}`
  if (row.status === 'working' && row.progress?.note) return row.progress.note
  return ''
}

interface LineProps {
  line: FlatRow
  row: TaskRow
  index: number
  active: boolean
  /** In whole seconds; only used for ages. */
  now: number
}

class Line extends Component<LineProps> {
  override shouldComponentUpdate(next: LineProps): boolean {
    const { line, row, index, active, now } = this.props
    return (
      row !== next.row ||
      index !== next.index ||
      active !== next.active ||
      now !== next.now ||
      line.level !== next.line.level ||
      line.expanded !== next.line.expanded ||
      line.hasChildren !== next.line.hasChildren ||
      line.matches !== next.line.matches ||
      line.position !== next.line.position ||
      line.setSize !== next.line.setSize
    )
  }

  override render({ line, row, index, active, now }: LineProps) {
    return (
      <div
        role="row"
        id={`line-${row.id}`}
        class={`line${line.matches ? '' : ' dim'}`}
        style={{ transform: `translateY(${index * lineHeight}px)` }}
        aria-level={line.level}
        aria-posinset={line.position}
        aria-setsize={line.setSize}
        aria-rowindex={index + 2}
        aria-selected={active}
        {...(line.hasChildren ? { 'aria-expanded': line.expanded } : {})}
        tabIndex={active ? 0 : -1}
        onFocus={() => {
          activeId.value = row.id
        }}
        onDblClick={() => go({ view: 'task', id: row.id })}
      >
        <div role="gridcell" class="cell name" style={{ paddingLeft: `${(Math.min(line.level, 20) - 1) * 16}px` }}>
          <FoldButton line={line} />
          <a href={linkTo({ view: 'task', id: row.id })} tabIndex={-1} title={row.name}>
            {row.name === '' ? row.id : row.name}
          </a>
          {line.hasChildren ? <span class="note">{row.childCount || ''}</span> : null}
        </div>
        <div role="gridcell" class="cell">
          <StateBadge status={row.status} queued={isQueued(row)} />
        </div>
        <div role="gridcell" class="cell who" title={row.owner ?? row.executor ?? ''}>
          {row.owner === null ? (row.executor ?? (row.group ? 'group' : '')) : `@${row.owner}`}
        </div>
        <div role="gridcell" class="cell progress">
          <ProgressBar row={row} />
        </div>
        <div role="gridcell" class="cell age">
          {age(now - row.createdAt)}
        </div>
        <div role="gridcell" class="cell why" title={reasonOf(row)}>
          {reasonOf(row)}
        </div>
      </div>
    )
  }
}

function FoldButton({ line }: { line: FlatRow }) {
  if (!line.hasChildren) return <span class="fold" />
  return (
    <button
      type="button"
      class="fold"
      tabIndex={-1}
      aria-label={`${line.expanded ? 'Fold' : 'Unfold'} ${line.row.name}`}
      onClick={() => toggleFold(line.row.id)}
    >
      {line.expanded ? '▾' : '▸'}
    </button>
  )
}

function ProgressBar({ row: { progress, status } }: { row: TaskRow }) {
  if (progress === null || status === 'completed') return null
  const percent = Math.round(progress.fraction * 100)
  return (
    <>
      <span class={`bar ${status === 'working' ? '' : 'still'}`} aria-hidden="true">
        <span style={{ width: `${percent}%` }} />
      </span>
      {percent} %
    </>
  )
}

export function TaskGrid() {
  const scroller = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ scrollTop: 0, height: 600 })
  const { lines } = listing.value
  followRows()
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
      class="grid"
      aria-rowcount={lines.length + 1}
      onKeyDown={(event) => onKey(event, scroller.current)}
    >
      <div role="rowgroup" class="grid-head">
        <div role="row" class="line head" aria-rowindex={1}>
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
          {lines.slice(from, to).map((line, offset) => (
            <Line
              key={line.row.id}
              line={line}
              row={rows.get(line.row.id) ?? line.row}
              index={from + offset}
              active={from + offset === tabStop}
              now={now}
            />
          ))}
        </div>
      </div>
    </div>
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

/** Arrow keys as in any tree, and j and k. Returns whether the key was handled. */
export function onKey(event: KeyboardEvent, scroller: HTMLElement | null): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false
  const { lines } = listing.peek()
  const at = lines.findIndex(({ row }) => row.id === activeId.peek())
  const line = lines[at]
  const page = Math.max(1, Math.floor((scroller?.clientHeight ?? 400) / lineHeight) - 1)
  const move = (to: number) => moveTo(Math.max(0, Math.min(lines.length - 1, to)), scroller)
  switch (event.key) {
    case 'ArrowDown':
    case 'j':
      move(at + 1)
      break
    case 'ArrowUp':
    case 'k':
      move(at - 1)
      break
    case 'Home':
      move(0)
      break
    case 'End':
      move(lines.length - 1)
      break
    case 'PageDown':
      move(at + page)
      break
    case 'PageUp':
      move(at - page)
      break
    case 'ArrowRight':
      if (line?.hasChildren && !line.expanded) toggleFold(line.row.id)
      else if (line?.expanded) move(at + 1)
      break
    case 'ArrowLeft':
      if (line?.expanded) toggleFold(line.row.id)
      else if (line !== undefined) move(parentLine(lines, at))
      break
    case 'Enter':
      if ((event.target as HTMLElement).closest('button, a') !== null) return false
      if (line !== undefined) go({ view: 'task', id: line.row.id })
      break
    default:
      return false
  }
  event.preventDefault()
  event.stopPropagation()
  return true
}

function parentLine(lines: readonly FlatRow[], at: number): number {
  const level = lines[at]?.level ?? 1
  for (let index = at - 1; index >= 0; index--) if ((lines[index] as FlatRow).level < level) return index
  return at
}

function moveTo(index: number, scroller: HTMLElement | null): void {
  const line = listing.peek().lines[index]
  if (line === undefined || scroller === null) return
  activeId.value = line.row.id
  const top = index * lineHeight
  if (top < scroller.scrollTop) scroller.scrollTop = top
  else if (top + lineHeight > scroller.scrollTop + scroller.clientHeight) {
    scroller.scrollTop = top + lineHeight - scroller.clientHeight
  }
  // The line may only be rendered after scrolling.
  const focus = () => document.getElementById(`line-${line.row.id}`)?.focus({ preventScroll: true })
  requestAnimationFrame(() => requestAnimationFrame(focus))
}
