// What teams add to the steps of tasks: a task is created with its team, a run starts as a member, and what members do is observed.
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import type { TeamSteps } from '../../operations/steps/step-context.ts'
import { requireBranchFor } from '../branches.ts'
import { enterTeam } from './enter-team.ts'
import { observeAnswer, observeCall } from './observe-work.ts'
import { ensureBranch, openTeam } from './team.ts'

export const teamSteps: TeamSteps = {
  requireBranches,
  *created(tx, task, team, ctx) {
    if (team === 'later') yield* ensureBranch(tx, task, null, ctx)
    else yield* openTeam(tx, task, team, ctx)
  },
  started: (tx, task, ctx) => enterTeam(tx, task, { patience: true }, ctx),
  callEnded: observeCall,
  answered: observeAnswer,
}

/** A caller with a task merges into the branch of its own team, a principal into branches of tasks that it may affect. */
function* requireBranches(tx: Reads, caller: Caller, branches: readonly string[]): Op<void> {
  const { taskId } = caller
  if (taskId === undefined) {
    for (const name of branches) yield* requireBranchFor(tx, caller, name)
    return
  }
  const membership = (yield* tx.task.get(taskId))?.policy.team
  const team = membership === undefined ? undefined : yield* tx.team.get(membership.taskId)
  const branch = branches.find((name) => name !== team?.branch)
  if (branch === undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `Facts of tasks below ${taskId} are merged into ${team === undefined ? 'its own branch' : `"${team.branch}"`}, not into "${branch}". Omit \`parentBranch\`.`,
    { taskId, branch },
  )
}
