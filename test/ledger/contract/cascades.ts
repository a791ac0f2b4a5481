// Cascades: set statements over whole families. Each changed row has its event, and the events list the changed rows.
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { callRow, edgeRow, runRow, someTime, taskRow } from '../factories.ts'
import { type Theme, write } from './contract-world.ts'

const order = { root: 'root', at: someTime + 5, instanceId: 'engine-1' }
const cancelOrder = { ...order, reason: 'no longer wanted' }
const settled = { completedAt: someTime }

/** A root with one task of each kind below it, and tasks below a settled and a deleted one. */
const plant = (ledger: Ledger) =>
  write(ledger, function* (tx) {
    const snapshot = (value: string) => `{"version":1,"value":"${value}","context":{"note":"submitted"}}`
    yield* tx.task.insert(taskRow({ id: 'root' }))
    yield* tx.task.insert(
      taskRow({ id: 'ready', parentId: 'root', executor: 'x', ready: true, snapshot: snapshot('submitted') }),
    )
    yield* tx.task.insert(taskRow({ id: 'claimable', parentId: 'root', claimable: true, notBefore: 9 }))
    yield* tx.task.insert(
      taskRow({
        id: 'working',
        parentId: 'root',
        status: 'working',
        owner: 'ann',
        fence: 3,
        leaseMs: 10,
        leaseUntil: 20,
        snapshot: snapshot('working'),
      }),
    )
    yield* tx.task.insert(taskRow({ id: 'done', parentId: 'root', status: 'completed', ...settled }))
    yield* tx.task.insert(taskRow({ id: 'failed', parentId: 'root', status: 'failed', ...settled }))
    yield* tx.task.insert(taskRow({ id: 'below-done', parentId: 'done', status: 'waiting', executor: 'x' }))
    yield* tx.task.insert(taskRow({ id: 'gone', parentId: 'root', deletedAt: 7, status: 'canceled', ...settled }))
    yield* tx.task.insert(taskRow({ id: 'below-gone', parentId: 'gone', status: 'paused' }))
    yield* tx.task.insert(taskRow({ id: 'stranger' }))
  })

const live = ['ready', 'claimable', 'working', 'below-done', 'below-gone']

