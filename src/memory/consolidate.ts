// Consolidation and merges on demand, each a step of its own. Teams reach the same operations inside of their own steps.
import { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { consolidationLevels, mainBranch } from '../entities/memory.ts'
import { taskIdSchema } from '../entities/task-fields.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'
import { loadTask } from '../steps/step-context.ts'
import { ensureTeam } from '../steps/team.ts'
import { branchMeant, branchOfTeam, standingOf } from './branch-scope.ts'
import { checkpointTask } from './checkpoint.ts'
import { consolidateAgent } from './consolidate-agent.ts'
import { consolidateProject } from './consolidate-project.ts'
import { consolidatePending, consolidateSession } from './consolidate-session.ts'
import { type Consolidated, countsShape, sumOf } from './consolidation-run.ts'
import { type Deliberation, deliberate } from './deliberate.ts'
import type { MemoryHost } from './memory-host.ts'
import { type Merge, mergeBranch } from './merge.ts'
import { agentIdSchema, branchSchema, sessionIdSchema } from './request-fields.ts'

export const consolidateSchema = z.strictObject({
  level: z
    .enum(consolidationLevels)
    .describe(
      'session: observations become facts. agent: facts that say the same become one, and are summed up. task: which facts last. project: what several tasks found.',
    ),
  sessionId: sessionIdSchema.optional().describe('For the level session. Default, for a task that calls: its own.'),
  agentId: agentIdSchema.optional().describe('For the level agent.'),
  taskId: taskIdSchema.optional().describe('For the level task; at session and agent it says whose branch is meant.'),
  taskIds: z.array(taskIdSchema).min(1).max(10_000).optional().describe('For the level project. Default: all.'),
  branch: branchSchema
    .optional()
    .describe(
      'session: default each on which the session has something left. agent: default where it worked last. project: default main.',
    ),
})
type ConsolidateRequest = z.output<typeof consolidateSchema>

export const consolidateOutcomeSchema = z.object({
  ...countsShape,
  durable: z.array(z.string()).optional().describe('Ids of facts that last.'),
  ephemeral: z.int().optional().describe('How many facts do not.'),
  summary: z.string().optional(),
  historyId: z.string().optional().describe('The run in the history, where it came to one.'),
})
type ConsolidateOutcome = z.output<typeof consolidateOutcomeSchema>

const trigger = 'ability'

/**
 * @throws ErrandError INVALID_INPUT that names what a level needs and was not given; NOT_FOUND for a task, an agent or a branch;
 *   BRANCH_CLOSED; FORBIDDEN outside of the caller's own team
 */
export function consolidate(
  host: MemoryHost,
  caller: Caller,
  request: ConsolidateRequest,
): Promise<ConsolidateOutcome> {
  const work = { session, agent, task, project }[request.level]
  return deliberate(host, `consolidate ${request.level}`, (tx, d) => work(tx, d, caller, request))
}

function* session(tx: Tx, d: Deliberation, caller: Caller, request: ConsolidateRequest): Op<ConsolidateOutcome> {
  const sessionId = required(request, 'sessionId')
  const { taskId = null, agentId = null } = request
  const runs: Consolidated[] = []
  for (const branch of yield* branchesOfSession(tx, caller, sessionId, request)) {
    runs.push(yield* consolidateSession(tx, d, { sessionId, branch, taskId, agentId, trigger }))
  }
  const [first] = runs
  return { ...sumOf(runs), ...(runs.length === 1 && first !== undefined ? { historyId: first.historyId } : {}) }
}

/** The one that is meant; else all (of the task that is named) on which the session has something left, or where it would have. */
function* branchesOfSession(
  tx: Reads,
  caller: Caller,
  sessionId: string,
  { branch, taskId, agentId }: ConsolidateRequest,
): Op<string[]> {
  if (branch !== undefined) return [(yield* branchOfTeam(tx, caller, branch)).name]
  if ((taskId !== undefined && agentId !== undefined) || caller.taskId !== undefined) {
    return [(yield* branchMeant(tx, caller, { taskId, agentId }, 'write')).name]
  }
  const meant = yield* branchMeant(tx, caller, { taskId }, 'write')
  const pending: string[] = []
  for (const name of yield* tx.observation.pendingBranches(sessionId)) {
    const isTasks = taskId === undefined || name === meant.name || (yield* tx.branch.get(name))?.taskId === taskId
    if (isTasks) pending.push(name)
  }
  return pending.length > 0 ? pending : [meant.name]
}

function* agent(tx: Tx, d: Deliberation, caller: Caller, request: ConsolidateRequest): Op<ConsolidateOutcome> {
  const agentId = required(request, 'agentId')
  const place = yield* placeOfAgent(tx, agentId, request)
  yield* branchOfTeam(tx, caller, place.branch)
  const { summary, ...rest } = yield* consolidateAgent(tx, d, { ...place, agentId, trigger })
  return { ...rest, ...(summary === null ? {} : { summary }) }
}

/** On the task that is named, else on the branch, else where it worked last. */
function* placeOfAgent(
  tx: Reads,
  agentId: string,
  { taskId, branch }: ConsolidateRequest,
): Op<{ branch: string; taskId: string | null }> {
  if (taskId !== undefined) {
    yield* loadTask(tx, taskId)
    const stint = yield* tx.team.latestStint(taskId, agentId)
    if (stint === undefined) throw unknownAgent(agentId, `on ${taskId}`, { taskId })
    return { branch: branch ?? stint.branch, taskId }
  }
  if (branch !== undefined) {
    const found = yield* tx.branch.get(branch)
    const isThere =
      found?.agentId === agentId ||
      (yield* tx.fact.list({ branches: [branch], agentId }, 1, Number.MAX_SAFE_INTEGER)).length > 0 ||
      (yield* tx.observation.list({ branch, agentId }, 1, Number.MAX_SAFE_INTEGER)).length > 0
    if (!isThere) throw unknownAgent(agentId, `on the branch "${branch}"`, { branch })
    return { branch, taskId: found?.taskId ?? null }
  }
  const [last] = yield* tx.team.timeline(agentId, 1, 0)
  if (last === undefined) throw unknownAgent(agentId, 'on any task', {})
  return { branch: last.stint.branch, taskId: last.stint.taskId }
}

function unknownAgent(agentId: string, where: string, details: Record<string, unknown>): ErrandError {
  return new ErrandError(
    'NOT_FOUND',
    `There is no agent "${agentId}" ${where}. \`task:context\` shows who works on a task, \`agent:timeline\` where an agent has worked.`,
    { agentId, ...details },
  )
}

function* task(tx: Tx, d: Deliberation, caller: Caller, request: ConsolidateRequest): Op<ConsolidateOutcome> {
  const taskId = required(request, 'taskId')
  if (caller.taskId !== undefined && (yield* standingOf(tx, caller.taskId)).team?.taskId !== taskId) {
    throw notTheTeams(caller, taskId)
  }
  // A task that was purged is no longer there; its team went with it.
  const team = yield* ensureTeam(tx, yield* loadTask(tx, taskId), d.ctx)
  return yield* checkpointTask(tx, d, { team, taskId, trigger })
}

function* project(
  tx: Tx,
  d: Deliberation,
  caller: Caller,
  { taskIds, taskId, branch = mainBranch }: ConsolidateRequest,
): Op<ConsolidateOutcome> {
  if (caller.taskId !== undefined) throw notTheTeams(caller, branch)
  const named = taskIds ?? (taskId === undefined ? null : [taskId])
  const { conflicts: _, ...outcome } = yield* consolidateProject(tx, d, { taskIds: named, branch, trigger })
  return outcome
}

function required<K extends 'sessionId' | 'agentId' | 'taskId'>(request: ConsolidateRequest, key: K): string {
  const value = request[key]
  if (value !== undefined) return value
  throw new ErrandError('INVALID_INPUT', `Consolidation at the level "${request.level}" needs \`${key}\`.`, {
    level: request.level,
    missing: key,
  })
}

function notTheTeams(caller: Caller, what: string): ErrandError {
  return new ErrandError(
    'FORBIDDEN',
    `${caller.taskId} may consolidate only what its own team has learned, and ${what} is not that.`,
    { scope: caller.taskId, named: what },
  )
}

export const mergeSchema = z.strictObject({
  branch: branchSchema.describe('The branch that gives.'),
  into: branchSchema.optional().describe('A branch above it. Default: the one directly above.'),
  only: z
    .enum(['all', 'durable'])
    .default('all')
    .describe('durable: what a checkpoint of its task has found so. Default all; then the branch is merged.'),
})

/** What was observed on the branch and not consolidated yet becomes facts first, so that it is not left behind. @throws as `mergeBranch` */
export function merge(
  host: MemoryHost,
  caller: Caller,
  { branch, into, only }: z.output<typeof mergeSchema>,
): Promise<Merge> {
  return deliberate(host, 'merge', function* (tx, d): Op<Merge> {
    const from = yield* branchOfTeam(tx, caller, branch)
    const target = into ?? from.parent ?? mainBranch
    yield* branchOfTeam(tx, caller, target)
    if (from.status !== 'archived') yield* consolidatePending(tx, d, { branch, trigger })
    return yield* mergeBranch(tx, d, { from: branch, into: target, only, taskId: null, agentId: null, trigger })
  })
}
