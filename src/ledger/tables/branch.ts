// The branch table: where observations and facts lie. `main` is made by the migration; all others lie below it.
import type { BranchRecord, BranchStatus } from '../../entities/memory.ts'
import type { Tx } from '../ledger.ts'
import type { BranchTableRow } from '../schema.ts'
import { change, holesFor, insertSeq, queryRows, returningSeq, row, type StatementCompiler } from '../statement.ts'

type Row = Omit<BranchTableRow, 'seq'> & { seq: number }

const toBranch = (stored: Row): BranchRecord => ({
  seq: stored.seq,
  name: stored.name,
  parent: stored.parent,
  description: stored.description,
  status: stored.status as BranchStatus,
  taskId: stored.task_id,
  agentId: stored.agent_id,
  createdAt: stored.created_at,
  updatedAt: stored.updated_at,
})

const names = ['name', 'parent', 'description', 'status', 'task_id', 'agent_id', 'created_at', 'updated_at'] as const // prettier-ignore

export function createBranchTable(compiler: StatementCompiler): Tx['branch'] {
  const { prepare, dialect } = compiler
  const selectOne = prepare((db, hole) => db.selectFrom('branch').selectAll().where('name', '=', hole('name')))
  const insertBranch = prepare((db, hole) =>
    returningSeq(dialect)(db.insertInto('branch').values(holesFor(names, hole))),
  )
  const updateBranch = prepare((db, hole) =>
    db
      .updateTable('branch')
      .set(holesFor(['status', 'description', 'updated_at'], hole))
      .where('name', '=', hole('name')),
  )

  const selectOfTask = prepare((db, hole) =>
    db.selectFrom('branch').selectAll().where('task_id', '=', hole('task')).orderBy('seq', 'asc').limit(1),
  )

  return {
    *get(name) {
      const found = yield* row<Row>(selectOne, { name })
      return found && toBranch(found)
    },
    *ofTask(task) {
      const found = yield* row<Row>(selectOfTask, { task })
      return found && toBranch(found)
    },
    *lineage(name) {
      // Step by step, each an indexed look-up: a cycle, which nothing should ever have written, ends here too.
      const found = new Map<string, BranchRecord>()
      for (let next: string | null = name; next !== null && !found.has(next); ) {
        const branch: Row | undefined = yield* row<Row>(selectOne, { name: next })
        if (branch === undefined) break
        found.set(next, toBranch(branch))
        next = branch.parent
      }
      return [...found.values()]
    },
    *list(filter, limit, after) {
      let query = dialect.db.selectFrom('branch').selectAll().where('seq', '>', after)
      if (filter.status !== undefined) query = query.where('status', '=', filter.status)
      if (filter.parent !== undefined) query = query.where('parent', '=', filter.parent)
      if (filter.taskId !== undefined) query = query.where('task_id', '=', filter.taskId)
      return (yield* queryRows<Row>(query.orderBy('seq', 'asc').limit(limit).compile())).map(toBranch)
    },
    *insert(branch) {
      return yield* insertSeq(insertBranch, {
        name: branch.name,
        parent: branch.parent,
        description: branch.description,
        status: branch.status,
        task_id: branch.taskId,
        agent_id: branch.agentId,
        created_at: branch.createdAt,
        updated_at: branch.updatedAt,
      })
    },
    *save({ name, status, description, updatedAt }) {
      yield* change(updateBranch, { name, status, description, updated_at: updatedAt })
    },
  }
}
