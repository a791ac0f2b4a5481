// What a draft is refused for when it is to become a task: options that would do nothing where it stands, trees that are too large,
// keys that mean something else. Pure.
import type { TaskDraft, TreeLimits } from '../drafts/draft.ts'
import { ErrandError } from '../errors.ts'
import { canonicalJson } from '../json.ts'
import type { NewTask } from '../ledger/ledger.ts'
import { isSpec } from './new-task.ts'

/** @throws ErrandError INVALID_INPUT for an option that would do nothing, LIMIT_EXCEEDED for a place that is too deep. */
export function requirePlace(draft: TaskDraft, parent: NewTask | undefined, { maxDepth }: TreeLimits): void {
  if (draft.policy.notifyParent) requireReader(draft, parent)
  if (draft.agentNamed) requireTeam(draft, parent)
  if (parent !== undefined && parent.depth >= maxDepth) throw tooDeep(draft, parent, maxDepth)
}

/** A group reads nothing, and a root has nobody to tell: an option that does nothing is not taken. */
function requireReader(draft: TaskDraft, parent: NewTask | undefined): void {
  if (parent !== undefined && !parent.group) return
  const why = parent === undefined ? 'it has no parent' : `its parent ${parent.id} is a group, which reads no messages`
  throw new ErrandError('INVALID_INPUT', `\`notifyParent\` does nothing for "${draft.name}": ${why}. Leave it out.`, {
    name: draft.name,
    option: 'notifyParent',
  })
}

/** A name to work under in a team is of no use without one. */
function requireTeam(draft: TaskDraft, parent: NewTask | undefined): void {
  if (isSpec(draft.team) || parent?.policy.team !== undefined) return
  throw new ErrandError(
    'INVALID_INPUT',
    `\`agentId\` does nothing for "${draft.name}": neither it nor its parent has a team. Make it a team's task with \`team: true\`, or create it below one.`,
    { name: draft.name, option: 'agentId' },
  )
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
  // Goals that were stored without a model had no executor in earlier versions.
  const executor = existing.executor ?? (existing.goal === null || existing.group ? null : draft.executor)
  const stored = { ...existing, executor }
  const differs = (['executor', 'goal', 'group'] as const).find((field) => draft[field] !== stored[field])
  if (differs) throw keyConflict(draft, existing, `its ${differs} is another`)
  if (canonicalJson(draft.input) !== canonicalJson(existing.input))
    throw keyConflict(draft, existing, 'its input is another')
}

export function keyConflict(draft: TaskDraft, existing: Pick<NewTask, 'id' | 'name'>, why: string): ErrandError {
  return new ErrandError(
    'KEY_CONFLICT',
    `The key "${draft.key}" is that of ${existing.id} (${existing.name}), and ${why}. Use another key, or the same definition.`,
    { key: draft.key, taskId: existing.id },
  )
}
