// Consolidation and merges on demand, each as a step of its own. Teams use the same operations inside their own steps.
import { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { once } from '../core/once.ts'
import { consolidationLevels, mainBranch } from '../entities/memory.ts'
import { taskIdSchema } from '../entities/task-fields.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'
import { loadTask, loadToChange } from '../operations/steps/step-context.ts'
import { branchOfTeam, memoryScopeOf, resolveBranch } from './branch-scope.ts'
import { checkpointTask } from './checkpoint.ts'
import { consolidateAgent } from './consolidate-agent.ts'
import { consolidateProject } from './consolidate-project.ts'
import { consolidatePending, consolidateSession } from './consolidate-session.ts'
import { type Consolidated, countsShape, sumOf } from './consolidation-run.ts'
import type { MemoryHost } from './memory-host.ts'
import { type MemoryStep, runMemoryStep } from './memory-step.ts'
import { type Merge, mergeBranch } from './merge.ts'
import { agentIdSchema, branchSchema, sessionIdSchema } from './request-fields.ts'
import { ensureTeam } from './team/team.ts'

export const consolidateSchema = once(() =>
  z.strictObject({
    level: z
      .enum(consolidationLevels)
      .describe(
        'session: observations become facts. agent: duplicate facts are merged and summarized. task: decides which facts are durable. project: combines what several tasks found.',
      ),
    sessionId: sessionIdSchema().optional().describe('For the level session. Default for a calling task: its own.'),
    agentId: agentIdSchema().optional().describe('For the level agent.'),
    taskId: taskIdSchema.optional().describe('For the level task; at session and agent it selects the branch.'),
    taskIds: z.array(taskIdSchema).min(1).max(10_000).optional().describe('For the level project. Default: all.'),
    branch: branchSchema()
      .optional()
      .describe(
        'session: default each with unconsolidated observations of the session. agent: default where it worked last. project: default main.',
      ),
  }),
)
type ConsolidateRequest = z.output<ReturnType<typeof consolidateSchema>>

export const consolidateOutcomeSchema = once(() =>
  z.object({
    ...countsShape,
    durable: z.array(z.string()).optional().describe('Ids of durable facts.'),
    ephemeral: z.int().optional().describe('Number of other facts.'),
    summary: z.string().optional(),
    historyId: z.string().optional().describe('The run in the history, if there was one.'),
  }),
)
type ConsolidateOutcome = z.output<ReturnType<typeof consolidateOutcomeSchema>>

const trigger = 'ability'

/**
 * @throws ErrandError INVALID_INPUT naming the field that the level requires; NOT_FOUND for a task, an agent or a branch; BRANCH_CLOSED;
 *   FORBIDDEN outside the caller's own team
 */
export function consolidate(
  host: MemoryHost,
  caller: Caller,
  request: ConsolidateRequest,
): Promise<ConsolidateOutcome> {
  const work = { session, agent, task, project }[request.level]
  return runMemoryStep(host, `consolidate ${request.level}`, (tx, memory) => work(tx, memory, caller, request))
}

function* session(tx: Tx, memory: MemoryStep, caller: Caller, request: ConsolidateRequest): Op<ConsolidateOutcome> {
  const sessionId = required(request, 'sessionId')
  const { taskId = null, agentId = null } = request
  const runs: Consolidated[] = []
  for (const branch of yield* branchesOfSession(tx, caller, sessionId, request)) {
    runs.push(yield* consolidateSession(tx, memory, { sessionId, branch, taskId, agentId, trigger }))
  }
  const [first] = runs
  return { ...sumOf(runs), ...(runs.length === 1 && first !== undefined ? { historyId: first.historyId } : {}) }
}

/** The named branch; else all (of the named task) with unconsolidated observations of the session, or the default one if there are none. */
function* branchesOfSession(
  tx: Reads,
  caller: Caller,
  sessionId: string,
  { branch, taskId, agentId }: ConsolidateRequest,
): Op<string[]> {
  if (branch !== undefined) return [(yield* branchOfTeam(tx, caller, branch)).name]
  if ((taskId !== undefined && agentId !== undefined) || caller.taskId !== undefined) {
    return [(yield* resolveBranch(tx, caller, { taskId, agentId }, 'write')).name]
  }
  const meant = yield* resolveBranch(tx, caller, { taskId }, 'write')
  const pending: string[] = []
  for (const name of yield* tx.observation.pendingBranches(sessionId)) {
    const isTasks = taskId === undefined || name === meant.name || (yield* tx.branch.get(name))?.taskId === taskId
    if (isTasks) pending.push(name)
  }
  return pending.length > 0 ? pending : [meant.name]
}

function* agent(tx: Tx, memory: MemoryStep, caller: Caller, request: ConsolidateRequest): Op<ConsolidateOutcome> {
  const agentId = required(request, 'agentId')
  const scope = yield* agentScopeOf(tx, agentId, request)
  yield* branchOfTeam(tx, caller, scope.branch)
  const { summary, ...rest } = yield* consolidateAgent(tx, memory, { ...scope, agentId, trigger })
  return { ...rest, ...(summary === null ? {} : { summary }) }
}

/** The agent's branch on the named task, else the named branch, else where it worked last. */
function* agentScopeOf(
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

function* task(tx: Tx, memory: MemoryStep, caller: Caller, request: ConsolidateRequest): Op<ConsolidateOutcome> {
  const taskId = required(request, 'taskId')
  if (caller.taskId !== undefined && (yield* memoryScopeOf(tx, caller.taskId)).team?.taskId !== taskId) {
    throw notOwnTeam(caller, taskId)
  }
  // Throws for a deleted task: its team was deleted with it.
  const team = yield* ensureTeam(tx, yield* loadToChange(tx, taskId), memory.ctx)
  return yield* checkpointTask(tx, memory, { team, taskId, trigger })
}

function* project(
  tx: Tx,
  memory: MemoryStep,
  caller: Caller,
  { taskIds, taskId, branch = mainBranch }: ConsolidateRequest,
): Op<ConsolidateOutcome> {
  if (caller.taskId !== undefined) throw notOwnTeam(caller, branch)
  const named = taskIds ?? (taskId === undefined ? null : [taskId])
  const { conflicts: _, ...outcome } = yield* consolidateProject(tx, memory, { taskIds: named, branch, trigger })
  return outcome
}

function required<K extends 'sessionId' | 'agentId' | 'taskId'>(request: ConsolidateRequest, key: K): string {
  const value = request[key]
  if (value !== undefined) return value
  throw new ErrandError('INVALID_INPUT', `Consolidation at the level "${request.level}" requires \`${key}\`.`, {
    level: request.level,
    missing: key,
  })
}

function notOwnTeam(caller: Caller, what: string): ErrandError {
  return new ErrandError(
    'FORBIDDEN',
    `${caller.taskId} may consolidate only the memory of its own team, which does not include ${what}.`,
    { scope: caller.taskId, named: what },
  )
}

export const mergeSchema = once(() =>
  z.strictObject({
    branch: branchSchema().describe('The branch to merge from.'),
    into: branchSchema().optional().describe('A branch above it. Default: the one directly above.'),
    only: z
      .enum(['all', 'durable'])
      .default('all')
      .describe('durable: only facts that a checkpoint found durable. Default all, which closes the branch as merged.'),
  }),
)

/** Consolidates the pending observations of the branch, then merges it. @throws as `mergeBranch` */
export function merge(
  host: MemoryHost,
  caller: Caller,
  { branch, into, only }: z.output<ReturnType<typeof mergeSchema>>,
): Promise<Merge> {
  return runMemoryStep(host, 'merge', function* (tx, memory): Op<Merge> {
    const from = yield* branchOfTeam(tx, caller, branch)
    const target = into ?? from.parent ?? mainBranch
    yield* branchOfTeam(tx, caller, target)
    if (from.status !== 'archived') yield* consolidatePending(tx, memory, { branch, trigger })
    return yield* mergeBranch(tx, memory, { from: branch, into: target, only, taskId: null, agentId: null, trigger })
  })
}
