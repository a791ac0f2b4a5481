// A team's task is done: its facts are judged, what is durable reaches the branch above, and the task is completed without a run.
// One step: a death in the middle leaves all of it to be done, or nothing (conformance S2-031…S2-037).
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { checkText, fromJson, toJson } from '../core/json.ts'
import type { TaskRecord, TaskStatus } from '../entities/task.ts'
import type { StintRecord, TeamRecord } from '../entities/team.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'
import type { ClaimToken } from '../machines/ownership.ts'
import { checkpointTask } from '../memory/checkpoint.ts'
import { type Deliberation, deliberate } from '../memory/deliberate.ts'
import type { MemoryHost } from '../memory/memory-host.ts'
import { type Merge, mergeBranch } from '../memory/merge.ts'
import { requireBranch, setBranchStatus } from '../steps/branch.ts'
import { refuseDetour } from '../steps/right-to-answer.ts'
import { eventOf, loadTask, onBehalfOf, type StepContext } from '../steps/step-context.ts'
import { ensureTeam } from '../steps/team.ts'
import { liveBranchAbove, whileOpen } from './branch-ends.ts'
import { endStint, giveWhatIsLeft } from './complete-agent.ts'
import { type FirstOutcome, firstOutcome } from './first-outcome.ts'
import { loadOwn } from './team-scope.ts'
import { requireSameResult, walkToCompleted } from './walk-to-completed.ts'

export interface CompleteTaskRequest {
  taskId: string
  /** What it came to, in words: kept with its team. */
  summary?: string | undefined
  /** What it came to, for programs; as `engine.complete` takes it. */
  result?: unknown
  /** False: no fact leaves its branch. Default true. */
  merge?: boolean | undefined
  /** Its branches take nothing new from now on; their facts stay readable. Default false. */
  archive?: boolean | undefined
  /** What agents that are still active mean: a refusal (the default), or that their work is completed first. */
  agents?: 'refuse' | 'complete' | undefined
  /** True: refused while an objective is not done. Default false: objectives and task are independent (conformance X-023). */
  requireObjectives?: boolean | undefined
  /** Who completes it, and under which claim: judged for a task that somebody has claimed. */
  by?: ClaimToken | undefined
  /** What set it off, for the history. Default `task:complete`. */
  trigger?: string | undefined
}

export interface TaskCompleted {
  taskId: string
  status: TaskStatus
  /** What reached the branch above; null when nothing was to be merged. */
  merge: Merge | null
  /** Ids of the facts that are durable. */
  durable: string[]
  /** How many facts are not: they stay on the task's branch. */
  ephemeral: number
}

/**
 * Completed again, it gives what the first time came to, and merges nothing. Of a task that its executor has completed by now only
 * the memory is closed. One without a team gets one on the way (conformance X-022).
 *
 * @throws ErrandError NOT_FOUND; AGENTS_ACTIVE { agents }; OBJECTIVES_OPEN { objectives }; INVALID_TRANSITION, BLOCKED, NOT_OWNER,
 *   STALE_CLAIM where the task cannot be completed; FORBIDDEN for the caller's own task, and for those outside of its subtree.
 */
export async function completeTask(
  host: MemoryHost,
  caller: Caller,
  request: CompleteTaskRequest,
): Promise<TaskCompleted> {
  refuseOwn(caller, request.taskId)
  if (request.summary !== undefined) checkText(request.summary, 'the summary')
  const image = request.result === undefined ? undefined : fromJson<unknown>(toJson(request.result, 'the result'))
  const result = host.redaction.value(image, 'task', 'result')
  return deliberate(onBehalfOf(host, caller), 'complete team task', function* (tx, d): Op<TaskCompleted> {
    const task = yield* loadOwn(tx, caller, request.taskId)
    const known = yield* tx.team.get(task.id)
    if (known !== undefined && known.closedAt !== null) {
      requireSameResult(task, result)
      return outcomeOf(task, yield* firstOutcome(tx, known))
    }
    const team = known ?? (yield* ensureTeam(tx, task, d.ctx))
    yield* endStints(tx, d, task, team, request)
    if (request.requireObjectives) yield* requireObjectivesDone(tx, task)
    yield* refuseDetour(tx, task, 'complete', caller)
    // Before its memory: what cannot be completed is refused before anything is judged.
    yield* walkToCompleted(tx, yield* loadTask(tx, task.id), result, request.by, d.ctx)
    const closing = yield* closeMemory(tx, d, task, team, request)
    const completed = yield* loadTask(tx, task.id)
    yield* tx.event.append(eventOf(d.ctx, 'team.closed', completed, closedData(closing)))
    return outcomeOf(completed, closing)
  })
}

/** Its run would end in the middle of the call, and what it returns would be lost. */
function refuseOwn({ taskId }: Caller, named: string): void {
  if (taskId !== named) return
  throw new ErrandError(
    'FORBIDDEN',
    `${named} cannot complete itself by an ability: its run ends with its answer, and the team is closed then. Complete a task below it, or answer.`,
    { taskId: named, scope: named },
  )
}

function* endStints(
  tx: Tx,
  d: Deliberation,
  task: TaskRecord,
  team: TeamRecord,
  { agents = 'refuse', trigger = 'task:complete' }: CompleteTaskRequest,
): Op<void> {
  const active = yield* tx.team.activeStints(task.id)
  if (active.length > 0 && agents === 'refuse') throw agentsActive(task, active)
  for (const stint of active) yield* endStint(tx, d, { task, team, stint, summary: null, trigger })
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
    `Cannot complete ${id}: its objectives ${named.join(', ')} are not done. Say so with \`objective:update\`, or leave \`requireObjectives\` out.`,
    { taskId: id, objectives: open.map(({ number }) => number) },
  )
}

/** What the closing of a team came to. */
interface Closing extends FirstOutcome {
  team: TeamRecord
}

/** Memory's part: what was observed becomes facts, facts are judged, and what is durable goes up. */
function* closeMemory(
  tx: Tx,
  d: Deliberation,
  task: TaskRecord,
  team: TeamRecord,
  { merge: merges = true, archive = false, summary, trigger = 'task:complete' }: CompleteTaskRequest,
): Op<Closing> {
  const { ctx } = d
  const { branch } = team
  yield* giveWhatIsLeft(tx, d, team, trigger)
  const checkpointed = checkpointTask(tx, d, { team, taskId: task.id, trigger })
  const checkpoint = yield* whileOpen(tx, branch, checkpointed, ctx)
  const into = yield* liveBranchAbove(tx, branch)
  const request = { from: branch, into, only: 'durable', taskId: task.id, agentId: null, trigger } as const
  const merge = merges ? yield* mergeBranch(tx, d, request) : null
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

/** With `archive` the branches of its agents too. One that was archived before stays so. */
function* markBranches(
  tx: Tx,
  { taskId, branch }: TeamRecord,
  { merged, archive }: { merged: boolean; archive: boolean },
  ctx: StepContext,
): Op<void> {
  const own = yield* requireBranch(tx, branch)
  if (merged && own.status !== 'archived') yield* setBranchStatus(tx, own, 'merged', ctx)
  if (!archive) return
  for (const each of yield* everyRow((after, limit) => tx.branch.list({ taskId }, limit, after))) {
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
