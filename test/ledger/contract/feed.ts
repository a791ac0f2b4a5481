// The feed: all readers see events in the order of commits, regardless of clocks.
import type { EventType } from '../../../src/entities/event.ts'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { eventRow, messageRow, someTime, taskRow } from '../factories.ts'
import { appended, idsIn, type Theme, write } from './contract-world.ts'

/** Inserts tasks, and appends an event of each in turn; the positions of the events. */
const eventsOf = (ledger: Ledger, ...taskIds: string[]) =>
  write(ledger, function* (tx) {
    for (const id of new Set(taskIds)) yield* tx.task.insert(taskRow({ id }))
    const seqs: number[] = []
    for (const taskId of taskIds) seqs.push(yield* appended(tx, eventRow({ taskId })))
    return seqs
  })

export const feed: Theme = ({ describe, proves, expect }) => {
  describe('the feed', () => {
    proves('the feed is read from a position on, for all tasks or one, up to a limit', async (ledger) => {
      const seqs = await eventsOf(ledger, 'a', 'b', 'a', 'b', 'a')
      const following = async (seq: number, limit: number, taskId?: string) =>
        (await ledger.read((tx) => tx.event.after(seq, limit, taskId))).map((event) => event.seq)
      expect(await following(0, 10)).toEqual(seqs)
      expect(await following(seqs[1] as number, 2)).toEqual([seqs[2], seqs[3]])
      expect(await following(seqs[0] as number, 10, 'a')).toEqual([seqs[2], seqs[4]])
      expect(await following(seqs[4] as number, 10)).toEqual([])
      expect(await ledger.read((tx) => tx.event.last())).toBe(seqs[4])
    })

    proves('the feed is read backwards from a position, for all tasks or one', async (ledger) => {
      const seqs = await eventsOf(ledger, 'a', 'b', 'a', 'b')
      const back = async (seq: number, limit: number, taskId?: string) =>
        (await ledger.read((tx) => tx.event.before(seq, limit, taskId))).map((event) => event.seq)
      expect(await back((seqs[3] as number) + 1, 2)).toEqual([seqs[3], seqs[2]])
      expect(await back(seqs[3] as number, 9)).toEqual([seqs[2], seqs[1], seqs[0]])
      expect(await back(seqs[3] as number, 9, 'b')).toEqual([seqs[1]])
      expect(await back(seqs[0] as number, 9)).toEqual([])
    })

    proves(
      'starts and ends are counted by time, without system tasks and failures before another attempt',
      async (ledger) => {
        await write(ledger, function* (tx) {
          yield* tx.task.insert(taskRow({ id: 'a' }))
          for (const [type, at, data] of [
            ['task.created', 100, {}],
            ['task.started', 107, {}],
            ['task.failed', 109, { willRetry: true }],
            ['task.started', 110, {}],
            ['task.failed', 125, { willRetry: false }],
            ['task.completed', 126, { system: true }],
            ['task.completed', 130, {}],
          ] as const) {
            yield* tx.event.append(eventRow({ taskId: 'a', type, at, data: { name: 'a', ...data } }))
          }
        })
        const counts = await ledger.read((tx) => tx.event.counts(100, 130, 10))
        expect(counts.toSorted((a, b) => a.bucket - b.bucket)).toEqual([
          { type: 'task.started', bucket: 0, events: 1 },
          { type: 'task.started', bucket: 1, events: 1 },
          { type: 'task.failed', bucket: 2, events: 1 },
        ])
        expect(await ledger.read((tx) => tx.event.waits(100, 130, 9))).toEqual([1, 7])
        expect(await ledger.read((tx) => tx.event.waits(100, 130, 1))).toEqual([1])
      },
    )

    proves('asOf returns the tasks as of a position, with those deleted since', async (ledger) => {
      const seqs = await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a', status: 'working' }))
        yield* tx.task.insert(taskRow({ id: 'b', status: 'completed', completedAt: someTime }))
        yield* tx.task.insert(taskRow({ id: 'c', deletedAt: someTime }))
        const seqs: number[] = []
        for (const [taskId, type, status] of [
          ['a', 'task.created', 'submitted'],
          ['b', 'task.created', 'submitted'],
          ['c', 'task.created', 'submitted'],
          ['b', 'task.started', 'working'],
          ['c', 'task.deleted', 'submitted'],
          ['a', 'task.started', 'working'],
          ['c', 'run.closed', 'canceled'],
        ] as const) {
          seqs.push(yield* appended(tx, eventRow({ taskId, type, data: { name: taskId, status } })))
        }
        return seqs
      })
      const at = async (n: number, ids?: string[]) =>
        (await ledger.read((tx) => tx.task.asOf(seqs[n] as number, 10, 0, ids))).map(({ task, event }) => [
          task.id,
          event.data['status'],
        ])
      expect(await at(0)).toEqual([['a', 'submitted']])
      expect(await at(3)).toEqual([
        ['a', 'submitted'],
        ['b', 'working'],
        ['c', 'submitted'],
      ])
      expect(await at(4)).toEqual([
        ['a', 'submitted'],
        ['b', 'working'],
      ])
      expect(await at(5, ['a', 'c'])).toEqual([['a', 'working']])
      // A run closes after its task was deleted; the task stays deleted.
      expect(await at(6, ['a', 'c'])).toEqual([['a', 'working']])
      const [, second] = await ledger.read((tx) => tx.task.asOf(seqs[3] as number, 10, 0))
      expect((await ledger.read((tx) => tx.task.asOf(seqs[3] as number, 1, second?.task.seq ?? 0))).length).toBe(1)
    })

    proves('latestOf returns the latest events of a type of a task, latest first', async (ledger) => {
      const seqs = await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a' }))
        const first = yield* appended(tx, eventRow({ taskId: 'a', type: 'task.started' }))
        const second = yield* appended(tx, eventRow({ taskId: 'a', type: 'task.started' }))
        yield* tx.event.append(eventRow({ taskId: 'a', type: 'task.paused' }))
        return [first, second]
      })
      const latestOf = async (task: string, type: EventType, limit: number) =>
        (await ledger.read((tx) => tx.event.latestOf(task, type, limit))).map(({ seq }) => seq)
      expect(await latestOf('a', 'task.started', 1)).toEqual([seqs[1]])
      expect(await latestOf('a', 'task.started', 9)).toEqual([seqs[1], seqs[0]])
      expect(await latestOf('a', 'task.failed', 9)).toEqual([])
      expect(await latestOf('b', 'task.started', 9)).toEqual([])
    })

    proves('the feed of an empty ledger is empty', async (ledger) => {
      expect(await ledger.read((tx) => tx.event.last())).toBe(0)
      expect(await ledger.read((tx) => tx.event.after(0, 10))).toEqual([])
    })

    proves(
      'X-041 the feed and every list keep their order when the clock stands still or goes back',
      async (ledger) => {
        const times = [someTime, someTime, someTime - 3_600_000, someTime + 1, 0]
        for (const [n, at] of times.entries()) {
          await write(ledger, function* (tx) {
            yield* tx.task.insert(taskRow({ id: `task-${n}`, createdAt: at, executor: 'x', ready: true }))
            yield* tx.event.append(eventRow({ taskId: `task-${n}`, at }))
            yield* tx.message.append(messageRow({ id: `message-${n}`, taskId: 'task-0', timestamp: at }))
          })
        }
        const expected = times.map((_, n) => `task-${n}`)
        expect((await ledger.read((tx) => tx.event.after(0, 10))).map((event) => event.taskId)).toEqual(expected)
        expect(await idsIn(ledger, (tx) => tx.task.list({}, 10))).toEqual(expected)
        expect(await idsIn(ledger, (tx) => tx.task.ready('x', '', 10))).toEqual(expected)
        const messages = await ledger.read((tx) => tx.message.list('task-0'))
        expect(messages.map((message) => message.timestamp)).toEqual(times)
      },
    )
  })
}
