// The first row of a task: what its draft says, what it takes over from its parent, and nothing done yet.
import type { TaskDraft } from '../drafts/draft.ts'
import type { TeamSpec } from '../drafts/team-draft.ts'
import type { TaskPolicy, TaskStatus } from '../entities/task.ts'
import { canonicalJson } from '../json.ts'
import type { NewTask } from '../ledger/ledger.ts'
import { isClaimable, isReady } from '../machines/readiness.ts'
import { writeSnapshot } from '../machines/task-snapshot.ts'
import { dueAfter } from './moment.ts'

const submitted: TaskStatus = 'submitted'

export function newTask(draft: TaskDraft, parent: NewTask | undefined, openBlockers: number, at: number): NewTask {
  const {
    blockedBy: _blockedBy,
    opening: _opening,
    team: _team,
    agentId: _agent,
    agentNamed: _named,
    ...fields
  } = draft
  const task: NewTask = {
    ...fields,
    policy: { ...inheriting(draft.policy, parent?.policy), ...placeInTeam(draft, parent) },
    status: submitted,
    statusReason: null,
    ready: false,
    claimable: false,
    result: null,
    error: null,
    lane: draft.executor !== null && parent?.policy.concurrency !== undefined ? parent.id : '',
    depth: parent === undefined ? 0 : parent.depth + 1,
    childCount: 0,
    owner: null,
    fence: 0,
    leaseMs: null,
    leaseUntil: null,
    attempt: 1,
    run: 0,
    runOpen: false,
    openBlockers,
    stuckBy: null,
    wakes: 0,
    crashes: 0,
    notBefore: draft.notBefore !== null && draft.notBefore > at ? dueAfter(draft.notBefore, 0) : null,
    progress: null,
    snapshot: '',
    version: 1,
    createdAt: at,
    updatedAt: at,
    completedAt: null,
    deletedAt: null,
  }
  task.ready = isReady(task)
  task.claimable = isClaimable(task)
  task.snapshot = writeSnapshot(task)
  return task
}

export const isSpec = (team: TaskDraft['team']): team is TeamSpec => team !== null && team !== 'later'

/** Which team it works in: its own, else that of its parent. */
function placeInTeam(draft: TaskDraft, parent: NewTask | undefined): Pick<TaskPolicy, 'team'> {
  const taskId = isSpec(draft.team) ? draft.id : parent?.policy.team?.taskId
  return taskId === undefined ? {} : { team: { taskId, agentId: draft.agentId } }
}

/** A child may call what its parent may, or less: the parent's lists hold for it too, whatever becomes of the parent. */
function inheriting(policy: TaskPolicy, above: TaskPolicy | undefined): TaskPolicy {
  const lists = [...(above?.abilities ?? []), ...(policy.abilities ?? [])]
  if (lists.length === 0) return policy
  return { ...policy, abilities: [...new Map(lists.map((list) => [canonicalJson(list), list])).values()] }
}
