// Completes an agent's work: its observations become facts, duplicates are merged, and its branch is merged into the task's. One
// step, so that a crash leaves either all of it or nothing to be done.
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { StintRecord, TeamRecord } from '../../entities/team.ts'
import { everyRow } from '../../ledger/all-rows.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import { eventOf, onBehalfOf } from '../../operations/steps/step-context.ts'
import { consolidateAgent } from '../consolidate-agent.ts'
import { consolidatePending } from '../consolidate-session.ts'
import { type Consolidated, type ConsolidationCounts, sumOf } from '../consolidation-run.ts'
import type { MemoryHost } from '../memory-host.ts'
import { type MemoryStep, runMemoryStep } from '../memory-step.ts'
import { type Merge, mergeBranch } from '../merge.ts'
import { whileOpen } from './close-branch.ts'
import { changeObjective } from './objectives.ts'
import { decideStint } from './stint-machine.ts'
import { loadOwn } from './team-scope.ts'

export interface CompleteAgentRequest {
  taskId: string
  agentId: string
  /** What the agent did, in its own words. Default: the summary of its facts. */
  summary?: string | undefined
  /** The trigger recorded in the history. Default `agent:complete`. */
  trigger?: string | undefined
}

export interface AgentConsolidation extends ConsolidationCounts {
  /** The summary stored with the stint; null if the agent gave none and found no facts. */
  summary: string | null
}

export interface AgentCompleted extends Merge {
  consolidation: AgentConsolidation
}

/** @throws ErrandError NOT_FOUND for the task, and for an agent that never joined it; NOT_ACTIVE { taskId, agentId } */
export async function completeAgent(
  host: MemoryHost,
  caller: Caller,
  { taskId, agentId, summary, trigger = 'agent:complete' }: CompleteAgentRequest,
): Promise<AgentCompleted> {
  return runMemoryStep(onBehalfOf(host, caller), 'complete agent', function* (tx, memory): Op<AgentCompleted> {
    const task = yield* loadOwn(tx, caller, taskId)
    const team = yield* tx.team.get(taskId)
    const stint = yield* tx.team.latestStint(taskId, agentId)
    if (team === undefined || stint === undefined) throw yield* unknownAgent(tx, taskId, agentId)
    if (decideStint(stint.status, { type: 'complete' }) === undefined) throw notActive(stint)
    return yield* endStint(tx, memory, { task, team, stint, summary: summary ?? null, trigger })
  })
}

interface Ending {
  task: TaskRecord
  team: TeamRecord
  stint: StintRecord
  summary: string | null
  trigger: string
  /** The new status of its active objectives: done, unless the worker did not complete. */
  objectives?: 'done' | 'todo'
}

/** Ends an active stint as a part of another step. */
export function* endStint(
  tx: Tx,
  memory: MemoryStep,
  { task, team, stint, summary, trigger, objectives = 'done' }: Ending,
): Op<AgentCompleted> {
  const { ctx } = memory
  const { branch, agentId } = stint
  const { sessions, agent, merge } = yield* mergeIntoTeam(tx, memory, team, stint, trigger)
  const ended: StintRecord = {
    ...stint,
    status: 'completed',
    summary: summary ?? agent.summary,
    leftAt: ctx.at,
  }
  yield* tx.team.saveStint(ended)
  for (const objective of yield* tx.team.objectives(task.id)) {
    if (objective.agentId !== agentId || objective.status !== 'active') continue
    yield* changeObjective(tx, task, objective, { status: objectives }, ctx)
  }
  yield* tx.event.append(
    eventOf(ctx, 'agent.completed', (yield* tx.task.get(task.id)) as TaskRecord, {
      agentId,
      role: ended.role,
      branch,
      stint: ended.number,
      merged: merge.merged,
      rejected: merge.rejected,
      conflicts: merge.conflicts.length,
      mergeId: merge.mergeId,
    }),
  )
  return {
    ...merge,
    consolidation: { ...sumOf([sessions, agent]), summary: ended.summary },
  }
}

type Source = Pick<StintRecord, 'branch' | 'agentId'>

interface StintMerge {
  sessions: ConsolidationCounts
  agent: Consolidated & { summary: string | null }
  merge: Merge
}

/** Consolidates the memory of an agent and merges its branch into the team's. */
function mergeIntoTeam(tx: Tx, memory: MemoryStep, team: TeamRecord, from: Source, trigger: string): Op<StintMerge> {
  const merging = whileOpen(tx, from.branch, mergeStint(tx, memory, team, from, trigger), memory.ctx)
  return whileOpen(tx, team.branch, merging, memory.ctx)
}

function* mergeStint(
  tx: Tx,
  memory: MemoryStep,
  { taskId, branch: into }: TeamRecord,
  { branch, agentId }: Source,
  trigger: string,
): Op<StintMerge> {
  const sessions = yield* consolidatePending(tx, memory, { branch, trigger })
  const agent = yield* consolidateAgent(tx, memory, { branch, agentId, taskId, trigger })
  const merge = yield* mergeBranch(tx, memory, { from: branch, into, only: 'all', taskId, agentId, trigger })
  return { sessions, agent, merge }
}

/** Merges what was added to the branches of completed agents since, so that nothing is lost when the team is closed. */
export function* mergeRemaining(tx: Tx, memory: MemoryStep, team: TeamRecord, trigger: string): Op<void> {
  const { taskId } = team
  for (const { name: branch, agentId } of yield* everyRow((after, limit) =>
    tx.branch.allOfTask(taskId, limit, after),
  )) {
    if (agentId === null || !(yield* hasUnmerged(tx, branch))) continue
    yield* mergeIntoTeam(tx, memory, team, { branch, agentId }, trigger)
  }
}

function* hasUnmerged(tx: Tx, branch: string): Op<boolean> {
  if ((yield* tx.observation.pending(branch, null, 1)).length > 0) return true
  return (yield* tx.fact.unmerged(branch, 0, 1)).length > 0
}

function* unknownAgent(tx: Tx, taskId: string, agentId: string): Op<ErrandError> {
  const known = [...new Set((yield* tx.team.stints(taskId)).map((each) => each.agentId))]
  return new ErrandError(
    'NOT_FOUND',
    `Agent "${agentId}" never joined ${taskId}. ${known.length === 0 ? 'It has no agents yet; `agent:join` adds one' : `Agents that did: ${known.slice(0, 20).join(', ')}`}.`,
    { taskId, agentId, agents: known },
  )
}

function notActive({ taskId, agentId, leftAt }: StintRecord): ErrandError {
  return new ErrandError(
    'NOT_ACTIVE',
    `Agent "${agentId}" is not active on ${taskId}: it has completed its work. Call \`agent:join\` to let it work again.`,
    { taskId, agentId, leftAt },
  )
}
