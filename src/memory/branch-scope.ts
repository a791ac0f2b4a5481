// Which branches of memory a caller may use. A program may use every branch. A task's run or model reads its own branch and those above
// it, and writes only to its own: that of its stint, or of the task of its team. Without a team it is the branch of the task, which is
// created when its model first states something, because a model never writes to `main`. A run of a task without a branch writes to `main`.
import { type Caller, mayAffect } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { type BranchRecord, mainBranch } from '../entities/memory.ts'
import { isTrusted, type Source } from '../entities/source.ts'
import type { TeamRecord } from '../entities/team.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'
import { requireWithin } from '../operations/steps/conditions.ts'
import { sourceOf } from '../operations/steps/source.ts'
import { loadTask, requireTask, type StepContext } from '../operations/steps/step-context.ts'
import { nearestOpenBranch, requireBranch, requireBranchFor, requireOpenBranch } from './branches.ts'
import { ensureBranch } from './team/team.ts'

export interface MemoryScope {
  branch: string
  team: TeamRecord | undefined
  agentId: string | null
}

/** The branch, team and agent of the agent that works on a task; also for a deleted task. */
export function* memoryScopeOf(tx: Reads, taskId: string): Op<MemoryScope> {
  const stint = yield* tx.team.stintOfWorker(taskId)
  if (stint !== undefined) {
    return { branch: stint.branch, team: yield* tx.team.get(stint.taskId), agentId: stint.agentId }
  }
  const scope = (yield* tx.task.get(taskId))?.policy.team
  const team = yield* tx.team.get(scope?.taskId ?? taskId)
  if (team === undefined) return { branch: (yield* tx.branch.ofTask(taskId))?.name ?? mainBranch, team, agentId: null }
  const agentId = scope?.agentId ?? null
  const last = agentId === null ? undefined : yield* tx.team.latestStint(team.taskId, agentId)
  return { branch: last?.branch ?? team.branch, team, agentId }
}

/** The fields that select a branch. */
export interface BranchTarget {
  branch?: string | undefined
  taskId?: string | undefined
  agentId?: string | undefined
}

/**
 * Resolves a branch: the named one; else the agent's on the task; else the task's; else the caller's own; else `main`.
 * @throws ErrandError NOT_FOUND for an unknown branch or task; FORBIDDEN for one outside the caller's scope.
 */
export function* resolveBranch(
  tx: Reads,
  caller: Caller,
  { branch, taskId, agentId }: BranchTarget,
  purpose: 'read' | 'write',
): Op<BranchRecord> {
  if (taskId !== undefined) yield* requireNameable(tx, caller, taskId, purpose)
  const named = branch ?? (yield* branchOf(tx, taskId, agentId))
  if (caller.taskId === undefined) {
    const name = named ?? mainBranch
    return yield* purpose === 'write' ? requireBranchFor(tx, caller, name) : requireBranch(tx, name)
  }
  const own = (yield* memoryScopeOf(tx, caller.taskId)).branch
  const meant = named ?? own
  const reach = purpose === 'write' ? [own] : (yield* tx.branch.lineage(own)).map(({ name }) => name)
  if (!reach.includes(meant)) throw outOfReach(caller, meant, reach, purpose)
  return yield* requireBranch(tx, meant)
}

/**
 * Resolves the source and the branch of a statement. A model or a tool states nothing on `main`; a branch is created for its task if
 * that has none.
 * @throws ErrandError NOT_FOUND, BRANCH_CLOSED, FORBIDDEN
 */
export function* resolveStatement(
  tx: Tx,
  caller: Caller,
  meant: BranchTarget,
  ctx: StepContext,
): Op<{ branch: BranchRecord; statedBy: Source }> {
  const statedBy = yield* sourceOf(tx, caller)
  if (!isTrusted(statedBy) && caller.taskId !== undefined) yield* ownBranch(tx, caller.taskId, ctx)
  const branch = yield* resolveBranch(tx, caller, meant, 'write')
  if (branch.name === mainBranch && !isTrusted(statedBy)) throw notOnMain(caller, statedBy)
  return { branch: yield* requireOpenBranch(tx, branch.name), statedBy }
}

