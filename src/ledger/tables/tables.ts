// All tables of one ledger, bound to one dialect: the `Tx` that steps are written against.
import type { TaskEvent } from '../../entities/event.ts'
import type { Tx } from '../ledger.ts'
import { createCompiler, type Dialect } from '../statement.ts'
import { createCallTable } from './call.ts'
import { createDependencyTable } from './dependency.ts'
import { createEventTable } from './event.ts'
import { createInstanceTable } from './instance.ts'
import { createMessageTable } from './message.ts'
import { createRunTable } from './run.ts'
import { createTaskTable } from './task.ts'

export function createTables(dialect: Dialect, appended: (event: TaskEvent) => void): Tx {
  const compiler = createCompiler(dialect)
  return {
    task: createTaskTable(compiler),
    dependency: createDependencyTable(compiler),
    run: createRunTable(compiler),
    call: createCallTable(compiler),
    message: createMessageTable(compiler),
    event: createEventTable(compiler, appended),
    instance: createInstanceTable(compiler),
  }
}
