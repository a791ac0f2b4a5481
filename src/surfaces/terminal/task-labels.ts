// Labels of tasks and their states, for every verb.

import { isoTime, systemClock } from '../../core/clock.ts'
import { formatDuration } from '../../core/duration.ts'
import { startOf } from '../../core/storable-text.ts'
import type { Engine, Why } from '../../engine/engine-api.ts'
import { type BriefTask, isSettled, noReason, type StateWord, stateWord, type Task } from '../../entities/task.ts'
import { cleanLine, firstLine, fitWidth } from './terminal-text.ts'

/** The state of a task of the engine, as `stateWord` names it. */
export function stateLabel(
  task: Pick<Task, 'status' | 'statusReason' | 'ready' | 'blockedBy' | 'executor'>,
): StateWord {
  return stateWord(task, task.blockedBy.length)
}

/** A short id to type: the ledger finds tasks by any unique prefix. */
export function shortId(id: string): string {
  return startOf(id.replace(/^task-/, ''), 8)
}

/** `#12`: what people type for a task. */
export function taskNumber({ seq }: Pick<Task, 'seq'>): string {
  return `#${seq}`
}

/** How a text that knows only ids names tasks. */
export type TaskNumbers = (taskId: string) => string

/** `#12` for each of the ids; the short id for a task that the ledger no longer has. */
export async function taskNumbers(engine: Pick<Engine, 'get'>, taskIds: Iterable<string>): Promise<TaskNumbers> {
  const found = await Promise.all(Array.from(new Set(taskIds), (id) => engine.get(id)))
  const numbers = new Map(found.filter((task) => task !== null).map((task) => [task.id as string, taskNumber(task)]))
  return (taskId) => numbers.get(taskId) ?? shortId(taskId)
}

/** `#12 lines`: the name of a task in messages. @param columns most columns of the name; a longer one is cut. */
export function taskLabel(task: Pick<Task, 'seq' | 'name'>, columns = 60): string {
  return `${taskNumber(task)} ${fitWidth(cleanLine(task.name), columns)}`
}

/** `#12 lines paused, message sent`: the new state of a changed task. */
export function changedLine(task: BriefTask, more = ''): string {
  return `${taskLabel(task)} ${stateLabel(task)}${more === '' ? '' : `, ${more}`}`
}

/** `#12 lines working, message sent`. A command reads none. */
export function sentLine(task: BriefTask & Pick<Task, 'executor'>): string {
  return changedLine(task, task.executor === 'shell' ? 'message sent, which no command reads' : 'message sent')
}

/** The reason why a task does not run, with the tasks concerned and, for a limit, the command that shows it. */
export async function whyLines(engine: Pick<Engine, 'get'>, { message, reason, tasks }: Why): Promise<string[]> {
  const others = await Promise.all(tasks.map((id) => engine.get(id)))
  return [
    message,
    ...(reason === 'limit' ? ['    errand limit'] : []),
    ...others
      .filter((task) => task !== null)
      .map((task) =>
        `  ${taskLabel(task)} ${stateLabel(task)} ${isSettled(task.status) ? endReason(task) : ''}`.trimEnd(),
      ),
  ]
}

/** The first line of the reason why a task failed or was canceled. */
export function endReason(task: Pick<Task, 'status' | 'error' | 'statusReason'>): string {
  const failure = task.error?.message === noReason ? '' : (task.error?.message ?? '')
  const reason = task.status === 'failed' ? failure : (task.statusReason ?? '')
  return firstLine(reason)
}

/** Owner, claim and lease: `claimed by ann (claim 2), lease until 2030-01-31T08:00:00.000Z (4m59s left)`. */
export function ownerLabel(task: Pick<Task, 'owner' | 'fence' | 'leaseUntil'>, now = systemClock.now()): string {
  if (task.owner === null) return 'not claimed'
  const lease =
    task.leaseUntil === null ? '' : `, lease until ${isoTime(task.leaseUntil)} (${leaseLabel(task.leaseUntil, now)})`
  return `claimed by ${cleanLine(task.owner)} (claim ${task.fence})${lease}`
}

/** The owner for a table, with the rest of the lease. */
export function ownerCell(task: Pick<Task, 'owner' | 'leaseUntil' | 'status'>, now: number): string {
  if (task.owner === null || isSettled(task.status)) return task.owner ?? ''
  return task.leaseUntil === null ? task.owner : `${task.owner} (${leaseLabel(task.leaseUntil, now)})`
}

/** The rest of a lease. A claim stays valid after its lease until another client claims the task. */
export function leaseLabel(leaseUntil: number, now: number): string {
  return leaseUntil > now ? `${formatDuration(leaseUntil - now)} left` : 'lease over'
}
