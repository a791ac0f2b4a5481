// The descendants of a canceled task are canceled by set statements, which must leave what their machines would leave, one task after the
// other: the same rows, and the same events. Each action of the machine is left out of the statements in turn, and the comparison must find
// that.
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import type { AnyStateNode } from 'xstate'
import { isSettled, type TaskRecord, taskStatuses } from '../../../src/entities/task.ts'
import type { NewTask, Op, Tx } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { sqliteDialect } from '../../../src/ledger/sqlite/dialect.ts'
import { createCompiler, type Statement, type StatementCompiler } from '../../../src/ledger/statement.ts'
import { createCascadeTable } from '../../../src/ledger/tables/cascade.ts'
import { statesAccepting } from '../../../src/machines/task-edges.ts'
import { taskMachine } from '../../../src/machines/task-machine.ts'
import { teamSteps } from '../../../src/memory/team/team-steps.ts'
import { Cascade } from '../../../src/operations/steps/cascade.ts'
import { sendEvent } from '../../../src/operations/steps/send-event.ts'
import { followUp } from '../../../src/operations/steps/settle-family.ts'
import { cancel } from '../../../src/operations/steps/task-lifecycle.ts'
import { ledgerFile } from '../../engine/world.ts'
import { branchRow, callRow, edgeRow, runRow, someTime, stintRow, teamRow } from '../../ledger/factories.ts'
import { whole } from './whole-row.ts'

const ctx = { at: someTime + 10, instanceId: 'engine-1', teams: teamSteps }
const reason = 'enough'

function stateOf(status: TaskRecord['status']): Partial<NewTask> {
  return {
    status,
    completedAt: isSettled(status) ? someTime : null,
    ...(status === 'failed' ? { error: { code: 'GROUP_STUCK', message: 'it is stuck' } } : {}),
  }
}

/** Below `root`: a task in each state, with all that can hang on it, and open tasks below settled and deleted ones. */
const below: ReadonlyArray<Partial<NewTask> & { id: string }> = [
  ...taskStatuses.map((status) => ({ id: status, ...stateOf(status), group: status === 'failed', childCount: 1 })),
  ...taskStatuses.map((status) => ({ id: `below-${status}`, parentId: status, executor: 'work' })),
  { id: 'gone', ...stateOf('canceled'), deletedAt: someTime },
  { id: 'below-gone', parentId: 'gone', ...stateOf('paused'), held: true },
  { id: 'running', ...stateOf('working'), executor: 'work', run: 1, runOpen: true, priority: 2, attempt: 2 },
  { id: 'ending', ...stateOf('paused'), executor: 'work', run: 1, runOpen: true, held: true },
  { id: 'closed', ...stateOf('waiting'), executor: 'work', run: 1, wakes: 1, statusReason: 'released' },
  { id: 'timed', executor: 'work', notBefore: someTime + 99, deadline: someTime + 999 },
  { id: 'claimed', ...stateOf('working'), owner: 'ann', fence: 3, leaseMs: 50, leaseUntil: someTime + 50 },
  { id: 'member', ...stateOf('paused'), run: 1, policy: { team: { taskId: 'root', agentId: 'ben' } } },
  { id: 'notifies', parentId: 'running', policy: { notifyParent: true } },
  { id: 'stuck', executor: 'work', openBlockers: 1, stuckBy: 'failed', crashes: 1 },
  { id: 'quoted', name: 'a "value":"submitted" in its name' },
]

const outside: ReadonlyArray<Partial<NewTask> & { id: string }> = [
  { id: 'canceled-with-it', openBlockers: 1, policy: { onDependencyFailure: 'cancel' }, childCount: 1 },
  { id: 'below-it', parentId: 'canceled-with-it', executor: 'work' },
  { id: 'ignores-it', openBlockers: 1, policy: { onDependencyFailure: 'ignore' } },
  { id: 'stuck-behind-it', openBlockers: 1, executor: 'work' },
  { id: 'waits-for-it', ...stateOf('waiting'), executor: 'work', run: 1 },
  { id: 'elsewhere', executor: 'work' },
]

