// Every transition of the table updates the row, closes its run and questions, appends its event and settles the family, because one function
// does all of them. Each part is removed from that function in turn, and the checks must find that for every transition that has the part.
import { describe, expect, it } from 'vitest'
import { isSettled, type TaskRecord, taskStatuses } from '../../../src/entities/task.ts'
import type { Ledger, NewTask, Tx } from '../../../src/ledger/ledger.ts'
import { acceptedEvents, nextStatus } from '../../../src/machines/task-edges.ts'
import type { TaskEventName } from '../../../src/machines/task-machine.ts'
import { transition } from '../../../src/operations/steps/transition.ts'
import { openLedger } from '../../../src/testing/index.ts'
import { callRow, runRow, someTime } from '../../ledger/factories.ts'
import { whole } from './whole-row.ts'

const ctx = { at: someTime + 1, instanceId: 'engine-1' }
const error = { code: 'BROKEN', message: 'it broke' }

const edges = taskStatuses.flatMap((from) => acceptedEvents(from).map((event) => ({ from, event })))
type Edge = (typeof edges)[number]

const eventTypes: Record<TaskEventName, string> = {
  start: 'task.started',
  resume: 'task.started',
  answer: 'task.started',
  unblock: 'task.started',
  pause: 'task.paused',
  ask: 'task.input_required',
  wait: 'task.waiting',
  complete: 'task.completed',
  fail: 'task.failed',
  cancel: 'task.canceled',
  retry: 'task.retried',
}

/**
 * A group with one task, in the state that the transition leaves, with an open question; one task depends on it and is canceled with it, one
 * is its child. From WORKING it has a live run; otherwise it has no executor, and its child is completed.
 */
function* build(tx: Tx, { from }: Edge) {
  const settled = isSettled(from)
  const running = from === 'working'
  const groupStatus = from === 'submitted' ? 'submitted' : settled ? from : 'working'
  const rows = [
    whole({ id: 'group', group: true, childCount: 1, ...stateOf(groupStatus) }),
    whole({
      id: 'task',
      parentId: 'group',
      depth: 1,
      childCount: 1,
      policy: { autoComplete: true },
      ...(running ? { executor: 'work', run: 1, runOpen: true } : {}),
      ...stateOf(from),
    }),
    whole({ id: 'child', parentId: 'task', depth: 2, ...(running ? {} : stateOf('completed')) }),
    whole({ id: 'after', openBlockers: 1, policy: { onDependencyFailure: 'cancel' } }),
  ]
  for (const row of rows) yield* tx.task.insert(row)
  yield* tx.dependency.insert({
    taskId: 'after',
    blockerId: 'task',
    kind: 'after',
    callId: '',
    satisfiedAt: null,
    createdAt: someTime,
  })
  if (running) yield* tx.run.insert(runRow({ taskId: 'task' }))
  if (!settled) yield* tx.call.insert(callRow({ id: 'question', taskId: 'task', kind: 'ask', status: 'pending' }))
}

function stateOf(status: TaskRecord['status']): Partial<NewTask> {
  return {
    status,
    completedAt: isSettled(status) ? someTime : null,
    ...(status === 'failed' ? { error } : {}),
  }
}

/** The parts that a transition has omitted, in the order row, event, closing, family. */
async function complaintsOf(edge: Edge, fault: (tx: Tx) => Tx = (tx) => tx): Promise<string[]> {
  const ledger = await openLedger(':memory:')
  try {
    await ledger.step({ name: 'build', decide: (tx) => build(tx, edge) })
    await ledger.step({
      name: edge.event,
      *decide(tx) {
        const task = (yield* tx.task.get('task')) as TaskRecord
        const set = edge.event === 'fail' ? { error } : {}
        yield* transition(fault(tx), task, edge.event, ctx, { set })
      },
    })
    return await inspect(ledger, edge)
  } finally {
    await ledger.close()
  }
}

