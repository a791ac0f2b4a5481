// What a statement says of itself, where it is defined: whose rows it concerns, and which table it writes. The first decides which steps of
// several processes may run beside each other on a server. It follows from the kinds of the holes (table-mapping.ts), or is named for the whole
// statement. One that says nothing of it concerns the rows of any task: its step runs alone.
import { type OperationNode, type RootOperationNode, TableNode } from 'kysely'
import type { Database } from './schema.ts'

/**
 * What a hole may name. `tasks`: a task, whose rows are read and written only by who has locked the row of the task. `calls`: a journal entry,
 * and so its task. `keys`: the key of a task, a branch or an inbox, which may not exist yet. `board`: the row of a board and the new numbers
 * on it, read and written only by who has locked its name.
 */
export type Named = 'tasks' | 'calls' | 'keys' | 'board'

/**
 * What a statement may concern: what its holes name, or what only the statement as a whole can say. `all`: the rows of any task. `heads`: the
 * first ready tasks of a queue. `queue`: what admission counts, of this engine or as an estimate. `limits`: what it counts of all engines.
 * `unshared`: rows that are written only by steps that run alone, or only by this engine, and rows that are only added.
 *
 * `numbering`: a board, and all tasks without a number, while no step creates one. `boards`: what never changes of boards and numbers once it is
 * there. `neighbours`: the edges of a task with what is at their other ends. `claimable`: tasks found for a claim, and `overdue`: tasks whose
 * time has come, by lists that lock nothing: each task is read again before it is judged.
 *
 * `branches`: branches by their names. A step beside others may add a branch, and may change one between active and merged if it has locked
 * the task of the branch. A step that judges which of the two it is has locked that task too, or depends on it only where nothing is merged.
 * `pending`: observations, to which steps beside others only add.
 */
export type Whose =
  | Named
  | 'all'
  | 'heads'
  | 'queue'
  | 'limits'
  | 'unshared'
  | 'numbering'
  | 'boards'
  | 'neighbours'
  | 'claimable'
  | 'overdue'
  | 'branches'
  | 'pending'

export interface Concern {
  readonly of: Whose
  /** The positions of the values that name them. */
  readonly places: readonly number[]
}

/**
 * The concern of a statement, from what each of its values names.
 * @param stated what the statement says; needed where its values name things of several kinds
 */
export function concernOf(values: ReadonlyArray<Named | undefined>, stated?: Whose): Concern {
  const named = new Set(values.filter((each) => each !== undefined))
  if (stated === undefined && named.size > 1)
    throw new TypeError(`A statement that names ${[...named].join(' and ')} has to say which it concerns`)
  const [only = 'all'] = named
  const of = stated ?? only
  const isMeant = (each: Named | undefined) => each !== undefined && (each === of || !named.has(of as Named))
  return { of, places: values.flatMap((each, place) => (isMeant(each) ? [place] : [])) }
}

/** What a statement writes. One that says nothing of it reads. */
export interface Written {
  /** The table to which it adds rows, changing none. */
  readonly inserts?: StoredTable
  /** The table whose rows it changes. */
  readonly changes?: StoredTable
}

export type StoredTable = keyof Database | 'fact_text'

/** What a statement of the builder writes. */
export function writtenBy(query: RootOperationNode): Written {
  const table = (node: OperationNode | undefined) =>
    (node !== undefined && TableNode.is(node) ? node.table.identifier.name : undefined) as StoredTable
  switch (query.kind) {
    case 'InsertQueryNode':
      // An insert that conflicts with a row may change it.
      return { [query.onConflict === undefined ? 'inserts' : 'changes']: table(query.into) }
    case 'UpdateQueryNode':
      return { changes: table(query.table) }
    case 'DeleteQueryNode':
      return { changes: table(query.from.froms[0]) }
    default:
      return {}
  }
}
