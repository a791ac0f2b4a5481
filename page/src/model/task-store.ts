// The tasks of the page, updated from two sources: rows read at a position of the feed, and the feed itself. An event contains name and
// state; the rest of its row is read again later. Reads and events may arrive in any order: the later position always wins, so both
// lead to the same rows.

import { textIn } from './event-data.ts'
import type { TaskEvent, TaskRow, TaskStatus } from './wire.ts'

/** Events of the journal and the conversation, which do not change the task's row. */
const unrelatedEvents = new Set<string>([
  'call.started',
  'call.completed',
  'call.failed',
  'message.appended',
  'output.written',
  'model.failed',
  'model.prompt_cut',
  'task.diverged',
])

/** What events have reported since the row was read. */
interface Reported {
  seq: number
  name: string
  status: TaskStatus
  /** Queued. */
  ready: boolean
  at: number
  deleted: boolean
}

export class TaskStore {
  readonly rows = new Map<string, TaskRow>()
  /** Ids by parent; '' contains the roots. */
  readonly children = new Map<string, Set<string>>()
  /** The highest number of a task. */
  lastTask = 0
  /** Position of the feed up to which events have been applied. */
  seq = 0
  /** Incremented by every visible change. */
  revision = 0
  readonly #reported = new Map<string, Reported>()
  /** Position at which each row was read. */
  readonly #readAt = new Map<string, number>()
  readonly #dirty = new Set<string>()

  get dirtyCount(): number {
    return this.#dirty.size
  }

  /** Removes and returns up to `max` ids whose rows must be read again, urgent ones first. The caller must read them. */
  takeDirty(max: number, urgent: Iterable<string> = []): string[] {
    const taken: string[] = []
    const take = (id: string) => {
      if (taken.length < max && this.#dirty.delete(id)) taken.push(id)
    }
    for (const id of urgent) take(id)
    for (const id of this.#dirty) {
      if (taken.length === max) break
      take(id)
    }
    return taken
  }

  /** Marks ids again after a failed read. */
  markDirty(ids: readonly string[]): void {
    for (const id of ids) this.#dirty.add(id)
  }

  /** Applies rows that were read at a position. Requested ids (`requested`) without a row no longer exist. */
  applyRows(rows: readonly TaskRow[], seq: number, requested: readonly string[] = []): void {
    const found = new Set(rows.map(({ id }) => id))
    for (const row of rows) this.#applyRow(row, seq)
    for (const id of requested) if (!found.has(id)) this.#applyAbsence(id, seq)
    this.revision++
  }

  #applyRow(row: TaskRow, seq: number): void {
    if ((this.#readAt.get(row.id) ?? -1) > seq) return
    this.#readAt.set(row.id, seq)
    const reported = this.#reported.get(row.id)
    if (reported === undefined || reported.seq <= seq) {
      this.#reported.delete(row.id)
      this.#put(row)
    } else if (!reported.deleted) this.#put(withReported(row, reported))
  }

  #applyAbsence(id: string, seq: number): void {
    const reported = this.#reported.get(id)
    if (reported !== undefined && reported.seq > seq) return
    if ((this.#readAt.get(id) ?? -1) > seq) return
    this.#remove(id)
  }

  /** Applies an event of the feed. An event that was applied before has no effect. */
  applyEvent(event: TaskEvent): void {
    if (event.seq <= this.seq) return
    this.seq = event.seq
    if (unrelatedEvents.has(event.type) || event.seq <= (this.#readAt.get(event.taskId) ?? -1)) return
    const reported: Reported = {
      seq: event.seq,
      name: textIn(event.data, 'name'),
      status: event.data['status'] as TaskStatus,
      ready: event.data['ready'] === true,
      at: event.at,
      deleted: event.type === 'task.deleted',
    }
    this.#reported.set(event.taskId, reported)
    this.revision++
    if (reported.deleted) {
      this.#remove(event.taskId)
      this.#reported.set(event.taskId, reported)
      return
    }
    const known = this.rows.get(event.taskId)
    if (known !== undefined) this.#put(withReported(known, reported))
    this.#dirty.add(event.taskId)
    const parentId = event.type === 'task.created' ? event.data['parentId'] : undefined
    if (typeof parentId === 'string') this.#dirty.add(parentId)
  }

  /** Removes all tasks, before everything is read again. */
  clear(): void {
    for (const held of [this.rows, this.children, this.#reported, this.#readAt, this.#dirty]) held.clear()
    this.seq = 0
    this.lastTask = 0
    this.revision++
  }

  /** The task and all known tasks below it. */
  descendants(id: string): TaskRow[] {
    const found: TaskRow[] = []
    const open = [...(this.children.get(id) ?? [])]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const row = this.rows.get(next)
      if (row !== undefined) found.push(row)
      for (const child of this.children.get(next) ?? []) open.push(child)
    }
    return found
  }

  #put(row: TaskRow): void {
    const before = this.rows.get(row.id)
    if (before?.parentId !== row.parentId || before === undefined) {
      if (before !== undefined) this.#siblings(before.parentId).delete(before.id)
      this.#siblings(row.parentId).add(row.id)
    }
    this.rows.set(row.id, row)
    this.lastTask = Math.max(this.lastTask, row.seq)
  }

  #remove(id: string): void {
    const row = this.rows.get(id)
    if (row !== undefined) this.#siblings(row.parentId).delete(id)
    this.rows.delete(id)
    this.#reported.delete(id)
    this.#dirty.delete(id)
  }

  #siblings(parentId: string | null): Set<string> {
    const key = parentId ?? ''
    const known = this.children.get(key)
    if (known !== undefined) return known
    const made = new Set<string>()
    this.children.set(key, made)
    return made
  }
}

function withReported(row: TaskRow, { name, status, at, ready }: Reported): TaskRow {
  // Events report what is queued, and not what is claimable.
  const claimable = row.ready && row.executor === null && status === row.status
  return { ...row, name, status, ready: ready || claimable, updatedAt: Math.max(row.updatedAt, at) }
}