async function inspect(ledger: Ledger, { from, event }: Edge): Promise<string[]> {
  const found = await ledger.read(function* (tx) {
    const task = (yield* tx.task.get('task')) as TaskRecord
    const group = (yield* tx.task.get('group')) as TaskRecord
    const child = (yield* tx.task.get('child')) as TaskRecord
    const after = (yield* tx.task.get('after')) as TaskRecord
    const run = yield* tx.run.get('task', 1)
    const question = yield* tx.call.get('question')
    const events = yield* tx.event.after(0, 100, 'task')
    return { task, group, child, after, run, question, events }
  })
  const to = nextStatus(from, event) as TaskRecord['status']
  const ends = isSettled(to)
  const first = found.events[0]
  const when = (complaint: string, isTrue: boolean): string[] => (isTrue ? [complaint] : [])
  // Without an executor and with a completed child, it is completed as soon as it works.
  const then = to === 'working' ? 'completed' : to
  const groupThen = { completed: 'completed', failed: 'failed', canceled: 'failed' }[then as string]
  return [
    ...when('row', found.task.status !== then),
    ...when('event', first?.type !== eventTypes[event] || first.data.from !== from),
    ...when('closing of the run', from === 'working' && found.run?.status !== 'ending'),
    ...when('closing of the question', ends && found.question?.status !== 'failed'),
    ...when('family above', groupThen !== undefined && found.group.status !== groupThen),
    ...when('family above', event === 'retry' && found.group.status !== 'submitted'),
    ...when('family below', to === 'canceled' && !isSettled(found.child.status)),
    ...when('dependents', then === 'completed' && found.after.openBlockers !== 0),
    ...when('dependents', ends && then !== 'completed' && found.after.status !== 'canceled'),
  ]
}

function* nothing(): Generator<never, void, any> {}

function without<K extends keyof Tx>(tx: Tx, table: K, verb: keyof Tx[K]): Tx {
  return { ...tx, [table]: { ...tx[table], [verb]: nothing } }
}

/** Transitions without one part, and the complaint that must follow for every edge that the part concerns. */
const omissions: Record<string, { fault: (tx: Tx) => Tx; complaint: RegExp; concerns: (edge: Edge) => boolean }> = {
  'without its row': { fault: (tx) => without(tx, 'task', 'save'), complaint: /row/, concerns: () => true },
  'without its event': { fault: (tx) => without(tx, 'event', 'append'), complaint: /event/, concerns: () => true },
  'without the end of its run': {
    fault: (tx) => without(tx, 'run', 'save'),
    complaint: /closing of the run/,
    concerns: ({ from }) => from === 'working',
  },
  'without the end of its questions': {
    fault: (tx) => without(tx, 'call', 'save'),
    complaint: /closing of the question/,
    concerns: ({ from, event }) => !isSettled(from) && isSettled(nextStatus(from, event) as TaskRecord['status']),
  },
  'without its family': {
    fault: unrelated,
    complaint: /family|dependents|row/,
    // These transitions do not affect the family.
    concerns: ({ event }) => !['pause', 'ask', 'wait'].includes(event),
  },
}

/** Hides the relatives of the task. */
function unrelated(tx: Tx): Tx {
  const none = function* <T>(): Generator<never, T[], any> {
    return []
  }
  return {
    ...tx,
    task: {
      ...tx.task,
      *get(id) {
        const task = yield* tx.task.get(id)
        return id === 'task' ? task : undefined
      },
      *childFacts() {
        return { any: false, live: false, movable: false, stuck: null, broken: null }
      },
    },
    dependency: { ...tx.dependency, dependents: none },
    cascade: { ...tx.cascade, cancel: nothing as Tx['cascade']['cancel'] },
  }
}

describe.each(edges)('the transition $event from $from', (edge) => {
  it(`the transition ${edge.event} from ${edge.from} updates the row, closes run and questions, appends its event and settles the family`, async () => {
    expect(await complaintsOf(edge)).toEqual([])
  })

  it.each(Object.entries(omissions).filter(([, { concerns }]) => concerns(edge)))(
    `the checks find the transition ${edge.event} from ${edge.from} %s`,
    async (_how, part) => {
      expect((await complaintsOf(edge, part.fault)).join(', ')).toMatch(part.complaint)
    },
  )
})
