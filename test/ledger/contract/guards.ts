// Guards: the invalid writes that the tables refuse from any writer, so that a wrong step cannot damage a ledger.
import type { TaskStatus } from '../../../src/entities/task.ts'
import type { Op, Tx } from '../../../src/ledger/ledger.ts'
import { callRow, edgeRow, eventRow, messageRow, runRow, signalRow, someTime, taskRow } from '../factories.ts'
import { inserted, type Theme, write } from './contract-world.ts'

const settled = (status: TaskStatus) => taskRow({ id: 'a', status, completedAt: someTime })

function* thenSave(tx: Tx, from: ReturnType<typeof taskRow>, to: TaskStatus): Op<void> {
  const task = { ...from, seq: yield* inserted(tx, from) }
  yield* tx.task.save({ ...task, status: to, completedAt: to === 'submitted' ? null : someTime })
}

function* saveCall(
  tx: Tx,
  from: Partial<ReturnType<typeof callRow>>,
  to: Partial<ReturnType<typeof callRow>>,
): Op<void> {
  yield* tx.task.insert(taskRow({ id: 'a' }))
  yield* tx.call.insert(callRow({ id: 'c', taskId: 'a', ...from }))
  yield* tx.call.save(callRow({ id: 'c', taskId: 'a', ...to }))
}

/** The work on a ledger that holds the task `a`. */
const withTask = (work: (tx: Tx) => Op<unknown>) =>
  function* (tx: Tx): Op<void> {
    yield* tx.task.insert(taskRow({ id: 'a' }))
    yield* work(tx)
  }

const failure = { status: 'failed' as const, error: { code: 'CALL_FAILED', message: 'no' } }

const refused: Record<string, (tx: Tx) => Op<unknown>> = {
  'a completed task in another state': (tx) => thenSave(tx, settled('completed'), 'submitted'),
  'a completed task canceled': (tx) => thenSave(tx, settled('completed'), 'canceled'),
  'a canceled task in another state': (tx) => thenSave(tx, settled('canceled'), 'submitted'),
  'a canceled task completed': (tx) => thenSave(tx, settled('canceled'), 'completed'),
  'a task in an unknown state': (tx) => tx.task.insert(taskRow({ id: 'a', status: 'asleep' as TaskStatus })),
  'a settled task without its time': (tx) => tx.task.insert(taskRow({ id: 'a', status: 'failed' })),
  'a live task with a time of its end': (tx) => tx.task.insert(taskRow({ id: 'a', completedAt: 1 })),
  'a ready task without an executor': (tx) => tx.task.insert(taskRow({ id: 'a', ready: true })),
  'a ready task with an open run': (tx) =>
    tx.task.insert(taskRow({ id: 'a', ready: true, executor: 'x', runOpen: true })),
  'a ready task that is blocked': (tx) =>
    tx.task.insert(taskRow({ id: 'a', ready: true, executor: 'x', openBlockers: 1 })),
  'a task that is its own parent': (tx) => tx.task.insert(taskRow({ id: 'a', parentId: 'a' })),
  'a child of an unknown parent': (tx) => tx.task.insert(taskRow({ id: 'a', parentId: 'missing' })),
  'a task before its first attempt': (tx) => tx.task.insert(taskRow({ id: 'a', attempt: 0 })),
  'two tasks of one id': withTask((tx) => tx.task.insert(taskRow({ id: 'a' }))),
  'two tasks of one key': function* (tx) {
    yield* tx.task.insert(taskRow({ id: 'a', key: 'k' }))
    yield* tx.task.insert(taskRow({ id: 'b', key: 'k' }))
  },
  'an edge to itself': withTask((tx) => tx.dependency.insert(edgeRow({ taskId: 'a', blockerId: 'a' }))),
  'an edge to an unknown blocker': withTask((tx) =>
    tx.dependency.insert(edgeRow({ taskId: 'a', blockerId: 'missing' })),
  ),
  'a signal of an unknown task': (tx) => tx.signal.insert(signalRow({ taskId: 'missing' })),
  'a signal that was taken twice': withTask(function* (tx) {
    const seq = yield* tx.signal.insert(signalRow({ taskId: 'a' }))
    yield* tx.signal.take({ taskId: 'a', seq }, 'call-1')
    yield* tx.signal.take({ taskId: 'a', seq }, 'call-2')
  }),
  'two signals that one wait took': withTask(function* (tx) {
    for (let n = 0; n < 2; n++) {
      yield* tx.signal.insert(signalRow({ taskId: 'a', payload: null, takenBy: 'call-1' }))
    }
  }),
  'two signals of one name that were sent with one id': withTask(function* (tx) {
    for (let n = 0; n < 2; n++) yield* tx.signal.insert(signalRow({ taskId: 'a', sentId: 'evt-1' }))
  }),
  'a run of an unknown task': (tx) => tx.run.insert(runRow({ taskId: 'missing' })),
  'a run that has ended without an outcome': function* (tx) {
    yield* tx.task.insert(taskRow({ id: 'a' }))
    yield* tx.run.insert(runRow({ taskId: 'a' }))
    yield* tx.run.save({ ...runRow({ taskId: 'a' }), status: 'closed', endedAt: 1, closedAt: 1 })
  },
  'a completed call failed': (tx) => saveCall(tx, { status: 'completed' }, failure),
  'a failed call completed': (tx) => saveCall(tx, failure, { status: 'completed' }),
  'a failed call in progress again': (tx) => saveCall(tx, failure, { status: 'in_progress' }),
  'a call in progress pending again': (tx) => saveCall(tx, { status: 'in_progress' }, { status: 'pending' }),
  'a failed call without an error': (tx) => saveCall(tx, {}, { status: 'failed' }),
  'a completed call that is due': (tx) => saveCall(tx, {}, { status: 'completed', dueAt: 1 }),
  'a call of an unknown kind': (tx) => saveCall(tx, { kind: 'prayer' as never }, {}),
  'a message of an unknown role': withTask((tx) =>
    tx.message.append(messageRow({ id: 'm', taskId: 'a', role: 'prophet' as never })),
  ),
  'an event about an unknown task': (tx) => tx.event.append(eventRow({ taskId: 'missing' })),
}

export const guards: Theme = ({ describe, proves, expect }) => {
  describe('the tables refuse', () => {
    for (const [title, work] of Object.entries(refused)) {
      proves(`the tables refuse ${title}`, async (ledger) => {
        await expect(write(ledger, work)).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
        expect(await ledger.read((tx) => tx.task.count({}))).toBe(0)
      })
    }

    proves('S0-022 the tables refuse a message with a used id, and the stored text stays', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a' }))
        yield* tx.message.append(messageRow({ id: 'm', taskId: 'a', content: 'first' }))
      })
      const again = write(ledger, (tx) => tx.message.append(messageRow({ id: 'm', taskId: 'a', content: 'second' })))
      await expect(again).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
      expect((await ledger.read((tx) => tx.message.list('a'))).map((message) => message.content)).toEqual(['first'])
    })
  })

  describe('the tables allow', () => {
    proves('the tables allow retrying a failed task, and saving a settled one in its state', async (ledger) => {
      await write(ledger, (tx) => thenSave(tx, settled('failed'), 'submitted'))
      await write(ledger, (tx) => thenSave(tx, { ...settled('canceled'), id: 'b' }, 'canceled'))
      expect((await ledger.read((tx) => tx.task.list({}, 9))).map((task) => task.status)).toEqual([
        'submitted',
        'canceled',
      ])
    })
  })
}
