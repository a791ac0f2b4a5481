// The decisions about a round as text: all of them for `--dry-run`, and notes for a run about tasks that stay although they were changed,
// canceled, or removed from the plan.
import { isSettled, type TaskStatus } from '../../entities/task.ts'
import type { Decision } from '../../plans/decide-round.ts'
import { isGoal } from '../../plans/plan.ts'
import type { KnownTask } from '../../plans/round.ts'
import { shellCommand } from '../terminal/shell-quote.ts'
import { formatTable } from '../terminal/table.ts'
import { stateLabel, taskNumber } from '../terminal/task-labels.ts'

/** A table of what a run would do with each task, in an order in which they could run. */
export function describeDecisions(decisions: readonly Decision[]): string[] {
  return formatTable(decisions, { would: verbFor, task: ({ task }) => task.path, because: reasonFor })
}

export function decisionJson(decision: Decision) {
  return {
    task: decision.task.path,
    action: verbFor(decision),
    because: reasonFor(decision),
    changed: decision.changed,
    taskId: decision.known?.task.id ?? null,
    status: decision.known?.task.status ?? null,
    after: decision.task.after,
  }
}

function verbFor({ action, task, known, changed, needed }: Decision): string {
  if (action === 'create') return needed ? 'create' : 'hold'
  if (action !== 'keep') return action
  if (known === undefined || isSettled(known.task.status) || known.task.status === 'working') return 'leave'
  return changed && task.spec.executor !== 'agent' ? 'update' : 'continue'
}

const standing: Readonly<Record<TaskStatus, string>> = {
  submitted: 'it waits to run',
  working: 'it is working',
  paused: 'it is paused',
  input_required: 'it waits for an answer',
  waiting: 'it is waiting',
  completed: 'it is completed',
  failed: 'it failed',
  canceled: 'it was canceled',
}

function reasonFor({ action, known, changed, needed }: Decision): string {
  const was = known === undefined ? 'it is new' : standing[known.task.status]
  const hints = [...(changed ? ['its definition was changed'] : []), ...(needed ? [] : ['no target needs it'])]
  // A completed or canceled task is redone only because --redo names it.
  const isNamed = known?.task.status === 'completed' || known?.task.status === 'canceled'
  if (action === 'redo') hints.unshift(isNamed ? '--redo names it' : 'its agent begins again')
  return [was, ...hints].join(', ')
}

/**
 * Notes about tasks that stay as they are, where a user may expect a change.
 * @param ledgerFlag `--ledger FILE` for the commands that are shown, when the user had to give it.
 */
export function notesOn(
  decisions: readonly Decision[],
  left: readonly KnownTask[],
  ledgerFlag: readonly string[],
): string[] {
  return [...decisions.flatMap(noteOn), ...left.map((known) => noteOnLeftover(known, ledgerFlag))]
}

function noteOn({ task, known, action, changed, needed }: Decision): string[] {
  if (action !== 'keep' || known === undefined) return []
  const redo = shellCommand('--redo', task.path)
  switch (known.task.status) {
    case 'completed':
      return changed ? [`"${task.path}" was changed after it completed. Its result stays; ${redo} runs it again.`] : []
    case 'canceled':
      return needed ? [`"${task.path}" was canceled and stays canceled; ${redo} runs it again.`] : []
    case 'working':
      return changed
        ? [
            `"${task.path}" is working with its old definition. If it fails, run the plan again: then it gets the new one.`,
          ]
        : []
    default:
      return changed && isGoal(task)
        ? [`"${task.path}" keeps its old definition, which is part of its conversation.`]
        : []
  }
}

function noteOnLeftover({ task, mark }: KnownTask, ledgerFlag: readonly string[]): string {
  const command = shellCommand('errand', 'cancel', taskNumber(task), ...ledgerFlag)
  return `"${mark.path}" is no longer in the plan but still ${stateLabel(task)}; "${command}" cancels it.`
}
