// The invariants of a ledger whose tasks have all ended, whichever processes were killed; read from the file itself, not through the engine:
// those of every ledger, and what holds here besides. Each rule returns complaints, so that tests can check that it finds planted faults.
import Database from 'better-sqlite3'
import { violationsIn } from '../ledger/check/violations-in.ts'
import { effectsOf, type Place } from './child.ts'

interface TaskRow {
  id: string
  name: string
  status: string
  run_open: number
}
interface CallRow {
  id: string
  task_id: string
  kind: string
  name: string
  status: string
}

/** Returns complaints. `resting`: nothing may be open any more. `gapless`: the numbers of events have no gaps; those of a server may. */
export async function violations(place: Place, { resting = true, gapless = true } = {}): Promise<string[]> {
  const found = await violationsIn(place.ledger)
  const database = new Database(place.ledger, { readonly: true })
  try {
    const all = <T>(text: string) => database.prepare(text).all() as T[]
    const tasks = all<TaskRow>('select id, name, status, run_open from task')
    const calls = all<CallRow>('select id, task_id, kind, name, status from call')
    return [
      ...found,
      ...(resting ? stuck(tasks, calls) : []),
      ...effectsAgainstCalls(place, calls),
      ...(gapless ? eventGaps(all) : []),
    ]
  } finally {
    database.close()
  }
}

function stuck(tasks: TaskRow[], calls: CallRow[]): string[] {
  const settled = ['completed', 'failed', 'canceled']
  return [
    ...tasks.filter(({ status }) => !settled.includes(status)).map(({ name, status }) => `${name} is stuck: ${status}`),
    ...tasks.filter(({ run_open }) => run_open === 1).map(({ name }) => `${name} has an open run`),
    ...calls
      .filter(({ status }) => status === 'pending' || status === 'in_progress')
      .map(({ name, status }) => `call ${name} is stuck: ${status}`),
  ]
}

/** I7: every executed call is recorded, none is executed twice under one id, and every repetition has a failed call. */
function effectsAgainstCalls(place: Place, calls: CallRow[]): string[] {
  const effects = effectsOf(place)
  const recorded = new Map(calls.map((call) => [call.id, call]))
  const executed = new Map<string, number>()
  for (const { callId } of effects) executed.set(callId, (executed.get(callId) ?? 0) + 1)
  const complaints = [
    ...[...executed].filter(([, times]) => times > 1).map(([id, times]) => `${id} was executed ${times} times`),
    ...effects.filter(({ callId }) => !recorded.has(callId)).map(({ name }) => `${name} was executed without a record`),
  ]
  const counts = new Map<string, { effects: number; failed: number }>()
  const countsOf = (taskId: string, name: string) => {
    const key = `${taskId} ${name}`
    const found = counts.get(key) ?? { effects: 0, failed: 0 }
    counts.set(key, found)
    return found
  }
  for (const { callId, taskId } of effects) countsOf(taskId, recorded.get(callId)?.name ?? '').effects++
  for (const call of calls) {
    if (call.kind !== 'call') continue
    if (call.status === 'failed') countsOf(call.task_id, call.name).failed++
    if (call.status === 'completed' && call.name !== 'shell' && !executed.has(call.id)) {
      complaints.push(`${call.name} is completed and was never executed`)
    }
  }
  const completed = new Map<string, number>()
  for (const call of calls) {
    if (call.kind !== 'call' || call.status !== 'completed') continue
    const key = `${call.task_id} ${call.name}`
    completed.set(key, (completed.get(key) ?? 0) + 1)
  }
  for (const [key, { effects: times, failed }] of counts) {
    if (times > (completed.get(key) ?? 0) + failed) complaints.push(`${key}: ${times} effects, ${failed} failed calls`)
  }
  return complaints
}

/** I12: the numbers of events have no gaps, for nothing was purged and no row was copied from a server. */
function eventGaps(all: <T>(text: string) => T[]): string[] {
  const events = all<{ count: number; last: number }>(
    'select count(*) as count, coalesce(max(seq), 0) as last from event',
  )
  return events
    .filter(({ count, last }) => count !== last)
    .map(({ count, last }) => `${count} events, the last is ${last}`)
}
