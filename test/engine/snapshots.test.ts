// The engine reads one consistent state, although another process commits in the middle of the read: nothing is lost
// between two statements, neither in the counts of the status nor in the stream of a task.
import { expect, it, onTestFinished } from 'vitest'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Op, Reads, Tx } from '../../src/ledger/ledger.ts'
import { openLedger, SimulatedClock } from '../../src/testing/index.ts'
import { eventRow, messageRow, someTime, taskRow } from '../ledger/factories.ts'
import { openSecondConnection } from '../ledger/sqlite/second-connection.ts'
import { collect, deferred, ledgerFile, openEngine } from './world.ts'

/** An engine with work: false whose reads use `altered` verbs, and a second connection that commits. */
async function setup(altered: (tx: Reads, commit: (work: (tx: Tx) => Op<unknown>) => void) => Partial<Reads>) {
  const file = ledgerFile()
  const clock = new SimulatedClock()
  const inner = await openLedger(file, clock)
  onTestFinished(() => inner.close())
  const commit = openSecondConnection(file)
  const ledger = delegateLedger(inner, {
    read: (query) => inner.read((tx) => query({ ...tx, ...altered(tx, commit) } as Reads)),
  })
  return { clock, commit, engine: await openEngine({ ledger, clock, work: false }) }
}

it('the status counts a task that another process creates while the tasks are being counted', async () => {
  let created = false
  const { clock, engine } = await setup((tx, commit) => ({
    task: {
      ...tx.task,
      *countByStatus() {
        const counts = yield* tx.task.countByStatus()
        if (!created) {
          created = true
          commit(function* (beside) {
            yield* beside.task.insert(taskRow({ id: 'theirs' }))
            yield* beside.event.append(
              eventRow({ taskId: 'theirs', type: 'task.created', data: { status: 'submitted' } }),
            )
          })
        }
        return counts
      },
    },
  }))
  const { status } = engine
  const both = deferred()
  const look = () =>
    status.get().context.lastEvent?.taskId === 'theirs' && status.get().context.counted && both.resolve()
  status.subscribe(look)
  await engine.list()
  clock.increment(20)
  await both.promise
  expect(status.get().context.tasks.submitted).toBe(1)
  expect((await engine.list({ status: 'submitted', limit: 0 })).total).toBe(1)
})

it('a stream yields the last message and the end of a task that completes while the stream is being read', async () => {
  let watched = ''
  const { clock, commit, engine } = await setup((tx, beside) => ({
    event: {
      ...tx.event,
      *pageAfter(seq: number, limit: number, taskId?: string) {
        const page = yield* tx.event.pageAfter(seq, limit, taskId)
        if (taskId !== undefined && taskId === watched && page.rows.length === 0) {
          watched = ''
          beside(function* (other) {
            const task = yield* other.task.get(taskId)
            if (task === undefined) throw new Error('no task')
            yield* other.message.append(messageRow({ id: 'm', taskId, content: 'the answer' }))
            yield* other.event.append(eventRow({ taskId, type: 'message.appended', data: { messageId: 'm' } }))
            yield* other.task.save({ ...task, status: 'completed', completedAt: someTime })
            const data = { from: 'working', status: 'completed' }
            yield* other.event.append(eventRow({ taskId, type: 'task.completed', data }))
          })
        }
        return page
      },
    },
  }))
  commit(function* (tx) {
    yield* tx.task.insert(taskRow({ id: 'a', status: 'working' }))
    yield* tx.event.append(eventRow({ taskId: 'a', type: 'task.created', data: { name: 'a' } }))
  })
  watched = 'a'
  const items = collect(engine.stream('a'))
  while (watched !== '') await new Promise(setImmediate)
  clock.increment(20)
  expect((await items).map((item) => (item.type === 'message' ? 'the answer' : item.type))).toEqual([
    'start',
    'the answer',
    'state',
    'end',
  ])
})
