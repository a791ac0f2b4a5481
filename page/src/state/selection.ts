// The tasks that are selected in the list, and the action that is being confirmed for some of them.

import { signal } from '@preact/signals'
import type { BulkAction } from '../model/bulk.ts'
import type { TaskRow } from '../model/wire.ts'
import { announce } from './navigation.ts'
import { link, listing } from './task-list.ts'

export const selected = signal<ReadonlySet<string>>(new Set())

/** The dialog that is open for tasks of the list; null if there is none. */
export const asked = signal<{ action: BulkAction; ids: readonly string[] } | { action: 'answer'; id: string } | null>(
  null,
)

export function select(ids: Iterable<string>): void {
  selected.value = new Set(ids)
  const { size } = selected.value
  announce(size === 0 ? 'Nothing selected' : `${size} selected`)
}

export function toggleSelected(id: string): void {
  const next = new Set(selected.peek())
  if (!next.delete(id)) next.add(id)
  select(next)
}

/** Adds all lines between two to the selection, both included. */
export function selectRange(from: string | null, to: string): void {
  const { lines } = listing.peek()
  const at = (id: string | null) => lines.findIndex(({ row }) => row.id === id)
  const [end, start] = [at(to), at(from)]
  if (end < 0) return
  const [first, last] = start < 0 ? [end, end] : [Math.min(start, end), Math.max(start, end)]
  select([...selected.peek(), ...lines.slice(first, last + 1).map(({ row }) => row.id)])
}

/** Selects all lines that match the filters; when all are already selected, none. */
export function selectAllShown(): void {
  const ids = shownIds()
  select(ids.every((id) => selected.peek().has(id)) ? [] : ids)
}

export function shownIds(): string[] {
  return listing.value.lines.flatMap(({ row, matches }) => (matches ? [row.id] : []))
}

/** The rows of the tasks that still exist. */
export function rowsOf(ids: Iterable<string>): TaskRow[] {
  return [...ids].flatMap((id) => link.store.rows.get(id) ?? [])
}
