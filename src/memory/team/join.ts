// Adds an agent to a team's task: begins a stint on a branch of its own and activates the objectives that the agent takes.
import { type Caller, mayKnowOf } from '../../bus/caller.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import { requestedBy, requireTask, type StepContext } from '../../operations/steps/step-context.ts'
import type { MemoryHost } from '../memory-host.ts'
import { readContext, type TeamContext } from './context.ts'
import { changeObjective, refuseFinal, requireObjectives } from './objectives.ts'
import { beginStint, ensureTeam } from './team.ts'
import { loadOwn } from './team-scope.ts'

export interface JoinRequest {
  taskId: string
  /** The agent's name. */
  agentId: string
  role?: string | undefined
  /** Numbers of the objectives that the agent takes. */
  objectives?: readonly number[] | undefined
}

export interface Joined {
  branch: string
  /** The context, in which the agent is active. */
  context: TeamContext
}

/**
 * Joins a team. A task without a team gets one. An agent that has completed its work may return: it continues on its
 * branch, in another stint.
 *
 * @throws ErrandError NOT_FOUND for the task and for objectives; ALREADY_ACTIVE; INVALID_TRANSITION for a completed or canceled task.
 */
export async function joinTeam(host: MemoryHost, caller: Caller, request: JoinRequest): Promise<Joined> {
  const ctx = requestedBy(await host.stepContext(), caller)
  return host.step({ name: 'join team', decide: (tx) => join(tx, caller, request, ctx) })
}

function* join(tx: Tx, caller: Caller, request: JoinRequest, ctx: StepContext): Op<Joined> {
  const { taskId, agentId, role } = request
  const task = yield* loadOwn(tx, caller, taskId)
  // Joining reveals the context, so a task that the caller may not know of is reported as not found.
  if (!mayKnowOf(caller, task.principal)) requireTask(undefined, taskId)
  refuseFinal(task, 'join')
  const numbers = [...new Set(request.objectives)].toSorted((a, b) => a - b)
  const objectives = yield* requireObjectives(tx, task, numbers)
  const team = yield* ensureTeam(tx, task, ctx)
  const stint = { agentId, role: role ?? null, objectives: numbers, workerId: null }
  const { branch } = yield* beginStint(tx, team, task, stint, ctx)
  for (const objective of objectives) {
    yield* changeObjective(tx, task, objective, { status: 'active', agentId }, ctx)
  }
  return { branch, context: yield* readContext(tx, yield* loadOwn(tx, caller, taskId)) }
}
