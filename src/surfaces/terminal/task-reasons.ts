// Why tasks of a list failed or do not run, in a few words each: what the task itself says, else the beginning of what `errand why` says.
import { isoTime } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import type { Engine, Why } from '../../engine/engine-api.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { endReason, stateLabel, taskNumber, taskNumbers } from './task-labels.ts'
import { firstLine } from './terminal-text.ts'

/** By the id of the task; a task whose state says all is missing. */
export type TaskReasons = ReadonlyMap<string, string>

/** The fields that say or lead to the reason. */
export type ReasonedTask = Pick<Task, 'id' | 'seq' | 'name' | 'group' | 'error'> &
  Partial<Pick<Task, 'questions'>> &
  Parameters<typeof stateLabel>[0]

/** A list of thousands is not delayed by an explanation of each task: so many are asked for. */
const maxExplained = 200
/** Number of blockers that are shown. */
const maxBlockers = 3
/** Of these the state says as much as the reason. */
const saidByState: ReadonlySet<Why['reason']> = new Set(['slot', 'claim', 'held', 'running', 'settled', 'lost'])

export async function readReasons(
  engine: Pick<Engine, 'get' | 'why'>,
  tasks: readonly ReasonedTask[],
): Promise<TaskReasons> {
  const known = new Map(tasks.map((task) => [task.id as string, taskNumber(task)]))
  const others = tasks.flatMap(({ blockedBy }) => blockedBy.slice(0, maxBlockers)).filter((id) => !known.has(id))
  const numberOf = await taskNumbers(engine, others)
  const explained = tasks.filter(needsWhy).slice(0, maxExplained)
  const whys = new Map(
    await Promise.all(explained.map(async ({ id }) => [id as string, await engine.why(id).catch(ifDeleted)] as const)),
  )
  const reasons = tasks.map((task): [string, string] => [
    task.id,
    ownReason(task, (id) => known.get(id) ?? numberOf(id)) || shortWhy(task, whys.get(task.id)),
  ])
  return new Map(reasons.filter(([, reason]) => reason !== ''))
}

function ifDeleted(error: unknown): undefined {
  if (!ErrandError.isInstance(error) || error.code !== 'NOT_FOUND') throw error
}

/** Queued tasks may wait for a limit, waiting ones for signals, times and other tasks. */
function needsWhy(task: ReasonedTask): boolean {
  return !task.group && ['queued', 'waiting', 'submitted'].includes(stateLabel(task))
}

function ownReason(task: ReasonedTask, numberOf: (id: string) => string): string {
  if (isSettled(task.status)) {
    const { code } = task.error ?? {}
    const reason = endReason(task)
    return task.status === 'failed' && code !== undefined && reason !== '' ? `${code}: ${reason}` : reason
  }
  if (task.status === 'input_required')
    return (task.questions ?? []).map(({ question }) => firstLine(question)).join('; ')
  if (stateLabel(task) !== 'blocked') return ''
  const more = task.blockedBy.length > maxBlockers ? ` and ${task.blockedBy.length - maxBlockers} more` : ''
  return `after ${task.blockedBy.slice(0, maxBlockers).map(numberOf).join(', ')}${more}`
}

function shortWhy({ seq, name }: ReasonedTask, why: Why | undefined): string {
  if (why === undefined || saidByState.has(why.reason)) return ''
  if (why.reason === 'timer' && why.at !== null) return `until ${isoTime(why.at).replace(/\.\d+Z$/, 'Z')}`
  const [sentence = ''] = firstLine(why.message).split(/\.(?: |$)/)
  return sentence
    .replace(`#${seq} ${name} `, '')
    .replace(/^It (is |waits )?/, '')
    .replace(/ since \S+Z\b/, '')
}