function* plant(tx: Tx): Op<void> {
  yield* tx.task.insert(whole({ id: 'top', status: 'working', policy: { autoComplete: true }, childCount: 1 }))
  yield* tx.task.insert(
    whole({ id: 'root', parentId: 'top', depth: 1, ...stateOf('working'), executor: 'work', run: 1, runOpen: true }),
  )
  for (const task of below) yield* tx.task.insert(whole({ parentId: 'root', depth: 2, ...task }))
  for (const task of outside) yield* tx.task.insert(whole(task))
  for (const taskId of ['root', 'running']) yield* tx.run.insert(runRow({ taskId, dueAt: someTime + 60 }))
  yield* tx.run.insert(runRow({ taskId: 'ending', status: 'ending', outcome: 'paused', endedAt: someTime }))
  const closed = { status: 'closed', outcome: 'waiting', endedAt: someTime, closedAt: someTime } as const
  yield* tx.run.insert(runRow({ taskId: 'closed', ...closed }))
  yield* plantEntries(tx)
  yield* plantEdges(tx)
  yield* tx.branch.insert(branchRow({ name: 'task/root', taskId: 'root' }))
  yield* tx.branch.insert(branchRow({ name: 'task/root/ben', parent: 'task/root', agentId: 'ben' }))
  yield* tx.team.insert(teamRow({ taskId: 'root', branch: 'task/root' }))
  const stint = { taskId: 'root', agentId: 'ben', branch: 'task/root/ben', workerId: 'member' }
  yield* tx.team.insertStint(stintRow(stint))
}

/** Entries of each kind and state, in tasks with and without an open run. */
function* plantEntries(tx: Tx): Op<void> {
  for (const taskId of ['running', 'ending', 'closed', 'member', 'claimed']) {
    const entries = [
      { id: 'in-flight', details: { pid: 7 } },
      { id: 'announced', startMessageId: `msg-${taskId}-announced-start` },
      { id: 'begins-later', status: 'pending' },
      { id: 'ended', status: 'completed', result: 1 },
      { id: 'question', kind: 'ask', status: 'pending', dueAt: someTime + 70 },
      { id: 'sleep', kind: 'sleep', status: 'pending', dueAt: someTime + 80 },
      { id: 'wait', kind: 'wait', status: 'pending', params: { ids: ['elsewhere'], mode: 'all', settled: true } },
    ] as const
    for (const { id, ...entry } of entries) {
      yield* tx.call.insert(callRow({ id: `call-${taskId}-${id}`, ident: id, taskId, ...entry }))
    }
    const waits = edgeRow({ taskId, blockerId: 'elsewhere', kind: 'wait', callId: `call-${taskId}-wait` })
    yield* tx.dependency.insert(waits)
  }
  const params = { ids: ['claimed'], mode: 'all', settled: true }
  const waits = { taskId: 'waits-for-it', kind: 'wait', status: 'pending', params } as const
  yield* tx.call.insert(callRow({ id: 'call-outside', ...waits }))
}

function* plantEdges(tx: Tx): Op<void> {
  yield* tx.dependency.insert(edgeRow({ taskId: 'stuck', blockerId: 'failed' }))
  yield* tx.dependency.insert(edgeRow({ taskId: 'canceled-with-it', blockerId: 'running' }))
  yield* tx.dependency.insert(edgeRow({ taskId: 'ignores-it', blockerId: 'below-completed' }))
  yield* tx.dependency.insert(edgeRow({ taskId: 'stuck-behind-it', blockerId: 'input_required' }))
  const waits = edgeRow({ taskId: 'waits-for-it', blockerId: 'claimed', kind: 'wait', callId: 'call-outside' })
  yield* tx.dependency.insert(waits)
}

