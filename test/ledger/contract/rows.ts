// Rows: each is read as it was written, field by field, and each method of saving writes only its own fields.

import type { NewTask } from '../../../src/ledger/ledger.ts'
import { callRow, edgeRow, eventRow, messageRow, runRow, someTime, taskRow } from '../factories.ts'
import { appended, inserted, type Theme, write } from './contract-world.ts'

const json = { list: [1, 2.5, -0.1, true, null, 'x'], deep: { '': {}, 'a.b': [] }, big: 2 ** 53 - 1 }

/** Without default values. */
const fullTask: NewTask = taskRow({
  id: 'task-full',
  key: 'round/1',
  name: 'A name',
  goal: 'A goal',
  description: 'Two\nlines',
  status: 'failed',
  statusReason: 'it broke',
  group: true,
  held: true,
  executor: 'resize',
  input: json,
  result: json,
  error: { code: 'TASK_FAILED', message: 'broken', details: { at: 3 }, final: true },
  priority: -7,
  parentId: 'parent',
  owner: 'ana',
  attempt: 2,
  run: 3,
  runOpen: true,
  openBlockers: 4,
  madeBelow: 12,
  wakes: 5,
  crashes: 6,
  notBefore: someTime + 7,
  policy: { retry: { maxAttempts: 3, backoffMs: 10, backoff: 'exponential' }, timeoutMs: 9, onInterrupt: 'ask' },
  metadata: { team: 'a', nested: json },
  snapshot: '{"version":1,"value":"failed","context":{"run":3}}',
  version: 8,
  createdAt: someTime - 1,
  updatedAt: someTime + 1,
  completedAt: someTime + 2,
  deletedAt: someTime + 3,
})

