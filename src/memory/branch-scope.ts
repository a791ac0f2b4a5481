// Where in memory a caller stands. A program reaches every branch. A task's run or model reads its own branch and those above it, and
// writes to its own alone: that of its stint, or of the task that its team works on. Without a team it is the branch of the task, which
// the task gets when its model first states something: what a model states never lands on `main`. A run of a task without any branch
// writes to `main`.
import { type Caller, mayAffect } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { type BranchRecord, mainBranch } from '../entities/memory.ts'
import { isTrusted, type Source } from '../entities/source.ts'
import type { TeamRecord } from '../entities/team.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'
import { nearestOpenBranch, requireBranch, requireBranchFor, requireOpenBranch } from '../steps/branch.ts'
import { requireWithin } from '../steps/conditions.ts'
import { sourceOf } from '../steps/source.ts'
import { loadTask, requireTask, type StepContext } from '../steps/step-context.ts'
import { ensureBranch } from '../steps/team.ts'

export interface Standing {
  branch: string
  team: TeamRecord | undefined
  agentId: string | null
}

/** Of the agent that works on a task; also of a task that is no longer known. */
export function* standingOf(tx: Reads, taskId: string): Op<Standing> {
  const stint = yield* tx.team.stintOfWorker(taskId)
  if (stint !== undefined) {
    return { branch: stint.branch, team: yield* tx.team.get(stint.taskId), agentId: stint.agentId }
  }
  const place = (yield* tx.task.get(taskId))?.policy.team
  const team = yield* tx.team.get(place?.taskId ?? taskId)
  if (team === undefined) return { branch: (yield* tx.branch.ofTask(taskId))?.name ?? mainBranch, team, agentId: null }
  const agentId = place?.agentId ?? null
  const last = agentId === null ? undefined : yield* tx.team.latestStint(team.taskId, agentId)
  return { branch: last?.branch ?? team.branch, team, agentId }
}

/** By which of these a branch is meant. */
export interface Whereabouts {
  branch?: string | undefined
  taskId?: string | undefined
  agentId?: string | undefined
}

/**
 * The branch that is named; else the agent's on the task; else the task's; else the caller's own; else `main`.
 * @throws ErrandError NOT_FOUND for a branch or task that is not there; FORBIDDEN for one that the caller does not reach.
 */
export function* branchMeant(
  tx: Reads,
  caller: Caller,
  { branch, taskId, agentId }: Whereabouts,
  purpose: 'read' | 'write',
): Op<BranchRecord> {
  if (taskId !== undefined) yield* requireNameable(tx, caller, taskId, purpose)
  const named = branch ?? (yield* branchOf(tx, taskId, agentId))
  if (caller.taskId === undefined) {
    const name = named ?? mainBranch
    return yield* purpose === 'write' ? requireBranchFor(tx, caller, name) : requireBranch(tx, name)
  }
  const own = (yield* standingOf(tx, caller.taskId)).branch
  const meant = named ?? own
  const reach = purpose === 'write' ? [own] : (yield* tx.branch.lineage(own)).map(({ name }) => name)
  if (!reach.includes(meant)) throw outOfReach(caller, meant, reach, purpose)
  return yield* requireBranch(tx, meant)
}

/**
 * Who states something, and on which branch: the one that is meant. A model or a tool states nothing on `main`; one whose task has no
 * branch yet gets one for it.
 * @throws ErrandError NOT_FOUND, BRANCH_CLOSED, FORBIDDEN
 */
export function* placeOfStatement(
  tx: Tx,
  caller: Caller,
  meant: Whereabouts,
  ctx: StepContext,
): Op<{ branch: BranchRecord; statedBy: Source }> {
  const statedBy = yield* sourceOf(tx, caller)
  if (!isTrusted(statedBy) && caller.taskId !== undefined) yield* ownBranch(tx, caller.taskId, ctx)
  const branch = yield* branchMeant(tx, caller, meant, 'write')
  if (branch.name === mainBranch && !isTrusted(statedBy)) throw notOnMain(caller, statedBy)
  return { branch: yield* requireOpenBranch(tx, branch.name), statedBy }
}

/** The branch of the agent that works on a task, or of its team; without a team that of the task, made if it has none. */
export function* ownBranch(tx: Tx, taskId: string, ctx: StepContext): Op<string> {
  const { branch } = yield* standingOf(tx, taskId)
  if (branch !== mainBranch) return branch
  const task = (yield* tx.task.get(taskId)) ?? { id: taskId, name: taskId }
  return (yield* ensureBranch(tx, task, null, ctx)).name
}

/**
 * The branch, or where it is archived the nearest above that takes what is new: `main` only for what a person or a program states.
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
    `A ${kind} states nothing on "${mainBranch}". Name \`taskId\` with \`agentId\`, or a branch below: what several agents state there, or what a person merges, reaches "${mainBranch}".`,
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
  return (yield* standingOf(tx, taskId)).branch
}

/** A task of the caller's own, or the one that its team works on; of a caller without a task, for what it adds, one that it may affect. */
function* requireNameable(tx: Reads, caller: Caller, taskId: string, purpose: 'read' | 'write'): Op<void> {
  if (caller.taskId === undefined) {
    const { principal } = (yield* tx.task.get(taskId))?.policy ?? {}
    if (purpose === 'write' && !mayAffect(caller, principal)) requireTask(undefined, taskId)
    return
  }
  if ((yield* tx.task.get(caller.taskId))?.policy.team?.taskId === taskId) return
  yield* requireWithin(tx, caller.taskId, [taskId])
}

/** For what a team does to its branches: a caller with a task does it to those of its team. @throws ErrandError NOT_FOUND, FORBIDDEN */
export function* branchOfTeam(tx: Reads, caller: Caller, name: string): Op<BranchRecord> {
  if (caller.taskId === undefined) return yield* requireBranch(tx, name)
  const { branch: own, team } = yield* standingOf(tx, caller.taskId)
  const branch = yield* tx.branch.get(name)
  const isTeams = team !== undefined && branch?.taskId === team.taskId
  const isOwn = name === own && (name !== mainBranch || isTrusted(yield* sourceOf(tx, caller)))
  if (branch !== undefined && (isOwn || isTeams)) return branch
  throw outOfReach(caller, name, [own], 'write')
}

/** Refuses a fact or an observation of a branch that the caller does not read. */
export function* requireReadable(tx: Reads, caller: Caller, branch: string): Op<void> {
  if (caller.taskId !== undefined) yield* branchMeant(tx, caller, { branch }, 'read')
}

export function* isReadable(tx: Reads, caller: Caller, branch: string): Op<boolean> {
  if (caller.taskId === undefined) return true
  const { branch: own } = yield* standingOf(tx, caller.taskId)
  return (yield* tx.branch.lineage(own)).some(({ name }) => name === branch)
}

function outOfReach(caller: Caller, branch: string, reach: readonly string[], purpose: 'read' | 'write'): ErrandError {
  return new ErrandError(
    'FORBIDDEN',
    `${caller.taskId} may not ${purpose === 'read' ? 'read' : 'write to'} the branch "${branch}". It may ${purpose === 'read' ? 'read' : 'write to'} ${reach.map((name) => `"${name}"`).join(', ')}.`,
    { branch, scope: caller.taskId, reach },
  )
}
