// The branch table: branches hold observations and facts. `main` is created with the table; all others are below it.
import type { BranchRecord } from '../../../entities/memory.ts'
import type { Tx } from '../../ledger.ts'
import { insertSeq, type StatementCompiler } from '../../statement.ts'
import { defineTable, ofKey, ofTask, plain, serial, statementsOf } from '../../table-mapping.ts'

/** What `save` writes. */
const stateFields = { status: plain, description: plain, updatedAt: plain }

const branches = defineTable('branch', {
  seq: serial,
  name: ofKey,
  parent: plain,
  taskId: ofTask,
  agentId: plain,
  createdAt: plain,
  ...stateFields,
})

export function createBranchTable(compiler: StatementCompiler): Tx['branch'] {
  const { dialect } = compiler
  const { select, finds, insert, saves } = statementsOf(compiler, branches)
  const selectOfTask = select((branch, hole) =>
    branch
      .where('task_id', '=', hole('task', ofTask))
      .where('seq', '>', hole('after'))
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  const insertBranch = insert('keys')
  const get = finds('name', 'branches')

  return {
    get,
    toCreate: finds('name'),
    ofTask: (task) => branches.one(selectOfTask, { task, after: 0, limit: 1 }),
    allOfTask: (task, limit, after) => branches.list(selectOfTask, { task, after, limit }),
    *lineage(name) {
      // Step by step, each an indexed look-up: a cycle, which errand never writes, ends here too.
      const found = new Map<string, BranchRecord>()
      for (let next: string | null = name; next !== null && !found.has(next); ) {
        const branch: BranchRecord | undefined = yield* get(next)
        if (branch === undefined) break
        found.set(next, branch)
        next = branch.parent
      }
      return [...found.values()]
    },
    list({ status, parent, taskId }, limit, after) {
      const found = branches.from(dialect.db, { status, parent, taskId }).where('seq', '>', after)
      return branches.query(found.orderBy('seq', 'asc').limit(limit))
    },
    insert: (branch) => insertSeq(insertBranch, branch),
    save: saves(stateFields, ['name'], { concerns: 'all' }),
    saveStatus: saves({ status: plain, updatedAt: plain }, ['name', 'taskId'], { concerns: 'tasks' }),
  }
}
