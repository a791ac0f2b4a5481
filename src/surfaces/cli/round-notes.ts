// What a user should know about a round before it runs: what stays although it was changed, canceled, or left the plan.

import { isSettled } from '../../entities/task.ts'
import { lacksModel } from './goal-tasks.ts'
import { howToGiveModel } from './model-source.ts'
import { flatten, isGoal } from './plan.ts'
import type { KnownTask } from './plan-mark.ts'
import type { Decision, KnownRound } from './plan-round.ts'
import type { RunPlan } from './run-request.ts'
import { shellCommand } from './shell-words.ts'

/** @param ledgerFlag `--ledger FILE` for the commands that are shown, when the user had to give it. */
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
      return changed ? [`"${task.path}" was changed after it completed. Its result stays; ${redo} runs it anew.`] : []
    case 'canceled':
      return needed ? [`"${task.path}" was canceled and stays so; ${redo} runs it anew.`] : []
    case 'working':
      return changed
        ? [`"${task.path}" is at work by its old definition. If it fails, run the plan again to give it the new one.`]
        : []
    default:
      return changed && isGoal(task)
        ? [`"${task.path}" has begun with its old definition and keeps it: it is a conversation by now.`]
        : []
  }
}

/** Goals for which there is no model: nothing here works on them. */
export function goalNotes({ plan, model }: Pick<RunPlan, 'plan' | 'model'>, known: KnownRound): string[] {
  const waiting = flatten(plan.tasks).filter((task) => {
    const found = known.newest.get(task.path)?.task
    return lacksModel(task, model) && found !== undefined && !isSettled(found.status)
  })
  const [first, ...others] = waiting.map((task) => `"${task.path}"`)
  if (first === undefined) return []
  const [who, has, it] =
    others.length === 0 ? [first, 'has', 'it waits'] : [`${[first, ...others].join(', ')}`, 'have', 'they wait']
  return [
    `${who} ${has} a goal, and no model is configured, so ${it} for one. ${howToGiveModel} A plan may have \`model\` at its top, or on a task.`,
  ]
}

function noteOnLeftover({ task, mark }: KnownTask, ledgerFlag: readonly string[]): string {
  const command = shellCommand('errand', 'cancel', task.id, ...ledgerFlag)
  return `"${mark.path}" is no longer in the plan but still ${task.status}; "${command}" drops it.`
}