export const cascades: Theme = ({ describe, proves, expect }) => {
  describe('a cascade', () => {
    proves(
      'a cascade cancels all live tasks below a task, also below settled and deleted ones, and no others',
      async (l) => {
        await plant(l)
        const before = await l.read((tx) => tx.task.get('working'))
        await write(l, (tx) => tx.cascade.cancel(cancelOrder))
        const statusOf = async (id: string) => (await l.read((tx) => tx.task.get(id)))?.status
        for (const id of live) expect([id, await statusOf(id)]).toEqual([id, 'canceled'])
        expect(await statusOf('root')).toBe('submitted')
        expect(await statusOf('stranger')).toBe('submitted')
        expect(await statusOf('done')).toBe('completed')
        expect(await statusOf('failed')).toBe('failed')
        // The owner is kept; the lease, the timer and the place in queues are removed.
        expect(await l.read((tx) => tx.task.get('working'))).toEqual({
          ...before,
          status: 'canceled',
          statusReason: 'no longer wanted',
          leaseUntil: null,
          completedAt: order.at,
          updatedAt: order.at,
          version: 2,
          snapshot: '{"version":1,"value":"canceled","context":{"note":"submitted"}}',
        })
        const ready = await l.read((tx) => tx.task.get('ready'))
        expect([ready?.ready, ready?.snapshot]).toEqual([
          false,
          '{"version":1,"value":"canceled","context":{"note":"submitted"}}',
        ])
        const claimable = await l.read((tx) => tx.task.get('claimable'))
        expect([claimable?.claimable, claimable?.notBefore]).toEqual([false, null])
        expect(await l.read((tx) => tx.task.countQueued())).toEqual({ ready: 0, claimable: 0 })
      },
    )

    proves('a cascade appends an event for each canceled task, by age, and returns their positions', async (l) => {
      await plant(l)
      const found = await write(l, (tx) => tx.cascade.cancel(cancelOrder))
      const events = await l.read((tx) => tx.event.after((found?.first ?? 0) - 1, 99))
      expect(events.map((event) => event.taskId)).toEqual(['ready', 'claimable', 'working', 'below-done', 'below-gone'])
      expect([found?.type, found?.last]).toEqual(['task.canceled', events.at(-1)?.seq])
      const data = { name: 'working', status: 'canceled', from: 'working', run: 0, reason: 'no longer wanted' }
      expect(events[2]).toEqual({
        seq: (found?.first ?? 0) + 2,
        type: 'task.canceled',
        taskId: 'working',
        at: order.at,
        instanceId: 'engine-1',
        data: { ...data, cascadedFrom: 'root' },
      })
    })

    proves('a cascade reports the events of its set statement to observers in one commit', async (l) => {
      await plant(l)
      let notified = 0
      const notify = () => {
        notified += 1
      }
      l.observe({ committed: notify, changed: notify, failed() {} }, { watchOthers: false })
      await write(l, (tx) => tx.cascade.cancel({ ...cancelOrder, reason: null }))
      expect(notified).toBe(1)
      expect((await l.read((tx) => tx.task.get('ready')))?.statusReason).toBe(null)
      expect((await l.read((tx) => tx.event.after(0, 99)))[0]?.data['reason']).toBe(null)
    })

    proves('a cascade without live tasks writes nothing', async (l) => {
      await write(l, (tx) => tx.task.insert(taskRow({ id: 'root' })))
      expect(await write(l, (tx) => tx.cascade.cancel(cancelOrder))).toBe(undefined)
      expect(await write(l, (tx) => tx.cascade.hide(order))).toBe(undefined)
      expect(await l.read((tx) => tx.event.last())).toBe(0)
    })

    proves('a cascade ends live runs, which their engines close', async (l) => {
      await plant(l)
      await write(l, function* (tx) {
        yield* tx.run.insert(runRow({ taskId: 'working' }))
        yield* tx.run.insert(runRow({ taskId: 'ready', status: 'live' }))
        yield* tx.run.save({
          ...runRow({ taskId: 'ready' }),
          status: 'closed',
          outcome: 'paused',
          endedAt: 1,
          closedAt: 2,
        })
        yield* tx.run.insert(runRow({ taskId: 'stranger' }))
        yield* tx.cascade.cancel(cancelOrder)
      })
      expect(await l.read((tx) => tx.run.get('working', 1))).toMatchObject({
        status: 'ending',
        outcome: 'canceled',
        endedAt: order.at,
        closedAt: null,
      })
      expect((await l.read((tx) => tx.run.get('ready', 1)))?.outcome).toBe('paused')
      expect((await l.read((tx) => tx.run.get('stranger', 1)))?.status).toBe('live')
    })

    proves('a cascade returns the open journal entries of its tasks, and whether a run still has them', async (l) => {
      await plant(l)
      const entries = await write(l, function* (tx) {
        const working = yield* tx.task.get('working')
        if (working) yield* tx.task.save({ ...working, runOpen: true, run: 1 })
        yield* tx.call.insert(callRow({ id: 'in-flight', taskId: 'working' }))
        yield* tx.call.insert(callRow({ id: 'wait', taskId: 'below-done', kind: 'wait', status: 'pending', dueAt: 9 }))
        yield* tx.call.insert(callRow({ id: 'over', taskId: 'working', status: 'completed' }))
        yield* tx.call.insert(callRow({ id: 'elsewhere', taskId: 'stranger' }))
        yield* tx.call.insert(callRow({ id: 'of-settled', taskId: 'done' }))
        const found = yield* tx.cascade.cancel(cancelOrder)
        return found && (yield* tx.cascade.openEntries(found))
      })
      expect(entries?.map(({ call, runOpen }) => [call.id, call.kind, runOpen])).toEqual([
        ['in-flight', 'call', true],
        ['wait', 'wait', false],
      ])
    })

    proves('a cascade returns the open dependencies of live tasks outside on its tasks', async (l) => {
      await plant(l)
      const edges = await write(l, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'ended', status: 'completed', ...settled }))
        yield* tx.task.insert(taskRow({ id: 'hidden', deletedAt: 1 }))
        const edge = (taskId: string, blockerId: string, more = {}) =>
          tx.dependency.insert(edgeRow({ taskId, blockerId, ...more }))
        yield* edge('stranger', 'working')
        yield* edge('stranger', 'below-done', { kind: 'wait', callId: 'w' })
        yield* edge('stranger', 'ready', { satisfiedAt: 1 })
        yield* edge('ready', 'working')
        yield* edge('ended', 'working')
        yield* edge('hidden', 'working')
        yield* edge('working', 'stranger')
        const found = yield* tx.cascade.cancel(cancelOrder)
        return found && (yield* tx.cascade.edgesOut(found))
      })
      expect(edges?.map((edge) => [edge.taskId, edge.blockerId, edge.kind]).sort()).toEqual([
        ['stranger', 'below-done', 'wait'],
        ['stranger', 'working', 'after'],
      ])
    })

    proves('a cascade hides all undeleted tasks below a task, each with its event', async (l) => {
      await plant(l)
      const found = await write(l, (tx) => tx.cascade.hide(order))
      const hidden = ['ready', 'claimable', 'working', 'done', 'failed', 'below-done', 'below-gone']
      for (const id of hidden) {
        const task = await l.read((tx) => tx.task.get(id))
        expect([id, task?.deletedAt, task?.ready, task?.claimable]).toEqual([id, order.at, false, false])
      }
      expect((await l.read((tx) => tx.task.get('gone')))?.deletedAt).toBe(7)
      for (const id of ['root', 'stranger']) expect((await l.read((tx) => tx.task.get(id)))?.deletedAt).toBe(null)
      const events = await l.read((tx) => tx.event.after(0, 99))
      expect(events.map((event) => event.taskId)).toEqual(hidden)
      expect([found?.first, found?.last]).toEqual([events[0]?.seq, events.at(-1)?.seq])
      expect(events[3]).toMatchObject({
        type: 'task.deleted',
        data: { name: 'done', status: 'completed', run: 0, cascadedFrom: 'root' },
      })
    })

    proves('a cascade considers only its own events', async (l) => {
      await plant(l)
      const [first, second] = await write(l, function* (tx) {
        const canceled = yield* tx.cascade.cancel({ ...cancelOrder, root: 'done' })
        return [canceled, yield* tx.cascade.cancel(cancelOrder)]
      })
      expect([first?.first, first?.last]).toEqual([1, 1])
      expect([second?.first, second?.last]).toEqual([2, 5])
      expect((await l.read((tx) => tx.event.after(0, 1)))[0]?.taskId).toBe('below-done')
    })

    proves('a cascade ends when parents form a cycle, which no valid write creates', async (l) => {
      await write(l, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'root' }))
        yield* tx.task.insert(taskRow({ id: 'child', parentId: 'root' }))
        yield* tx.task.saveDefinition({ ...taskRow({ id: 'root', parentId: 'child' }), seq: 1 })
      })
      await write(l, (tx) => tx.cascade.cancel(cancelOrder))
      expect((await l.read((tx) => tx.task.get('child')))?.status).toBe('canceled')
    })

    proves('a cascade covers a thousand generations', async (l) => {
      await write(l, function* (tx) {
        for (let n = 0; n <= 1_000; n++) {
          yield* tx.task.insert(taskRow({ id: `task-${n}`, parentId: n === 0 ? null : `task-${n - 1}` }))
        }
      })
      const found = await write(l, (tx) => tx.cascade.cancel({ ...cancelOrder, root: 'task-0' }))
      expect((found?.last ?? 0) - (found?.first ?? 0)).toBe(999)
    })
  })
}
