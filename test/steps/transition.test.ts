// Every edge of the table moves the row, closes what must be closed, adds its event and settles the family: by construction, because
// one function walks them all. Each part is taken out of it in turn, and the laws must notice for every edge that has it.
import { describe, expect, it } from 'vitest'
import { isSettled, type TaskRecord, taskStatuses } from '../../src/entities/task.ts'
import type { Ledger, NewTask, Tx } from '../../src/ledger/ledger.ts'
import { acceptedEvents, nextStatus, type TaskEventName } from '../../src/machines/task-machine.ts'
import { transition } from '../../src/steps/transition.ts'
import { callRow, openLedger, runRow, someTime } from '../../src/testing/index.ts'
import { whole } from './whole-row.ts'

const ctx = { at: someTime + 1, instanceId: 'engine-1' }
const error = { code: 'BROKEN', message: 'it broke' }

const edges = taskStatuses.flatMap((from) => acceptedEvents(from).map((event) => ({ from, event })))
type Place = (typeof edges)[number]

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
 * A group with one task in it, in the state that the edge leaves, with a question open; one task comes after it and is canceled with
 * it, one is below it. From WORKING it has a live run, elsewhere it is worked on by hand and its child has been completed.
 */
function* build(tx: Tx, { from }: Place) {
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

/** What the walk of an edge has left undone, in words; in the order row, event, closing, family. */
async function complaintsOf(place: Place, spoil: (tx: Tx) => Tx = (tx) => tx): Promise<string[]> {
  const ledger = await openLedger(':memory:')
  try {
    await ledger.step({ name: 'build', decide: (tx) => build(tx, place) })
    await ledger.step({
      name: place.event,
      *decide(tx) {
        const task = (yield* tx.task.get('task')) as TaskRecord
        const set = place.event === 'fail' ? { error } : {}
        yield* transition(spoil(tx), task, place.event, ctx, { set })
      },
    })
    return await inspect(ledger, place)
  } finally {
    await ledger.close()
  }
}

async function inspect(ledger: Ledger, { from, event }: Place): Promise<string[]> {
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
  const walked = found.events[0]
  const said = (complaint: string, isTrue: boolean): string[] => (isTrue ? [complaint] : [])
  // Worked on by hand, with a child that has been completed, it is completed as soon as it goes on.
  const then = to === 'working' ? 'completed' : to
  const groupThen = { completed: 'completed', failed: 'failed', canceled: 'failed' }[then as string]
  return [
    ...said('row', found.task.status !== then),
    ...said('event', walked?.type !== eventTypes[event] || walked.data.from !== from),
    ...said('closing of the run', from === 'working' && found.run?.status !== 'ending'),
    ...said('closing of the question', ends && found.question?.status !== 'failed'),
    ...said('family above', groupThen !== undefined && found.group.status !== groupThen),
    ...said('family above', event === 'retry' && found.group.status !== 'submitted'),
    ...said('family below', to === 'canceled' && !isSettled(found.child.status)),
    ...said('family beside', then === 'completed' && found.after.openBlockers !== 0),
    ...said('family beside', ends && then !== 'completed' && found.after.status !== 'canceled'),
  ]
}

// oxlint-disable-next-line require-yield
function* nothing(): Generator<never, void, any> {}

function without<K extends keyof Tx>(tx: Tx, table: K, verb: keyof Tx[K]): Tx {
  return { ...tx, [table]: { ...tx[table], [verb]: nothing } }
}

/** A walk without one of its parts, and the complaint that must follow wherever the part has work. */
const omissions: Record<string, { spoil: (tx: Tx) => Tx; complaint: RegExp; concerns: (place: Place) => boolean }> = {
  'without its row': { spoil: (tx) => without(tx, 'task', 'save'), complaint: /row/, concerns: () => true },
  'without its event': { spoil: (tx) => without(tx, 'event', 'append'), complaint: /event/, concerns: () => true },
  'without the end of its run': {
    spoil: (tx) => without(tx, 'run', 'save'),
    complaint: /closing of the run/,
    concerns: ({ from }) => from === 'working',
  },
  'without the end of its questions': {
    spoil: (tx) => without(tx, 'call', 'save'),
    complaint: /closing of the question/,
    concerns: ({ from, event }) => !isSettled(from) && isSettled(nextStatus(from, event) as TaskRecord['status']),
  },
  'without its family': {
    spoil: unrelated,
    complaint: /family|row/,
    // What only rests sets nothing off.
    concerns: ({ event }) => !['pause', 'ask', 'wait'].includes(event),
  },
}

/** The task has no relatives that the walk could see. */
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

describe.each(edges)('the edge $event from $from', (place) => {
  it('moves the row, ends what must end, adds its event and settles the family', async () => {
    expect(await complaintsOf(place)).toEqual([])
  })

  it.each(Object.entries(omissions).filter(([, { concerns }]) => concerns(place)))(
    'is noticed %s',
    async (_how, part) => {
      expect((await complaintsOf(place, part.spoil)).join(', ')).toMatch(part.complaint)
    },
  )
})
