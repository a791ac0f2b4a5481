// What somebody has to do before tasks go on: each question, pause and unclaimed task with the command that helps.
import type { Task } from '../../entities/task.ts'
import { exitCodes } from './exit-code.ts'
import { createPaint } from './paint.ts'
import { summarize } from './run-summary.ts'
import { isQueued } from './task-words.ts'

/** @param tasks open ones that rest. */
export function restNotes(tasks: readonly Task[], ledgerFlag: string[]): string[] {
  const resting = tasks.filter((task) => !isQueued(task))
  const asking = resting.filter((task) => task.status === 'input_required')
  const paused = resting.filter((task) => task.status === 'paused')
  const claimable = resting.filter((task) => task.ready)
  const told = [...asking, ...paused, ...claimable]
  const open = told.length === 0 ? tasks.slice(0, 1) : claimable
  const verdict = {
    code: exitCodes.open,
    completed: [],
    broken: [],
    blocked: [],
    asking,
    paused,
    open: [...open],
    missing: [],
  }
  // The last line counts, which says nothing of one task.
  return summarize(verdict, { paint: createPaint(false), ledgerFlag, duration: undefined, before: new Set() }).slice(
    0,
    -1,
  )
}
