// Teams: the branch of memory and the objectives of a task on which several agents work, and how an agent begins. These are parts of other
// steps: a team is created with its task, a stint with the run that works in it.

import { ErrandError } from '../../core/errors.ts'
import { type BranchRecord, mainBranch } from '../../entities/memory.ts'
import { safeSegment, slugOf } from '../../entities/slug.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { StintRecord, TeamRecord } from '../../entities/team.ts'
import type { NewTask, Op, Reads, Tx } from '../../ledger/ledger.ts'
import type { TeamSpec } from '../../operations/drafts/agent-draft.ts'
import { eventOf, type StepContext } from '../../operations/steps/step-context.ts'
import { makeBranch, nearestOpenBranch, requireBranch, setBranchStatus } from '../branches.ts'

/** A team without options. */
const plainTeam: TeamSpec = {
  type: null,
  objectives: [],
  parentBranch: null,
  durableThreshold: null,
  durableCategories: null,
}

/**
 * Creates the team of a task: a branch of its own, and its objectives. @throws ErrandError NOT_FOUND, BRANCH_CLOSED for the parent branch.
 */
export function* openTeam(tx: Tx, task: NewTask, spec: TeamSpec, ctx: StepContext): Op<TeamRecord> {
  const branch = yield* ensureBranch(tx, task, spec.parentBranch, ctx)
  const team: TeamRecord = {
    taskId: task.id,
    type: spec.type,
    branch: branch.name,
    parentBranch: branch.parent as string,
    durableThreshold: spec.durableThreshold,
    durableCategories: spec.durableCategories,
    summary: null,
    checkpointId: null,
    mergeId: null,
    closedAt: null,
    createdAt: ctx.at,
  }
  yield* tx.team.insert(team)
  yield* addObjectives(tx, task.id, spec.objectives, 1, ctx)
  return team
}

type NamedTask = Pick<NewTask, 'id' | 'name'>

/**
 * Returns the branch of a task, and creates it if there is none. `parent` null: the nearest open branch, beginning with that of the team
 * above.
 */
export function* ensureBranch(tx: Tx, task: NamedTask, parent: string | null, ctx: StepContext): Op<BranchRecord> {
  const found = yield* tx.branch.ofTask(task.id)
  if (found !== undefined) return found
  const made = {
    name: yield* branchName(tx, task),
    parent: parent ?? (yield* branchAbove(tx, task)),
    description: task.name,
    taskId: task.id,
    agentId: null,
  }
  return yield* makeBranch(tx, made, ctx)
}

export function* addObjectives(
  tx: Tx,
  taskId: string,
  descriptions: readonly string[],
  first: number,
  { at }: StepContext,
): Op<void> {
  for (const [index, description] of descriptions.entries()) {
    yield* tx.team.insertObjective({
      taskId,
      number: first + index,
      description,
      status: 'todo',
      agentId: null,
      notes: null,
      updatedAt: at,
    })
  }
}

/** Returns the team of a task; a task that was created without one gets it with its first agent. */
export function* ensureTeam(tx: Tx, task: TaskRecord, ctx: StepContext): Op<TeamRecord> {
  const found = yield* tx.team.get(task.id)
  if (found !== undefined) return found
  const team = yield* openTeam(tx, task, plainTeam, ctx)
  const agentId = task.policy.team?.agentId ?? null
  yield* tx.task.saveDefinition({ ...task, policy: { ...task.policy, team: { taskId: task.id, agentId } } })
  return team
}

function* branchAbove(tx: Reads, task: NamedTask): Op<string> {
  for (const above of yield* tx.task.ancestors(task.id)) {
    const team = yield* tx.team.get(above.id)
    // Its branch may have been archived; the tasks below it are not refused for that.
    if (team !== undefined) return yield* nearestOpenBranch(tx, team.branch)
  }
  return mainBranch
}

