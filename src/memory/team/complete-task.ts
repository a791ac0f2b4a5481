// Completes a team's task: its facts are judged, durable ones are merged into the branch above, and the task is completed without a run.
// One step, so that a crash leaves either all of it or nothing to be done.
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { canonicalJson, resultImage } from '../../core/json.ts'
import type { DecisionRecord, FactRecord } from '../../entities/memory.ts'
import type { TaskRecord, TaskStatus } from '../../entities/task.ts'
import type { StintRecord, TeamRecord } from '../../entities/team.ts'
import { everyRow } from '../../ledger/all-rows.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import { type ClaimToken, requireOwner } from '../../machines/ownership.ts'
import { refuseTransition } from '../../machines/task-edges.ts'
import { startGroupsAbove } from '../../operations/steps/groups-above.ts'
import { requireRightToChange } from '../../operations/steps/right-to-answer.ts'
import { passToWorking } from '../../operations/steps/send-event.ts'
import { eventOf, loadTask, onBehalfOf, type StepContext } from '../../operations/steps/step-context.ts'
import { complete } from '../../operations/steps/task-lifecycle.ts'
import { requireBranch, setBranchStatus } from '../branches.ts'
import { checkpointTask } from '../checkpoint.ts'
import { groundIn } from '../compare.ts'
import type { MemoryHost } from '../memory-host.ts'
import { type MemoryStep, runMemoryStep } from '../memory-step.ts'
import { type Conflict, type Merge, mergeBranch } from '../merge.ts'
import { activeBranchAbove, whileOpen } from './close-branch.ts'
import { endStint, mergeRemaining } from './complete-agent.ts'
import { ensureTeam } from './team.ts'
import { loadOwn } from './team-scope.ts'

export interface CompleteTaskRequest {
  taskId: string
  /** The outcome in words, stored with the team. */
  summary?: string | undefined
  /** The outcome for programs, as for `engine.complete`. */
  result?: unknown
  /** False: no fact leaves its branch. Default true. */
  merge?: boolean | undefined
  /** True: archives its branches, whose facts stay readable. Default false. */
  archive?: boolean | undefined
  /** If agents are still active: refuse (the default), or complete their work first. */
  agents?: 'refuse' | 'complete' | undefined
  /** True: refuses while an objective is not done. Default false: objectives and task are independent. */
  requireObjectives?: boolean | undefined
  /** The owner and its claim; required for a claimed task. */
  by?: ClaimToken | undefined
  /** The trigger recorded in the history. Default `task:complete`. */
  trigger?: string | undefined
}

export interface TaskCompleted {
  taskId: string
  status: TaskStatus
  /** The merge into the branch above; null if `merge` was false. */
  merge: Merge | null
  /** Ids of the durable facts. */
  durable: string[]
  /** Number of the other facts, which stay on the task's branch. */
  ephemeral: number
}

/**
 * Completes a task. A second call returns the first outcome and merges nothing. If the executor has completed the task already, only the
 * team is closed. A task without a team gets one.
 *
 * @throws ErrandError NOT_FOUND; AGENTS_ACTIVE { agents }; OBJECTIVES_OPEN { objectives }; INVALID_TRANSITION, BLOCKED, NOT_OWNER,
 *   STALE_CLAIM if the task cannot be completed; FORBIDDEN for the caller's own task, and for tasks outside its subtree.
 */
export async function completeTask(
  host: MemoryHost,
  caller: Caller,
  request: CompleteTaskRequest,
): Promise<TaskCompleted> {
  refuseOwn(caller, request.taskId)
  const reportLoss = (loss: ErrandError) => host.report(loss, { taskId: request.taskId, doing: 'complete' })
  const image = request.result === undefined ? undefined : resultImage(request.result, 'the result', reportLoss)
  const result = host.redaction.value(image, 'task', 'result')
  return runMemoryStep(onBehalfOf(host, caller), 'complete team task', function* (tx, memory): Op<TaskCompleted> {
    const task = yield* loadOwn(tx, caller, request.taskId)
    const known = yield* tx.team.get(task.id)
    if (known !== undefined && known.closedAt !== null) {
      requireSameResult(task, result)
      return outcomeOf(task, yield* firstOutcome(tx, known))
    }
    const team = known ?? (yield* ensureTeam(tx, task, memory.ctx))
    yield* endStints(tx, memory, task, team, request)
    if (request.requireObjectives) yield* requireObjectivesDone(tx, task)
    yield* requireRightToChange(tx, task, 'complete', caller)
    // Before the memory is consolidated, so that a task that cannot be completed is refused first.
    const completing = yield* loadTask(tx, task.id)
    yield* requireCompletable(tx, completing, result, request.by)
    if (!memory.isRehearsal) yield* completeFromAnyStatus(tx, completing, result, request.by, memory.ctx)
    const closing = yield* closeMemory(tx, memory, task, team, request)
    const completed = yield* loadTask(tx, task.id)
    yield* tx.event.append(eventOf(memory.ctx, 'team.closed', completed, closedData(closing)))
    return outcomeOf(completed, closing)
  })
}

