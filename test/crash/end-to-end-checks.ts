// Checks the ledger after the end-to-end scenario, whichever processes were killed. They return complaints, so that tests can check that they
// find planted faults.
import Database from 'better-sqlite3'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Call } from '../../src/entities/call.ts'
import type { Task } from '../../src/entities/task.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { gatherTeam, teamComplaints } from '../agents/team-checks.ts'
import { complaints as memoryComplaints } from '../memory/invariants.ts'
import { tablesOf } from '../memory/world.ts'
import type { Place } from './child.ts'
import {
  ending,
  objectives,
  type Played,
  stepsOf,
  type ToolEffect,
  toolEffectsIn,
  workers,
} from './end-to-end-scenario.ts'
import { violations } from './invariants.ts'

export async function complaintsOf(
  engine: Engine<any>,
  ledger: Ledger,
  place: Place,
  played: Played,
): Promise<string[]> {
  const parent = (await engine.get(played.team)) as Task
  const tasks = [parent, ...(await engine.children(parent.id))]
  const calls = (await Promise.all(tasks.map((task) => engine.calls(task)))).flat()
  return [
    ...(await ends(engine, parent)),
    ...(await goals(engine, parent)),
    ...(await conversations(engine, tasks)),
    ...effectCounts(toolEffectsIn(place.effects), calls),
    ...teamComplaints(await gatherTeam(engine, ledger, played)),
    ...memoryComplaints(await tablesOf(ledger), 0.85),
    ...(await ledgerViolations(place)),
  ]
}

/** The message created one task, which completed with its subtasks; one task came after it. */
async function ends(engine: Engine<any>, { status, result }: Task): Promise<string[]> {
  const { total } = await engine.list({})
  return [
    ...(total === 2 + workers.length ? [] : [`there are ${total} tasks`]),
    ...(status === 'completed' && result === ending ? [] : [`the parent is ${status}: ${String(result)}`]),
  ]
}

/** Each objective was added once and done once. */
async function goals(engine: Engine<any>, { id: taskId }: Task): Promise<string[]> {
  const { objectives: found } = await engine.bus.call('task:context', { taskId })
  const { changes } = await engine.bus.call('objective:log', { taskId })
  const shown = (found as Array<{ description: string; status: string }>).map(
    ({ description, status }) => `${description}: ${status}`,
  )
  const moves = (changes as Array<{ objectiveId: number; from: string; to: string }>).map(
    ({ objectiveId, from, to }) => `${objectiveId} ${from} ${to}`,
  )
  return [
    ...(shown.join() === objectives.map((each) => `${each}: done`).join()
      ? []
      : [`the objectives are ${shown.join()}`]),
    ...(moves.sort().join() === '1 todo done,2 todo done' ? [] : [`the objectives changed ${moves.join()}`]),
  ]
}

/** Each step of a model is in its conversation once, and every call is announced and ends once there. */
async function conversations(engine: Engine<any>, tasks: readonly Task[]): Promise<string[]> {
  const complaints: string[] = []
  for (const { id, executor, parentId } of tasks) {
    const messages = await engine.messages(id)
    const calls = await engine.calls(id)
    const taken = messages.filter(({ step }) => step !== null).length
    const expected = stepsOf[executor ?? '']
    if (parentId !== null && taken !== expected) complaints.push(`${executor} took ${taken} steps, and not ${expected}`)
    if (new Set(messages.map((each) => each.id)).size !== messages.length)
      complaints.push(`${executor}: a message twice`)
    for (const { name, status, startMessageId, endMessageId } of calls) {
      const [start, end] = [startMessageId, endMessageId].map((at) => messages.find((each) => each.id === at)?.content)
      const mark = { completed: '✓', failed: '✗' }[status as string]
      if (start !== `🔧 Calling ${name}...`) complaints.push(`${name} of ${executor} was not announced`)
      if (mark === undefined || end?.startsWith(`${mark} ${name} `) !== true)
        complaints.push(`${name} of ${executor} is ${status}, and ended as ${end}`)
    }
  }
  return complaints
}

/** Each identity has one effect, or more only where the policy of the call allows an interrupted one to be repeated. */
function effectCounts(effects: readonly ToolEffect[], calls: readonly Call[]): string[] {
  const complaints: string[] = []
  const marks = ['one', 'two', 'three', 'four']
  const identities = new Map<string, Set<string>>(marks.map((mark) => [mark, new Set()]))
  for (const { mark, identity } of effects) identities.get(mark)?.add(identity)
  for (const [mark, of] of identities) {
    const own = calls.filter(({ params }) => (params as { mark?: string } | null)?.mark === mark)
    const broken = own.filter(({ error }) => error?.code === 'CALL_INTERRUPTED').length
    const times = effects.filter((effect) => effect.mark === mark).length
    const isRepeated = mark === 'two' || mark === 'three'
    if (of.size > 1) complaints.push(`${mark} was done under ${of.size} identities`)
    if (times > (isRepeated ? 1 + broken : 1)) complaints.push(`${mark} was done ${times} times`)
    if (own.length !== broken + (isRepeated || broken === 0 ? 1 : 0)) complaints.push(`${mark} has ${own.length} calls`)
    const failed = own.filter(({ status, error }) => status === 'failed' && error?.code !== 'CALL_INTERRUPTED')
    complaints.push(...failed.map(({ error }) => `${mark} failed: ${error?.message}`))
    if (times === 0 && broken === 0) complaints.push(`${mark} was never done`)
  }
  return complaints
}

/** The invariants of every ledger. Only the tools that mark have effects. */
async function ledgerViolations(place: Place): Promise<string[]> {
  const hasNoEffect = /^(?!scenario:(note|count|pay|slow) ).* was never executed$/
  return (await violations(place)).filter((each) => !hasNoEffect.test(each))
}

/** All rows of all tables except `instance`. */
export function rowsOf({ ledger }: Place): Record<string, unknown[]> {
  const database = new Database(ledger, { readonly: true })
  try {
    const named = database.prepare(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`)
    const names = (named.all() as Array<{ name: string }>).map(({ name }) => name).filter((name) => name !== 'instance')
    return Object.fromEntries(names.map((name) => [name, database.prepare(`select * from "${name}"`).all()]))
  } finally {
    database.close()
  }
}