/**
 * The maximum of tasks of one name whose branches are numbered; further ones have their ids, so that no number has to be searched among
 * thousands.
 */
const maxNumbered = 9

function* branchName(tx: Reads, { id, name }: NamedTask): Op<string> {
  const own = id.replace(/^task-/, '')
  const slug = slugOf(name)
  const plain = slug === '' ? `task/${own}` : `task/${slug}`
  if (yield* isFreeName(tx, plain)) return plain
  const isNumbered = slug !== '' && (yield* tx.branch.get(`${plain}-${maxNumbered}`)) === undefined
  for (let number = 2; isNumbered && number <= maxNumbered; number++) {
    if (yield* isFreeName(tx, `${plain}-${number}`)) return `${plain}-${number}`
  }
  return `task/${slug}-${own}`
}

/** A name that is taken stays taken, so it is read without a lock: tasks of one name do not wait for each other once all numbers are taken. */
function* isFreeName(tx: Reads, name: string): Op<boolean> {
  return (yield* tx.branch.get(name)) === undefined && (yield* tx.branch.toCreate(name)) === undefined
}

function* freeName(tx: Reads, names: Iterable<string>): Op<string> {
  for (const name of names) if (yield* isFreeName(tx, name)) return name
  throw new Error('no name for a branch is free, though each task has an id of its own')
}

export interface NewStint {
  agentId: string
  role: string | null
  /** The numbers of its objectives. */
  objectives: readonly number[]
  /** The task whose runs are this agent; null for an agent outside the engine. */
  workerId: string | null
}

/**
 * An agent begins to work on a team's task, on a branch of its own; one that returns continues on its branch.
 * @throws ErrandError ALREADY_ACTIVE { taskId, agentId }
 */
export function* beginStint(
  tx: Tx,
  team: TeamRecord,
  task: TaskRecord,
  given: NewStint,
  ctx: StepContext,
): Op<StintRecord> {
  const latest = yield* tx.team.latestStint(task.id, given.agentId)
  if (latest?.status === 'active') throw alreadyActive(latest)
  const stint: StintRecord = {
    taskId: task.id,
    agentId: given.agentId,
    number: (latest?.number ?? 0) + 1,
    role: given.role ?? latest?.role ?? null,
    branch: latest === undefined ? yield* agentBranch(tx, team, given.agentId, ctx) : latest.branch,
    status: 'active',
    objectives: [...given.objectives],
    summary: null,
    workerId: given.workerId,
    joinedAt: ctx.at,
    leftAt: null,
  }
  if (latest !== undefined) yield* setBranchStatus(tx, yield* requireBranch(tx, stint.branch), 'active', ctx)
  yield* tx.team.insertStint(stint)
  yield* tx.event.append(
    eventOf(ctx, 'agent.joined', task, {
      agentId: stint.agentId,
      role: stint.role,
      branch: stint.branch,
      stint: stint.number,
      ...(stint.workerId === null ? {} : { workerId: stint.workerId }),
    }),
  )
  return stint
}

function alreadyActive({ taskId, agentId, branch }: StintRecord): ErrandError {
  return new ErrandError(
    'ALREADY_ACTIVE',
    `Agent "${agentId}" is already active on ${taskId}, on the branch "${branch}". \`agent:complete\` ends its work; then it may join again.`,
    { taskId, agentId, branch },
  )
}

/** Two agents whose names map to the same letters have different branches. */
function* agentBranch(tx: Tx, team: TeamRecord, agentId: string, ctx: StepContext): Op<string> {
  const name = `${team.branch}/${safeSegment(agentId)}`
  function* names(): Generator<string, void, void> {
    yield name
    for (let number = 2; ; number++) yield `${name}-${number}`
  }
  const branch = {
    name: yield* freeName(tx, names()),
    parent: team.branch,
    description: `${agentId} on ${team.branch}`,
    taskId: team.taskId,
    agentId,
  }
  return (yield* makeBranch(tx, branch, ctx)).name
}