/** Children before their parents, so that nothing is left for the set statement. */
function* cancelOneByOne(tx: Tx): Op<void> {
  const cascade = new Cascade()
  const ids = ['root', ...below.map(({ id }) => id)].reverse()
  for (const id of ids) {
    const task = (yield* tx.task.get(id)) as TaskRecord
    if (!statesAccepting('cancel').includes(task.status)) continue
    yield* sendEvent(tx, task, { type: 'cancel', set: { statusReason: reason } }, cascade, ctx)
  }
  yield* followUp(tx, cascade, ctx)
}

const tables = ['task', 'dependency', 'run', 'call', 'message', 'observation', 'team', 'stint', 'branch']

/**
 * All rows after a step, and the events of each task and type in their order: all ends of a set stand before those of its calls. The
 * events of a cascade name its origin, in place of the team.
 */
async function after(decide: (tx: Tx) => Op<void>) {
  const file = ledgerFile()
  const ledger = await openLedger(file)
  const db = new Database(file, { readonly: true })
  onTestFinished(async () => {
    db.close()
    await ledger.close()
  })
  await ledger.step({ name: 'plant', decide: plant })
  await ledger.step({ name: 'cancel', decide })
  const rows = tables.map((table) => [
    table,
    db.prepare(`select * from "${table}" order by 1, 2`).all().map(withoutPlace),
  ])
  const events: Record<string, unknown[]> = {}
  for (const { type, task_id, ...event } of db.prepare('select * from event order by seq').all() as StoredEvent[]) {
    const { cascadedFrom: _from, run: _run, team: _team, ...data } = JSON.parse(event.data) as Record<string, unknown>
    events[`${task_id} ${type}`] ??= []
    events[`${task_id} ${type}`]?.push({ ...event, seq: 0, data })
  }
  return { rows: Object.fromEntries(rows) as object, events }
}

interface StoredEvent {
  type: string
  task_id: string
  data: string
}

/** Messages of several tasks have other places among each other. */
function withoutPlace(row: unknown): object {
  return { ...(row as object), seq: 0 }
}

it('tasks that are canceled with their ancestor leave the rows and events that they would leave one by one', async () => {
  const singly = await after(cancelOneByOne)
  expect(await after(cancel('root', reason, ctx).decide)).toEqual(singly)
  expect(Object.keys(singly.events).filter((key) => key.endsWith('task.canceled')).length).toBeGreaterThan(20)
})

/** Of each action of the machine on a cancel, what the set statements do in its place, and what leaves it out. */
const omissions: Record<string, [text: string, instead: string]> = {
  endRun: [`where status in ('live', 'parked', 'queued')`, `where status in ()`],
  closeEntries: ['order by call.seq', 'limit 0'],
  clearTimer: ['not_before = null,', ''],
  clearStuck: ['stuck_by = null,', ''],
  record: ['version = version + 1', 'version = version'],
  settleFamily: ['edge.satisfied_at is null', 'edge.satisfied_at is not null'],
  cancelBelow: ['task.parent_id = below.id', 'task.parent_id = below.id and false'],
}

/** The compiler, with another text in the statements that have it. */
function altered([text, instead]: [string, string]): StatementCompiler {
  const compiler = createCompiler(sqliteDialect)
  const alter =
    (prepared: Statement): Statement =>
    () => ({ ...prepared(), sql: prepared().sql.replace(text, instead) })
  return { ...compiler, prepareText: (...given) => alter(compiler.prepareText(...given)) }
}

it.each(Object.keys(omissions))('a set statement without what %s does leaves something else', async (action) => {
  const cascade = createCascadeTable(altered(omissions[action] as [string, string]))
  const faulty = await after((tx) => cancel('root', reason, ctx).decide({ ...tx, cascade }))
  expect(faulty).not.toEqual(await after(cancelOneByOne))
})

it('each action of a cancel is left out in turn', () => {
  const named = (action: unknown): string => (typeof action === 'string' ? action : (action as { type: string }).type)
  const actions = statesAccepting('cancel').flatMap((status) => {
    const { exit, on } = taskMachine.states[status] as AnyStateNode
    return [...exit, ...(on['cancel']?.flatMap((edge) => edge.actions) ?? [])].map(named)
  })
  expect(new Set(actions)).toEqual(new Set(Object.keys(omissions)))
})
