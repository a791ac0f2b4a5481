// All tables of one ledger, bound to one dialect: the `Tx` that steps are written against.
import type { Tx } from '../ledger.ts'
import { createCompiler, type Dialect } from '../statement.ts'
import { createBoardTable } from './board/board.ts'
import { createBoardMirrorTable } from './board/board-mirror.ts'
import { createMailTable } from './board/mail.ts'
import { createCallTable } from './call.ts'
import { createCascadeTable } from './cascade.ts'
import { createDependencyTable } from './dependency.ts'
import { createEventTable } from './event.ts'
import { createInstanceTable } from './instance.ts'
import { createBranchTable } from './memory/branch.ts'
import { createConsolidationTable } from './memory/consolidation.ts'
import { createFactTable } from './memory/fact.ts'
import { createObservationTable } from './memory/observation.ts'
import { createTeamTable } from './memory/team.ts'
import { createMessageTable } from './message.ts'
import { createPurge } from './purge.ts'
import { createRunTable } from './run.ts'
import { createSettingTable } from './setting.ts'
import { createSignalTable } from './signal.ts'
import { createTaskTable } from './task.ts'
import { createScheduleTable } from './time/schedule.ts'

const made = new Map<Dialect, Tx>()

/** The tables of a dialect. They hold statements only, so all ledgers of a process share them: each is compiled once. */
export function tablesOf(dialect: Dialect): Tx {
  let tables = made.get(dialect)
  if (tables === undefined) {
    tables = createTables(dialect)
    made.set(dialect, tables)
  }
  return tables
}

export function createTables(dialect: Dialect, compiler = createCompiler(dialect)): Tx {
  const task = createTaskTable(compiler)
  return {
    task,
    dependency: createDependencyTable(compiler),
    run: createRunTable(compiler),
    call: createCallTable(compiler),
    message: createMessageTable(compiler),
    signal: createSignalTable(compiler),
    event: createEventTable(compiler),
    instance: createInstanceTable(compiler),
    setting: createSettingTable(compiler),
    board: createBoardTable(compiler),
    mail: createMailTable(compiler),
    branch: createBranchTable(compiler),
    observation: createObservationTable(compiler),
    fact: createFactTable(compiler),
    consolidation: createConsolidationTable(compiler),
    team: createTeamTable(compiler),
    mirror: createBoardMirrorTable(compiler),
    schedule: createScheduleTable(compiler),
    cascade: createCascadeTable(compiler),
    purge: createPurge(compiler, task.idsBelow),
  }
}
