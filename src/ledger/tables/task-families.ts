// The tasks below one: its children, its subtree, and their ids.
import type { BriefRecord, TaskRecord } from '../../entities/task.ts'
import type { Op } from '../ledger.ts'
import { among, numberOf, type StatementCompiler, sql } from '../statement.ts'
import { ofTask } from '../table-mapping.ts'
import { countOfBelow, tasks, withBelow } from './task-columns.ts'
import { byPriority, type Match, maxRowsRead, maxRowsReturned, type TaskReader } from './task-list-reader.ts'

type Child = Match & { id: string }

export class TaskFamilies {
  readonly #reader: TaskReader
  readonly #statements: ReturnType<typeof familyStatements>

  constructor(compiler: StatementCompiler, reader: TaskReader) {
    this.#reader = reader
    this.#statements = familyStatements(compiler)
  }

  *children(parent: string): Op<TaskRecord[]> {
    const { childCount, children } = this.#statements
    const count = yield* numberOf(childCount, { parent })
    if (count === 0) return []
    if (count <= maxRowsRead) return yield* tasks.list(children, { parent })
    return yield* this.#reader.records((yield* this.#childrenOf([parent])).sort(byPriority))
  }

  *subtree(root: string): Op<TaskRecord[]> {
    const { belowCount, subtree } = this.#statements
    const count = yield* numberOf(belowCount, { root })
    if (count === 0) return []
    if (count <= maxRowsRead) return yield* tasks.list(subtree, { root })
    return yield* this.#reader.records((yield* this.#below(root)).sort(byPriority))
  }

  *briefSubtree(root: string): Op<BriefRecord[]> {
    return yield* this.#reader.brief((yield* this.#below(root)).sort(byPriority))
  }

  *idsBelow(root: string): Op<string[]> {
    return (yield* this.#below(root)).map(({ id }) => id)
  }

  /** The children of some tasks, deleted ones included, in no order. */
  *#childrenOf(parents: readonly string[]): Op<Child[]> {
    const some = yield* this.#reader.rows<Child>(this.#statements.someChildren, { parents: JSON.stringify(parents) })
    if (some.length <= maxRowsRead) return some
    const found: Child[] = []
    for (const parent of parents) {
      let last: (Child & { status: string }) | undefined
      do {
        const from = { status: last?.status ?? '', seq: last?.seq ?? 0 }
        const page: Array<Child & { status: string }> = yield* this.#reader.rows(this.#statements.childrenOfOne, {
          parent,
          ...from,
        })
        for (const child of page) found.push(child)
        last = page.length < maxRowsRead ? undefined : page.at(-1)
      } while (last !== undefined)
    }
    return found
  }

  /** All tasks below one, deleted ones included. A cycle of parents, which errand never writes, ends here. */
  *#below(root: string): Op<Child[]> {
    const found = new Map<string, Child>()
    for (let parents = [root]; parents.length > 0; ) {
      const next: string[] = []
      for (let at = 0; at < parents.length; at += maxRowsReturned) {
        for (const child of yield* this.#childrenOf(parents.slice(at, at + maxRowsReturned))) {
          if (found.has(child.id)) continue
          found.set(child.id, { ...child, seq: Number(child.seq) })
          next.push(child.id)
        }
      }
      parents = next
    }
    return [...found.values()]
  }

  *seqsBelow(root: string): Op<Set<number>> {
    return new Set((yield* this.#below(root)).map(({ seq }) => seq))
  }
}

function familyStatements(compiler: StatementCompiler) {
  const { prepareText, dialect } = compiler
  const childCount = prepareText(
    (hole) =>
      sql`select count(*) as children from (select 1 from task where parent_id = ${hole('parent', ofTask)} limit ${maxRowsRead + 1}) as counted`,
  )
  const belowCount = countOfBelow(compiler, maxRowsRead + 1)
  const children = prepareText(
    (hole) => sql`select ${tasks.columns()} from task
      where parent_id = ${hole('parent', ofTask)} and deleted_at is null order by priority desc, seq asc`,
  )
  const subtree = prepareText(
    (hole) => sql`${withBelow(hole('root'))}
      select ${tasks.columns()} from task join below on below.id = task.id
      where task.deleted_at is null order by task.priority desc, task.seq asc`,
  )
  const someChildren = prepareText(
    (hole) => sql`select id, seq, priority from task
      where parent_id ${among(dialect, hole('parents'))} limit ${maxRowsRead + 1}`,
  )
  // Ordered as the index, so that a page reads its own rows only.
  const childrenOfOne = prepareText(
    (hole) => sql`select id, seq, priority, status from task
      where parent_id = ${hole('parent', ofTask)} and (status, seq) > (${hole('status')}, ${hole('seq')})
      order by status, seq limit ${maxRowsRead}`,
  )
  return { childCount, belowCount, children, subtree, someChildren, childrenOfOne }
}
