// What a user should know about a round before it runs: what stays although it was changed, canceled, or left the plan.

import type { KnownTask } from './plan-mark.ts'
import type { Decision } from './plan-round.ts'
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
      return []
  }
}

function noteOnLeftover({ task, mark }: KnownTask, ledgerFlag: readonly string[]): string {
  const command = shellCommand('errand', 'cancel', task.id, ...ledgerFlag)
  return `"${mark.path}" is no longer in the plan but still ${task.status}; "${command}" drops it.`
}