export const rows: Theme = ({ describe, proves, expect }) => {
  describe('rows', () => {
    proves('a task is read as it was written, with its state, snapshot, parent, owner and priority', async (ledger) => {
      const seq = await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'parent' }))
        return yield* inserted(tx, fullTask)
      })
      const expected = { ...fullTask, seq }
      expect(await ledger.read((tx) => tx.task.get('task-full'))).toEqual(expected)
      expect(await ledger.read((tx) => tx.task.getBySeq(seq))).toEqual(expected)
      expect(await ledger.read((tx) => tx.task.getByKey('round/1'))).toEqual(expected)
      expect(await ledger.read((tx) => tx.task.get('unknown'))).toBe(undefined)
    })

    proves('a task with default values is read as it was written', async (ledger) => {
      const seq = await write(ledger, (tx) => inserted(tx, taskRow({ id: 'bare' })))
      expect(await ledger.read((tx) => tx.task.get('bare'))).toEqual({ ...taskRow({ id: 'bare' }), seq })
    })

    proves('a live and a closed run are read as they were written', async (ledger) => {
      const run = runRow({ taskId: 'a', number: 2, attempt: 3, instanceId: 'engine-9', dueAt: someTime + 5 })
      const closed = {
        ...run,
        status: 'closed' as const,
        outcome: 'failed' as const,
        error: { code: 'TIMEOUT', message: 'late' },
        endedAt: someTime + 1,
        closedAt: someTime + 2,
      }
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a' }))
        yield* tx.run.insert(run)
      })
      expect(await ledger.read((tx) => tx.run.get('a', 2))).toEqual(run)
      await write(ledger, (tx) => tx.run.save(closed))
      expect(await ledger.read((tx) => tx.run.list('a'))).toEqual([closed])
    })

    proves('an open, a completed and a failed call are read as they were written', async (ledger) => {
      const open = callRow({
        id: 'call-1',
        taskId: 'a',
        run: 4,
        attempt: 2,
        kind: 'wait',
        name: 'colour',
        ident: 'k:colour',
        ordinal: 1,
        params: json,
        status: 'pending',
        onInterrupt: 'rerun',
        details: { pid: 7 },
        dueAt: someTime + 9,
      })
      const seq = await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a' }))
        yield* tx.call.insert(open)
        yield* tx.call.insert(callRow({ id: 'call-2', taskId: 'a' }))
        return (yield* tx.call.get('call-1'))?.seq
      })
      expect(await ledger.read((tx) => tx.call.get('call-1'))).toEqual({ ...open, seq })
      const completed = { ...open, status: 'completed' as const, result: json, dueAt: null, updatedAt: someTime + 1 }
      const error = { code: 'CALL_FAILED', message: 'no', details: [1], final: true as const }
      await write(ledger, function* (tx) {
        yield* tx.call.save(completed)
        yield* tx.call.save({ ...callRow({ id: 'call-2', taskId: 'a' }), status: 'failed', error })
      })
      expect(await ledger.read((tx) => tx.call.get('call-1'))).toEqual({ ...completed, seq })
      expect((await ledger.read((tx) => tx.call.get('call-2')))?.error).toEqual(error)
    })

    proves('a message is read as it was written, numbered from 1 within its task', async (ledger) => {
      const first = messageRow({ id: 'm-1', taskId: 'a', role: 'assistant', content: 'one', run: 2, ident: 'k:x' })
      const second = messageRow({ id: 'm-2', taskId: 'a', announcement: true, ordinal: 3, timestamp: someTime - 5 })
      const numbers = await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a' }))
        yield* tx.task.insert(taskRow({ id: 'b' }))
        const one = yield* tx.message.append(first)
        const other = yield* tx.message.append(messageRow({ id: 'm-0', taskId: 'b' }))
        return [one, other, yield* tx.message.append(second)]
      })
      expect(numbers).toEqual([1, 1, 2])
      expect(await ledger.read((tx) => tx.message.list('a'))).toEqual([
        { ...first, n: 1 },
        { ...second, n: 2 },
      ])
      expect(await ledger.read((tx) => tx.message.get('m-2'))).toEqual({ ...second, n: 2 })
      expect(await ledger.read((tx) => tx.message.count('a'))).toBe(2)
      const page = (after: number, limit: number) => ledger.read((tx) => tx.message.page('a', after, limit))
      expect(await page(0, 1)).toEqual({ rows: [{ ...first, n: 1 }], isLast: false })
      expect(await page(1, 9)).toEqual({ rows: [{ ...second, n: 2 }], isLast: true })
      expect(await page(2, 9)).toEqual({ rows: [], isLast: true })
    })

    proves('an event and an edge are read as they were written', async (ledger) => {
      const event = eventRow({ taskId: 'a', type: 'task.started', instanceId: 'engine-2', data: json })
      const edge = edgeRow({ taskId: 'a', blockerId: 'b', kind: 'wait', callId: 'call-1' })
      const seq = await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a' }))
        yield* tx.task.insert(taskRow({ id: 'b' }))
        yield* tx.dependency.insert(edge)
        return yield* appended(tx, event)
      })
      expect(await ledger.read((tx) => tx.event.after(0, 10))).toEqual([{ ...event, seq }])
      expect(await ledger.read((tx) => tx.dependency.openWaits('call-1'))).toEqual([edge])
    })
  })

  describe('saving', () => {
    proves('saving the state of a task keeps its definition and increments its version', async (ledger) => {
      const live = taskRow({ id: 'a', name: 'first', executor: 'x', policy: { timeoutMs: 5 }, metadata: { k: 1 } })
      const changes = {
        status: 'completed' as const,
        statusReason: 'done',
        result: json,
        attempt: 2,
        run: 1,
        wakes: 1,
        crashes: 1,
        held: true,
        owner: 'ana',
        openBlockers: 2,
        notBefore: someTime,
        snapshot: 'new',
        updatedAt: someTime + 1,
        completedAt: someTime + 1,
      }
      const defined = { name: 'second', executor: 'y', metadata: {}, policy: {}, priority: 9 }
      await write(ledger, (tx) => tx.task.insert(live))
      await write(ledger, (tx) => tx.task.save({ ...live, seq: 0, ...defined, ...changes }))
      expect(await ledger.read((tx) => tx.task.get('a'))).toEqual({ ...live, seq: 1, ...changes, version: 2 })
    })

    proves('saving the definition of a task keeps its state', async (ledger) => {
      const live = taskRow({ id: 'a' })
      const defined = {
        name: 'second',
        goal: 'go',
        description: 'd',
        executor: 'y',
        input: json,
        priority: 4,
        parentId: 'p',
        policy: { autoComplete: true },
        metadata: { k: 1 },
        deletedAt: someTime,
        updatedAt: someTime + 1,
      }
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'p' }))
        yield* tx.task.insert(live)
        yield* tx.task.saveDefinition({ ...live, ...defined, seq: 0, status: 'completed', attempt: 7, result: 1 })
      })
      expect(await ledger.read((tx) => tx.task.get('a'))).toEqual({ ...live, ...defined, seq: 2, version: 2 })
    })

    proves('saving progress changes no other field of a task', async (ledger) => {
      const live = taskRow({ id: 'a' })
      const progress = { fraction: 0.25, note: 'a quarter', at: someTime }
      await write(ledger, function* (tx) {
        yield* tx.task.insert(live)
        yield* tx.task.saveProgress({ ...live, seq: 0, name: 'other', progress, updatedAt: someTime + 1 })
      })
      expect(await ledger.read((tx) => tx.task.get('a'))).toEqual({
        ...live,
        seq: 1,
        progress,
        updatedAt: someTime + 1,
        version: 2,
      })
    })
  })
}
