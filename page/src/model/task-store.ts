// The tasks that the page knows, kept true by two sources: rows that were read at a position of the feed, and the feed itself.
// An event tells name and state at once; the rest of its row is read again later. Reads and events may overtake each other in any
// order: what was told later always wins, so that both roads lead to the same rows.

import { textIn } from './event-data.ts'
import type { TaskEvent, TaskRow, TaskStatus } from './wire.ts'

/** Of the journal and the conversation: the row of the task stays as it is. */
const leaveTheRow = new Set<string>([
  'call.started',
  'call.completed',
  'call.failed',
  'message.appended',
  'output.written',
  'model.failed',
  'task.diverged',
])

/** What events have told of a task since its row was read. */
interface Heard {
  seq: number
  name: string
  status: TaskStatus
  at: number
  gone: boolean
}

export class TaskStore {
  readonly rows = new Map<string, TaskRow>()
  /** Ids by parent; '' holds the roots. */
  readonly children = new Map<string, Set<string>>()
  /** Position of the feed up to which this store has heard. */
  seq = 0
  /** Raised by every change that anybody could see. */
  revision = 0
  readonly #heard = new Map<string, Heard>()
  /** At which position each row was read. */
  readonly #readAt = new Map<string, number>()
  readonly #dirty = new Set<string>()

  get dirtyCount(): number {
    return this.#dirty.size
  }

  /** Ids whose rows are to be read again, at most so many, the urgent ones first; whoever takes them reads them. */
  takeDirty(most: number, urgent: Iterable<string> = []): string[] {
    const taken: string[] = []
    const take = (id: string) => {
      if (taken.length < most && this.#dirty.delete(id)) taken.push(id)
    }
    for (const id of urgent) take(id)
    for (const id of this.#dirty) {
      if (taken.length === most) break
      take(id)
    }
    return taken
  }

  /** A read has failed: its ids are to be read again. */
  markDirty(ids: readonly string[]): void {
    for (const id of ids) this.#dirty.add(id)
  }

  /**
   * Takes rows that were read at a position. `asked`: the ids that were asked for, of which those without a row exist no more.
   */
  applyRows(rows: readonly TaskRow[], seq: number, asked: readonly string[] = []): void {
    const found = new Set(rows.map(({ id }) => id))
    for (const row of rows) this.#applyRow(row, seq)
    for (const id of asked) if (!found.has(id)) this.#applyAbsence(id, seq)
    this.revision++
  }

  #applyRow(row: TaskRow, seq: number): void {
    if ((this.#readAt.get(row.id) ?? -1) > seq) return
    this.#readAt.set(row.id, seq)
    const heard = this.#heard.get(row.id)
    if (heard === undefined || heard.seq <= seq) {
      this.#heard.delete(row.id)
      this.#put(row)
    } else if (!heard.gone) this.#put(withHeard(row, heard))
  }

  #applyAbsence(id: string, seq: number): void {
    const heard = this.#heard.get(id)
    if (heard !== undefined && heard.seq > seq) return
    if ((this.#readAt.get(id) ?? -1) > seq) return
    this.#remove(id)
  }

  /** Follows the feed. An event that was heard before changes nothing. */
  applyEvent(event: TaskEvent): void {
    if (event.seq <= this.seq) return
    this.seq = event.seq
    if (leaveTheRow.has(event.type) || event.seq <= (this.#readAt.get(event.taskId) ?? -1)) return
    const heard: Heard = {
      seq: event.seq,
      name: textIn(event.data, 'name'),
      status: event.data['status'] as TaskStatus,
      at: event.at,
      gone: event.type === 'task.deleted',
    }
    this.#heard.set(event.taskId, heard)
    this.revision++
    if (heard.gone) {
      this.#remove(event.taskId)
      this.#heard.set(event.taskId, heard)
      return
    }
    const known = this.rows.get(event.taskId)
    if (known !== undefined) this.#put(withHeard(known, heard))
    this.#dirty.add(event.taskId)
    const parentId = event.type === 'task.created' ? event.data['parentId'] : undefined
    if (typeof parentId === 'string') this.#dirty.add(parentId)
  }

  /** Forgets everything: before it is all read anew. */
  clear(): void {
    for (const held of [this.rows, this.children, this.#heard, this.#readAt, this.#dirty]) held.clear()
    this.seq = 0
    this.revision++
  }

  /** The task and everything below it, as far as it is known. */
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
  }

  #remove(id: string): void {
    const row = this.rows.get(id)
    if (row !== undefined) this.#siblings(row.parentId).delete(id)
    this.rows.delete(id)
    this.#heard.delete(id)
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

function withHeard(row: TaskRow, { name, status, at }: Heard): TaskRow {
  return { ...row, name, status, updatedAt: Math.max(row.updatedAt, at) }
}
