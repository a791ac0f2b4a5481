// What a step has left to follow up in families: a queue of facts that become events to the machines of relatives, in the same transaction.
import type { DependencyRecord } from '../../entities/dependency.ts'
import type { TaskRecord } from '../../entities/task.ts'

/** What has ended: one task, or, with `edges`, a whole set of tasks with the edges that lead out of it. */
export interface Ended {
  task: TaskRecord
  edges?: readonly DependencyRecord[]
}

/** A queue of ids; an id that is already queued is not added again. */
class Turns {
  readonly #ids: string[] = []
  /** Made with the first id: most steps queue none. */
  #waiting: Set<string> | undefined
  // A position, because shifting a hundred thousand entries one by one would be quadratic.
  #at = 0

  add(id: string): void {
    this.#waiting ??= new Set()
    if (this.#waiting.has(id)) return
    this.#waiting.add(id)
    this.#ids.push(id)
  }

  next(): string | undefined {
    const id = this.#ids[this.#at]
    if (id === undefined) return undefined
    this.#at++
    this.#waiting?.delete(id)
    return id
  }
}

/** Followed up in the order of its fields. */
export class Cascade {
  /** Tasks of which another attempt begins: the failed groups above them reopen. */
  readonly reopened: TaskRecord[] = []
  /** Tasks that have begun to work: the groups above them begin too. */
  readonly begun: TaskRecord[] = []
  readonly ended: Ended[] = []
  /** Tasks that may have become stuck, or free. */
  readonly tasks = new Turns()
  /** Tasks of which a child may have become stuck, or free, or that their children may end. */
  readonly parents = new Turns()
  /** Groups in which nothing could move: reopened only after all else is judged, so that inner ones come first. */
  readonly stuckGroups = new Turns()
}
