// Makes the first row of a task from its draft and its parent, and refuses drafts that cannot be created: options without effect, positions
// that are too deep, keys that belong to another definition. Pure.

import { ErrandError } from '../../core/errors.ts'
import { canonicalJson } from '../../core/json.ts'
import type { TaskBounds } from '../../entities/creation-bounds.ts'
import { systemLane } from '../../entities/limits.ts'
import type { TaskPolicy, TaskStatus } from '../../entities/task.ts'
import type { NewTask } from '../../ledger/ledger.ts'
import { isClaimable, isReady } from '../../machines/readiness.ts'
import { writeSnapshot } from '../../machines/task-snapshot.ts'
import type { TeamSpec } from '../drafts/agent-draft.ts'
import type { TaskDraft, TreeLimits } from '../drafts/draft.ts'
import { doesNothing } from '../drafts/idle-options.ts'
import { dueAfter } from './step-context.ts'

const submitted: TaskStatus = 'submitted'

/** `bounds` apply to what models create below it. */
export function newTask(
  draft: TaskDraft,
  parent: NewTask | undefined,
  openBlockers: number,
  bounds: TaskBounds | undefined,
  at: number,
): NewTask {
  const {
    blockedBy: _blockedBy,
    delayMs,
    opening: _opening,
    team: _team,
    agentId: _agent,
    agentNamed: _named,
    runsCommands: _commands,
    principal = null,
    forkedFrom = null,
    system = parent?.system ?? false,
    ...fields
  } = draft
  const startsAt = Math.max(draft.notBefore ?? 0, at + delayMs)
  const task: NewTask = {
    ...fields,
    policy: {
      ...inheriting(draft.policy, parent?.policy),
      ...placeInTeam(draft, parent),
      ...(bounds === undefined ? {} : { bounds }),
    },
    forkedFrom,
    principal: parent?.principal ?? principal,
    system,
    status: submitted,
    statusReason: null,
    ready: false,
    claimable: false,
    result: null,
    error: null,
    lane: laneOf(draft, parent, system),
    depth: parent === undefined ? 0 : parent.depth + 1,
    childCount: 0,
    madeBelow: 0,
    owner: null,
    fence: 0,
    leaseMs: null,
    leaseUntil: null,
    generation: 1,
    attempt: 1,
    run: 0,
    runOpen: false,
    openBlockers,
    stuckBy: null,
    wakes: 0,
    crashes: 0,
    notBefore: startsAt > at ? dueAfter(startsAt, 0) : null,
    progress: null,
    snapshot: '',
    version: 1,
    createdAt: at,
    updatedAt: at,
    startedAt: null,
    completedAt: null,
    deletedAt: null,
  }
  task.ready = isReady(task)
  task.claimable = isClaimable(task)
  task.snapshot = writeSnapshot(task)
  return task
}

/** System tasks wait in a lane of their own: they have slots of their own. */
function laneOf({ executor }: TaskDraft, parent: NewTask | undefined, system: boolean): string {
  if (executor === null) return ''
  if (system) return systemLane
  return parent?.policy.concurrency === undefined ? '' : parent.id
}

const isSpec = (team: TaskDraft['team']): team is TeamSpec => team !== null && team !== 'later'

/** The team in which it works: its own, else that of its parent. */
function placeInTeam(draft: TaskDraft, parent: NewTask | undefined): Pick<TaskPolicy, 'team'> {
  const taskId = isSpec(draft.team) ? draft.id : parent?.policy.team?.taskId
  return taskId === undefined ? {} : { team: { taskId, agentId: draft.agentId } }
}

/** A child may call at most what its parent may: the lists of the parent apply to it as well, whatever becomes of the parent. */
function inheriting(policy: TaskPolicy, above: TaskPolicy | undefined): TaskPolicy {
  const lists = [...(above?.abilities ?? []), ...(policy.abilities ?? [])]
  if (lists.length === 0) return policy
  return { ...policy, abilities: [...new Map(lists.map((list) => [canonicalJson(list), list])).values()] }
}

/** @throws ErrandError INVALID_INPUT for an option without effect, LIMIT_EXCEEDED for a position that is too deep. */
export function requirePlace(draft: TaskDraft, parent: NewTask | undefined, { maxDepth }: TreeLimits): void {
  if (draft.policy.notifyParent) requireReader(draft, parent)
  if (draft.agentNamed) requireTeam(draft, parent)
  if (parent !== undefined && parent.depth >= maxDepth) throw tooDeep(draft, parent, maxDepth)
}

/** A group reads no messages, and a root has no parent: an option without effect is refused. */
function requireReader(draft: TaskDraft, parent: NewTask | undefined): void {
  if (parent !== undefined && !parent.group) return
  const why = parent === undefined ? 'it has no parent' : `its parent ${parent.id} is a group, which reads no messages`
  throw doesNothing('notifyParent', draft.name, `${why}. Leave it out.`)
}

/** The name of a worker has no effect without a team. */
function requireTeam(draft: TaskDraft, parent: NewTask | undefined): void {
  if (isSpec(draft.team) || parent?.policy.team !== undefined) return
  const why = "neither it nor its parent has a team. Make it a team's task with `team: true`, or create it below one."
  throw doesNothing('agentId', draft.name, why)
}

function tooDeep(draft: TaskDraft, parent: NewTask, maxDepth: number): ErrandError {
  return new ErrandError(
    'LIMIT_EXCEEDED',
    `Cannot add "${draft.name}" below ${parent.id}: that is ${parent.depth} levels deep, and \`maxDepth\` is ${maxDepth}. Add it further up, or raise \`maxDepth\` in createEngine.`,
    { limit: 'maxDepth', value: maxDepth, parentId: parent.id },
  )
}

/** @throws ErrandError KEY_CONFLICT */
export function requireSameDefinition(draft: TaskDraft, existing: NewTask): void {
  if (existing.deletedAt !== null) throw keyConflict(draft, existing, 'its task was deleted')
  const differs = (['executor', 'goal', 'group'] as const).find((field) => draft[field] !== existing[field])
  if (differs) throw keyConflict(draft, existing, `its ${differs} is another`)
  // With its next generation a task has got another input.
  if (existing.generation === 1 && canonicalJson(draft.input) !== canonicalJson(existing.input))
    throw keyConflict(draft, existing, 'its input differs')
}

/** The refusal of a key whose task the caller may not see. */
export function keyTaken({ key }: TaskDraft): ErrandError {
  return new ErrandError('KEY_CONFLICT', `The key "${key}" is taken. Use another key.`, { key })
}

export function keyConflict(draft: TaskDraft, existing: Pick<NewTask, 'id' | 'name'>, why: string): ErrandError {
  return new ErrandError(
    'KEY_CONFLICT',
    `The key "${draft.key}" belongs to ${existing.id} (${existing.name}), and ${why}. Use another key, or the same definition.`,
    { key: draft.key, taskId: existing.id },
  )
}