/** A task that completed itself would end its run in the middle of the call and lose the run's result. */
function refuseOwn({ taskId }: Caller, named: string): void {
  if (taskId !== named) return
  throw new ErrandError(
    'FORBIDDEN',
    `${named} cannot complete itself with an ability: its run ends with its answer, which also closes the team. Complete a task below it, or answer.`,
    { taskId: named, scope: named },
  )
}

function* endStints(
  tx: Tx,
  memory: MemoryStep,
  task: TaskRecord,
  team: TeamRecord,
  { agents = 'refuse', trigger = 'task:complete' }: CompleteTaskRequest,
): Op<void> {
  const active = yield* tx.team.activeStints(task.id)
  if (active.length > 0 && agents === 'refuse') throw agentsActive(task, active)
  for (const stint of active) yield* endStint(tx, memory, { task, team, stint, summary: null, trigger })
}

function agentsActive({ id }: TaskRecord, stints: readonly StintRecord[]): ErrandError {
  const agents = stints.map(({ agentId }) => agentId)
  return new ErrandError(
    'AGENTS_ACTIVE',
    `Cannot complete ${id}: ${agents.slice(0, 20).join(', ')} still work${agents.length === 1 ? 's' : ''} on it. Complete them with \`agent:complete\`, or pass agents: 'complete'.`,
    { taskId: id, agents },
  )
}

function* requireObjectivesDone(tx: Reads, { id }: TaskRecord): Op<void> {
  const open = (yield* tx.team.objectives(id)).filter(({ status }) => status !== 'done')
  if (open.length === 0) return
  const named = open.slice(0, 20).map(({ number, status }) => `${number} (${status})`)
  throw new ErrandError(
    'OBJECTIVES_OPEN',
    `Cannot complete ${id}: its objectives ${named.join(', ')} are not done. Set their status with \`objective:update\`, or leave \`requireObjectives\` out.`,
    { taskId: id, objectives: open.map(({ number }) => number) },
  )
}

/** The outcome of closing a team. */
interface Closing extends FirstOutcome {
  team: TeamRecord
}

/** Consolidates the observations, judges the facts, and merges the durable ones. */
function* closeMemory(
  tx: Tx,
  memory: MemoryStep,
  task: TaskRecord,
  team: TeamRecord,
  { merge: merges = true, archive = false, summary, trigger = 'task:complete' }: CompleteTaskRequest,
): Op<Closing> {
  const { ctx } = memory
  const { branch } = team
  yield* mergeRemaining(tx, memory, team, trigger)
  const checkpointed = checkpointTask(tx, memory, { team, taskId: task.id, trigger })
  const checkpoint = yield* whileOpen(tx, branch, checkpointed, ctx)
  const into = yield* activeBranchAbove(tx, branch)
  const request = { from: branch, into, only: 'durable', taskId: task.id, agentId: null, trigger } as const
  const merge = merges ? yield* mergeBranch(tx, memory, request) : null
  const closed: TeamRecord = {
    ...team,
    summary: summary ?? null,
    checkpointId: checkpoint.historyId,
    mergeId: merge?.mergeId ?? null,
    closedAt: ctx.at,
  }
  yield* tx.team.save(closed)
  yield* markBranches(tx, team, { merged: merge !== null, archive }, ctx)
  return { team: closed, merge, durable: checkpoint.durable, ephemeral: checkpoint.ephemeral }
}

/** `archive` includes the branches of the agents. An archived branch stays archived. */
function* markBranches(
  tx: Tx,
  { taskId, branch }: TeamRecord,
  { merged, archive }: { merged: boolean; archive: boolean },
  ctx: StepContext,
): Op<void> {
  const own = yield* requireBranch(tx, branch)
  if (merged && own.status !== 'archived') yield* setBranchStatus(tx, own, 'merged', ctx)
  if (!archive) return
  for (const each of yield* everyRow((after, limit) => tx.branch.allOfTask(taskId, limit, after))) {
    yield* setBranchStatus(tx, each, 'archived', ctx)
  }
}

function closedData({ team, merge, durable, ephemeral }: Closing): Record<string, unknown> {
  return {
    branch: team.branch,
    checkpointId: team.checkpointId,
    mergeId: team.mergeId,
    durable: durable.length,
    ephemeral,
    ...(merge === null ? {} : { merged: merge.merged, rejected: merge.rejected, conflicts: merge.conflicts.length }),
  }
}

function outcomeOf(task: TaskRecord, { merge, durable, ephemeral }: FirstOutcome): TaskCompleted {
  return { taskId: task.id, status: task.status, merge, durable, ephemeral }
}

// Reads the outcome of closing a team back from the history, so that completing the task again returns the same.

interface FirstOutcome {
  merge: Merge | null
  durable: string[]
  ephemeral: number
}

