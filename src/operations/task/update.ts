// task:update: changes the fields that a task was created with.
import type { z } from 'zod'
import { type Caller, mayRunCommands } from '../../bus/caller.ts'
import { faithfulImage } from '../../core/json.ts'
import type { updateSchema } from '../../entities/options.ts'
import { updateFields, workFields } from '../../entities/task-fields.ts'
import { type Step, step } from '../../ledger/ledger.ts'
import { executorName, refuseUnfitInput, runsCommands } from '../drafts/known-executors.ts'
import { requireAgent } from '../model-bounds.ts'
import { guardChange, guardUnblock } from '../steps/right-to-answer.ts'
import { refuseCommands, refusePlanMark } from '../steps/right-to-run.ts'
import { loadTask, type StepContext } from '../steps/step-context.ts'
import { update } from '../steps/update.ts'
import { claimantOf } from './claimant.ts'
import { type ChangeContext, taskChange } from './define-change.ts'

type Patch = z.output<ReturnType<typeof updateSchema>>

/** Accepts what `engine.update` accepts except for the status, which other abilities change. */
export const taskUpdate = taskChange({
  id: 'task:update',
  description:
    'Changes the fields of a task: texts, priority, tags, input, policies, dependencies. null removes a value.',
  routes: [{ endpoint: 'PATCH /tasks/{taskId}', tag: 'Tasks', operationId: 'updateTask', summary: 'Update a task' }],
  input: updateFields,
  models: false,
  others: ({ blockedBy = [] }) => blockedBy,
  step: ({ taskId, expectedVersion: _version, ...patch }, ctx, context) => updateStep(taskId, patch, ctx, context),
})

/** @throws ErrandError UNKNOWN_EXECUTOR, FORBIDDEN, NOT_JSON, as far as no transaction is needed to find out. */
export function updateStep(taskId: string, patch: Patch, ctx: StepContext, context: ChangeContext): Step {
  const {
    caller,
    host: { drafter },
  } = context
  if (patch.executor !== undefined) {
    executorName(patch.executor, drafter.context)
    if (caller.taskId !== undefined) requireAgent(patch.executor, drafter)
  }
  const change = update(taskId, storable(patch, taskId), claimantOf(context), ctx, {
    caller,
    checkInput: (executor, input, name) => refuseUnfitInput(executor, input, name, drafter.context),
  })
  const changesWork = workFields.some((field) => patch[field] !== undefined)
  const guarded = changesWork ? guardChange(change, taskId, 'change', caller) : change
  const answered = keepingAnswers(guarded, taskId, patch, caller)
  return changesWork || patch.metadata !== undefined ? withRightToRun(answered, taskId, patch, context) : answered
}

/** Removed blockers, and children whose outcome no longer counts, are judged like those of `task:unblock`. */
function keepingAnswers(change: Step, taskId: string, patch: Patch, caller: Caller): Step {
  const { blockedBy, onDependencyFailure, autoComplete } = patch
  const ignoresFailures = onDependencyFailure === 'ignore'
  const endsWithout = autoComplete !== undefined && autoComplete !== true
  if (blockedBy === undefined && !ignoresFailures && !endsWithout) return change
  return step(change.name, function* (tx) {
    const blockers = yield* tx.dependency.blockers(taskId)
    const removed = blockers.filter((id) => ignoresFailures || blockedBy?.includes(id) === false)
    const children = endsWithout ? yield* tx.task.children(taskId) : []
    yield* guardUnblock(change, [...removed, ...children.map(({ id }) => id)], caller).decide(tx)
  })
}

/**
 * A task whose work was changed by a caller without the right to run commands runs none, now or later. A caller with the right restores it
 * by setting a new input.
 */
function withRightToRun(change: Step, taskId: string, patch: Patch, { caller, host }: ChangeContext): Step {
  return step(change.name, function* (tx) {
    const { context } = host.drafter
    const before = yield* loadTask(tx, taskId)
    if (patch.metadata !== undefined) refusePlanMark(before.metadata, patch.metadata, caller)
    const executor = patch.executor ?? before.executor
    const right = mayRunCommands(caller)
    const own = right && (before.mayRunCommands || patch.input !== undefined)
    if (executor !== null && !own && (!right || patch.executor !== undefined)) {
      yield* refuseCommands(tx, executor, runsCommands(executor, context), right ? 'input' : 'caller')
    }
    yield* change.decide(tx)
    if (own !== before.mayRunCommands) {
      yield* tx.task.saveDefinition({ ...(yield* loadTask(tx, taskId)), mayRunCommands: own })
    }
  })
}

/** The patch in the form that the ledger stores: values as JSON. */
function storable(patch: Patch, taskId: string): Patch {
  const kept: Patch = { ...patch }
  if (patch.metadata !== undefined) {
    kept.metadata = faithfulImage(patch.metadata, 'the metadata', 'metadata') as Record<string, unknown>
  }
  if (patch.input !== undefined) kept.input = faithfulImage(patch.input, `the input of "${taskId}"`, 'input')
  return kept
}
