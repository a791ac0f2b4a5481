// The keys of the list: moving, folding, selecting and opening.

import type { FlatRow } from '../model/tree.ts'
import { activeId, go } from '../state/navigation.ts'
import { select, selectAllShown, selected, selectRange, toggleSelected } from '../state/selection.ts'
import { listing, toggleFold } from '../state/task-list.ts'
import { lineHeight } from './task-line.tsx'

/** Arrow keys as in any tree, and j and k; with Shift they select. Returns whether the key was handled. */
export function onKey(event: KeyboardEvent, scroller: HTMLElement | null): boolean {
  if ((event.ctrlKey || event.metaKey) && event.key === 'a') {
    selectAllShown()
    event.preventDefault()
    return true
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return false
  const { lines } = listing.peek()
  const at = lines.findIndex(({ row }) => row.id === activeId.peek())
  const line = lines[at]
  const page = Math.max(1, Math.floor((scroller?.clientHeight ?? 400) / lineHeight) - 1)
  const move = (to: number) => {
    const from = activeId.peek()
    moveTo(Math.max(0, Math.min(lines.length - 1, to)), scroller)
    const reached = activeId.peek()
    if (event.shiftKey && reached !== null) selectRange(from, reached)
  }
  switch (event.key.length === 1 ? event.key.toLowerCase() : event.key) {
    case 'ArrowDown':
    case 'j':
      move(at + 1)
      break
    case 'ArrowUp':
    case 'k':
      move(at - 1)
      break
    case 'x':
    case ' ':
      if ((event.target as HTMLElement).closest('button, a, input') !== null || line === undefined) return false
      toggleSelected(line.row.id)
      break
    case 'Escape':
      if (selected.peek().size === 0) return false
      select([])
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

export function moveTo(index: number, scroller: HTMLElement | null): void {
  const line = listing.peek().lines[index]
  if (line === undefined || scroller === null) return
  activeId.value = line.row.id
  const top = index * lineHeight
  if (top < scroller.scrollTop) scroller.scrollTop = top
  else if (top + lineHeight > scroller.scrollTop + scroller.clientHeight) {
    scroller.scrollTop = top + lineHeight - scroller.clientHeight
  }
  // The line may only be rendered after scrolling.
  const focus = () => {
    // Keys may come faster than frames: the focus must not take the active line back.
    if (activeId.peek() === line.row.id) document.getElementById(`line-${line.row.id}`)?.focus({ preventScroll: true })
  }
  requestAnimationFrame(() => requestAnimationFrame(focus))
}
