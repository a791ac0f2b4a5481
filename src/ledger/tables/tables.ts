// All tables of one ledger, bound to one dialect: the `Tx` that steps are written against.
import type { TaskEvent } from '../../entities/event.ts'
import type { Tx } from '../ledger.ts'
import { createCompiler, type Dialect } from '../statement.ts'
import { createBoardTable } from './board.ts'
import { createBoardMirrorTable } from './board-mirror.ts'
import { createBranchTable } from './branch.ts'
import { createCallTable } from './call.ts'
import { createCascadeTable } from './cascade.ts'
import { createConsolidationTable } from './consolidation.ts'
import { createDependencyTable } from './dependency.ts'
import { createEventTable } from './event.ts'
import { createFactTable } from './fact.ts'
import { createInstanceTable } from './instance.ts'
import { createMailTable } from './mail.ts'
import { createMessageTable } from './message.ts'
import { createObservationTable } from './observation.ts'
import { createRunTable } from './run.ts'
import { createSettingTable } from './setting.ts'
import { createTaskTable } from './task.ts'
import { createTeamTable } from './team.ts'

/** `appended` hears of each event as it is written, and of undefined where a set statement wrote some unseen. */
export function createTables(dialect: Dialect, appended: (event: TaskEvent | undefined) => void): Tx {
  const compiler = createCompiler(dialect)
  return {
    task: createTaskTable(compiler),
    dependency: createDependencyTable(compiler),
    run: createRunTable(compiler),
    call: createCallTable(compiler),
    message: createMessageTable(compiler),
    event: createEventTable(compiler, appended),
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
    cascade: createCascadeTable(compiler, () => appended(undefined)),
  }
}