function* firstOutcome(tx: Reads, team: TeamRecord): Op<FirstOutcome> {
  const checkpoint = team.checkpointId === null ? undefined : yield* tx.consolidation.get(team.checkpointId)
  return {
    merge: team.mergeId === null ? null : yield* mergeOf(tx, team.mergeId),
    durable: yield* durableFacts(tx, team),
    ephemeral: checkpoint?.ephemeral ?? 0,
  }
}

const pageSize = 1_000

function* mergeOf(tx: Reads, mergeId: string): Op<Merge> {
  const run = yield* tx.consolidation.get(mergeId)
  const conflicts: Conflict[] = []
  /** Facts of the source branch, by their copies. */
  const sources = new Map<string, string>()
  for (const decision of yield* everyRow((after, limit) => tx.consolidation.decisions(mergeId, limit, after))) {
    if (decision.kind === 'carried') sources.set(decision.factId, decision.otherId as string)
    const conflict = conflictOf(decision, sources)
    if (conflict !== undefined) conflicts.push(conflict)
  }
  return { merged: run?.merged ?? 0, rejected: run?.rejected ?? 0, conflicts, mergeId }
}

/** Which fact of a conflict was the merged one follows from the facts that this merge had carried before. */
function conflictOf(
  { kind, factId, otherId, note }: DecisionRecord,
  sources: ReadonlyMap<string, string>,
): Conflict | undefined {
  if ((kind !== 'contradicted' && kind !== 'settled') || otherId === null) return undefined
  const ground = groundIn(note)
  const source = sources.get(factId)
  if (source === undefined) {
    return { factId: sources.get(otherId) ?? otherId, otherId: factId, ground, resolution: 'source' }
  }
  return { factId: source, otherId, ground, resolution: kind === 'contradicted' ? 'keep-both' : 'target' }
}

/** The facts that existed and were active when the team was closed, oldest first. */
function* durableFacts(tx: Reads, { branch, closedAt }: TeamRecord): Op<string[]> {
  const closed = closedAt ?? 0
  const held = ({ status, createdAt, updatedAt }: FactRecord): boolean =>
    createdAt <= closed && (status === 'active' || updatedAt > closed)
  const ids: string[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = yield* tx.fact.list({ branches: [branch], verdict: 'durable' }, pageSize, before)
    ids.push(...page.filter(held).map(({ id }) => id))
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return ids.toReversed()
    before = last.seq
  }
}

// Completes a team's task from any status, along the edges of the transition table and without a run: its agents have worked on it in
// their stints.

/**
 * @param result The result as JSON; undefined for none.
 * @param by The owner and its claim.
 * @throws ErrandError NOT_OWNER, STALE_CLAIM for another owner's task; INVALID_TRANSITION for a failed or canceled task, and for another
 *   result than the stored one; BLOCKED { blockedBy }.
 */
function* requireCompletable(tx: Reads, task: TaskRecord, result: unknown, by: ClaimToken | undefined): Op<void> {
  requireOwner(task, tokenFor(task, by))
  if (task.status === 'completed') return requireSameResult(task, result)
  if (task.status === 'failed' || task.status === 'canceled') refuseTransition(task, 'complete')
  if (task.status !== 'working') yield* refuseBlocked(tx, task)
}

/** Completes a completable task as a part of another step; does nothing if it is already completed. Ends an open run. */
function* completeFromAnyStatus(
  tx: Tx,
  task: TaskRecord,
  result: unknown,
  by: ClaimToken | undefined,
  ctx: StepContext,
): Op<void> {
  if (task.status === 'completed') return
  if (task.status !== 'working') {
    const working = yield* passToWorking(tx, task, ctx)
    if (task.status === 'submitted') yield* startGroupsAbove(tx, working, ctx)
  }
  yield* complete(task.id, result ?? null, tokenFor(task, by), ctx).decide(tx)
}

/** For a task without an owner a name without a fence is not checked. */
function tokenFor({ owner }: TaskRecord, by: ClaimToken | undefined): ClaimToken | undefined {
  return owner === null && by?.fence === undefined ? undefined : by
}

/** The result of a completed task is final: the same result again is accepted, another one is refused. */
function requireSameResult(task: TaskRecord, result: unknown): void {
  if (result === undefined || canonicalJson(result) === canonicalJson(task.result ?? null)) return
  throw new ErrandError(
    'INVALID_TRANSITION',
    `Cannot complete ${task.id} with another result: it is completed, and its result is final. Leave \`result\` out to close its team.`,
    { taskId: task.id, from: task.status, event: 'complete', allowed: [] },
  )
}

function* refuseBlocked(tx: Reads, task: TaskRecord): Op<void> {
  if (task.openBlockers === 0) return
  const blockedBy = yield* tx.dependency.openBlockers(task.id)
  throw new ErrandError(
    'BLOCKED',
    `Cannot complete ${task.id}: it is blocked by ${blockedBy.join(', ')}, which must be completed first.`,
    { taskId: task.id, status: task.status, blockedBy },
  )
}