/** The branch of the agent that works on a task, or of its team; without a team that of the task, which is created if missing. */
export function* ownBranch(tx: Tx, taskId: string, ctx: StepContext): Op<string> {
  const { branch } = yield* memoryScopeOf(tx, taskId)
  if (branch !== mainBranch) return branch
  const task = (yield* tx.task.get(taskId)) ?? { id: taskId, name: taskId }
  return (yield* ensureBranch(tx, task, null, ctx)).name
}

/**
 * The branch, or if it is archived the nearest open one above; `main` only for statements of a person or a program.
 * @throws ErrandError BRANCH_CLOSED
 */
export function* openBranch(tx: Reads, name: string, statedBy: Source): Op<string> {
  const open = yield* nearestOpenBranch(tx, name)
  if (open !== mainBranch || isTrusted(statedBy)) return open
  return (yield* requireOpenBranch(tx, name)).name
}

function notOnMain({ surface, taskId }: Caller, { kind }: Source): ErrandError {
  return new ErrandError(
    'FORBIDDEN',
    `A ${kind} cannot write to "${mainBranch}". Name \`taskId\` with \`agentId\`, or a branch below: what several agents state there, or what a person merges, reaches "${mainBranch}".`,
    { branch: mainBranch, surface, ...(taskId === undefined ? {} : { scope: taskId }) },
  )
}

function* branchOf(tx: Reads, taskId: string | undefined, agentId: string | undefined): Op<string | undefined> {
  if (taskId === undefined) return undefined
  const stint = agentId === undefined ? undefined : yield* tx.team.latestStint(taskId, agentId)
  if (stint !== undefined) return stint.branch
  const own = yield* tx.branch.ofTask(taskId)
  if (own !== undefined) return own.name
  yield* loadTask(tx, taskId)
  return (yield* memoryScopeOf(tx, taskId)).branch
}

/** Accepts the caller's own tasks and the task of its team; from a caller without a task that writes, the tasks that it may affect. */
function* requireNameable(tx: Reads, caller: Caller, taskId: string, purpose: 'read' | 'write'): Op<void> {
  if (caller.taskId === undefined) {
    const principal = (yield* tx.task.get(taskId))?.principal
    if (purpose === 'write' && !mayAffect(caller, principal)) requireTask(undefined, taskId)
    return
  }
  if ((yield* tx.task.get(caller.taskId))?.policy.team?.taskId === taskId) return
  yield* requireWithin(tx, caller.taskId, [taskId])
}

/** The branch for an operation of a team; a caller with a task may name only those of its team. @throws ErrandError NOT_FOUND, FORBIDDEN */
export function* branchOfTeam(tx: Reads, caller: Caller, name: string): Op<BranchRecord> {
  if (caller.taskId === undefined) return yield* requireBranch(tx, name)
  const { branch: own, team } = yield* memoryScopeOf(tx, caller.taskId)
  const branch = yield* tx.branch.get(name)
  const isOfTeam = team !== undefined && branch?.taskId === team.taskId
  const isOwn = name === own && (name !== mainBranch || isTrusted(yield* sourceOf(tx, caller)))
  if (branch !== undefined && (isOwn || isOfTeam)) return branch
  throw outOfReach(caller, name, [own], 'write')
}

/** @throws ErrandError FORBIDDEN for a fact or observation of a branch that the caller may not read. */
export function* requireReadable(tx: Reads, caller: Caller, branch: string): Op<void> {
  if (caller.taskId !== undefined) yield* resolveBranch(tx, caller, { branch }, 'read')
}

export function* isReadable(tx: Reads, caller: Caller, branch: string): Op<boolean> {
  if (caller.taskId === undefined) return true
  const { branch: own } = yield* memoryScopeOf(tx, caller.taskId)
  return (yield* tx.branch.lineage(own)).some(({ name }) => name === branch)
}

function outOfReach(caller: Caller, branch: string, reach: readonly string[], purpose: 'read' | 'write'): ErrandError {
  return new ErrandError(
    'FORBIDDEN',
    `${caller.taskId} may not ${purpose === 'read' ? 'read' : 'write to'} the branch "${branch}". It may ${purpose === 'read' ? 'read' : 'write to'} ${reach.map((name) => `"${name}"`).join(', ')}.`,
    { branch, scope: caller.taskId, reach },
  )
}
