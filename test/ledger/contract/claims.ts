// Claims, leases, deadlines, lanes and limits: the reads of admission and of owners.
import { edgeRow, runRow, someTime, taskRow } from '../factories.ts'
import { idsIn, inserted, type Theme, write } from './contract-world.ts'

const anEngine = { instanceId: 'engine-1', executors: [] }
const settled = { completedAt: someTime }

export const claims: Theme = ({ describe, proves, expect }) => {
  describe('claimable tasks', () => {
    proves(
      'claimable returns the first task by priority, then age, that matches role, tags and parent',
      async (ledger) => {
        await write(ledger, function* (tx) {
          const add = (id: string, more = {}) => tx.task.insert(taskRow({ id, claimable: true, ...more }))
          yield* add('young', { tags: ['a', 'b'] })
          yield* add('parent', { claimable: false })
          yield* add('child', { parentId: 'parent', tags: ['a'] })
          yield* add('urgent', { priority: 5, role: 'critic' })
          yield* add('taken', { priority: 9, claimable: false })
          yield* add('odd', { priority: -1, tags: [`it's "b"`, 'c%'], role: 'odd' })
        })
        const best = async (filter: object) => (await ledger.read((tx) => tx.task.claimable(filter)))?.[0]?.id
        expect(await best({})).toBe('young')
        expect(await best({ role: 'critic' })).toBe('urgent')
        expect(await best({ role: 'writer' })).toBe('young')
        expect(await best({ parentId: 'parent' })).toBe('child')
        expect(await best({ tags: ['a'] })).toBe('young')
        expect(await best({ tags: ['b', 'a'] })).toBe('young')
        expect(await best({ tags: ['a', 'c%'] })).toBe(undefined)
        expect(await best({ tags: ['c%', `it's "b"`], role: 'odd' })).toBe('odd')
        expect(await best({ tags: ['c'], role: 'odd' })).toBe(undefined)
        expect(await best({ parentId: 'parent', tags: ['b'] })).toBe(undefined)
        expect(await ledger.read((tx) => tx.task.countQueued())).toEqual({ ready: 0, claimable: 4 })
      },
    )

    proves('claimable omits tasks of other owners and tasks that are not below the given one', async (ledger) => {
      await write(ledger, function* (tx) {
        const add = (id: string, more = {}) => tx.task.insert(taskRow({ id, claimable: true, ...more }))
        yield* add('root', { claimable: false })
        yield* add('middle', { claimable: false, parentId: 'root' })
        yield* add('deep', { parentId: 'middle' })
        yield* add('anns', { owner: 'ann', priority: 5 })
        yield* add('bobs', { owner: "bob's", parentId: 'root', priority: 9 })
        yield* add('beside', { priority: 1 })
      })
      const best = async (filter: object) => (await ledger.read((tx) => tx.task.claimable(filter)))?.[0]?.id
      expect(await best({})).toBe('beside')
      expect(await best({ owner: 'ann' })).toBe('anns')
      expect(await best({ owner: "bob's" })).toBe('bobs')
      expect(await best({ owner: 'carol' })).toBe('beside')
      expect(await best({ owner: 'ann', below: 'root' })).toBe('deep')
      expect(await best({ owner: "bob's", below: 'root' })).toBe('bobs')
      expect(await best({ owner: "bob's", below: 'middle' })).toBe('deep')
      expect(await best({ owner: "bob's", below: 'root', parentId: 'middle' })).toBe('deep')
      expect(await best({ owner: 'ann', below: 'beside' })).toBe(undefined)
    })

    proves('claimable finds a task below one that has thousands below it, among tasks elsewhere', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'root' }))
        yield* tx.task.insert(taskRow({ id: 'middle', parentId: 'root' }))
        for (let n = 0; n < 1_100; n++) yield* tx.task.insert(taskRow({ id: `below-${n}`, parentId: 'middle' }))
        for (let n = 0; n < 100; n++) {
          yield* tx.task.insert(taskRow({ id: `beside-${n}`, claimable: true, priority: 9 - (n % 2) }))
        }
        yield* tx.task.insert(taskRow({ id: 'anns', claimable: true, owner: 'ann', parentId: 'below-7', priority: 3 }))
        yield* tx.task.insert(taskRow({ id: 'best', claimable: true, parentId: 'below-7', priority: 2 }))
        yield* tx.task.insert(taskRow({ id: 'next', claimable: true, parentId: 'root', priority: 1 }))
        yield* tx.task.insert(taskRow({ id: 'reviewed', claimable: true, parentId: 'middle', role: 'critic' }))
      })
      const best = async (filter: object) => (await ledger.read((tx) => tx.task.claimable(filter)))?.[0]?.id
      expect(await best({ below: 'root' })).toBe('best')
      expect(await best({ below: 'root', owner: 'ann' })).toBe('anns')
      expect(await best({ below: 'root', parentId: 'root' })).toBe('next')
      expect(await best({ below: 'below-8' })).toBe(undefined)
      expect(await best({ below: 'middle', tags: ['none'] })).toBe(undefined)
      expect(await best({ parentId: 'middle' })).toBe(undefined)
      expect(await best({ parentId: 'middle', role: 'critic', owner: 'ann' })).toBe('reviewed')
      expect(await best({ parentId: 'middle', below: 'root', role: 'critic' })).toBe('reviewed')
      expect(await best({ parentId: 'middle', below: 'below-8', role: 'critic' })).toBe(undefined)
    })

    proves('a task is found by tags of any characters, and not by a part of a tag', async (ledger) => {
      const tags = ['a "quoted" tag', 'back\\slash', 'two\nlines', 'Größe 📏', '100%', '"', '']
      await write(ledger, (tx) => tx.task.insert(taskRow({ id: 'tagged', claimable: true, tags })))
      const found = async (...tags: string[]) => (await ledger.read((tx) => tx.task.claimable({ tags })))?.[0]?.id
      for (const tag of tags) expect([tag, await found(tag)]).toEqual([tag, 'tagged'])
      expect(await found(...tags)).toBe('tagged')
      for (const tag of ['quoted', 'a', 'größe 📏', 'two', ',', '","', '[', 'back']) {
        expect([tag, await found('100%', tag)]).toEqual([tag, undefined])
      }
    })

    proves(
      'a claimed task keeps its owner, fence and lease, and is found when the lease has lapsed',
      async (ledger) => {
        const claim = { owner: 'ann', fence: 2, leaseMs: 100 }
        await write(ledger, function* (tx) {
          for (const [id, leaseUntil] of Object.entries({ late: 30, later: 40, soon: 20, open: null })) {
            const seq = yield* inserted(tx, taskRow({ id, claimable: true }))
            yield* tx.task.save({ ...taskRow({ id, status: 'working', ...claim, leaseUntil }), seq })
          }
        })
        expect(await ledger.read((tx) => tx.task.get('late'))).toMatchObject({
          ...claim,
          leaseUntil: 30,
          claimable: false,
        })
        const ids = (now: number, limit = 9) => idsIn(ledger, (tx) => tx.task.lapsed(now, limit))
        expect(await ids(19)).toEqual([])
        expect(await ids(30)).toEqual(['soon', 'late'])
        expect(await ids(99, 1)).toEqual(['soon'])
        expect(await ledger.read((tx) => tx.task.nextDue(anEngine))).toBe(20)
      },
    )
  })

  describe('a deadline', () => {
    proves('late returns the unsettled tasks whose deadline has passed', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'b', deadline: 20 }))
        yield* tx.task.insert(taskRow({ id: 'a', deadline: 10, status: 'paused' }))
        yield* tx.task.insert(taskRow({ id: 'over', deadline: 5, status: 'failed', ...settled }))
        yield* tx.task.insert(taskRow({ id: 'none' }))
      })
      const ids = (now: number, limit = 9) => idsIn(ledger, (tx) => tx.task.late(now, limit))
      expect(await ids(9)).toEqual([])
      expect(await ids(20)).toEqual(['a', 'b'])
      expect(await ids(20, 1)).toEqual(['a'])
      expect(await ledger.read((tx) => tx.task.nextDue(anEngine))).toBe(10)
    })

    proves('nextDue returns the earliest of timers, leases and deadlines', async (ledger) => {
      const next = () => ledger.read((tx) => tx.task.nextDue(anEngine))
      expect(await next()).toBe(undefined)
      await write(ledger, (tx) => tx.task.insert(taskRow({ id: 'deadline', deadline: 30 })))
      expect(await next()).toBe(30)
      await write(ledger, (tx) => tx.task.insert(taskRow({ id: 'timer', notBefore: 20 })))
      expect(await next()).toBe(20)
      await write(ledger, (tx) => tx.task.insert(taskRow({ id: 'lease', leaseUntil: 10, status: 'working' })))
      expect(await next()).toBe(10)
    })
  })

  describe('lanes', () => {
    proves('each lane has its own ready tasks and its own number of runs that hold a slot', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'lane-1', group: true }))
        yield* tx.task.insert(taskRow({ id: 'lane-2', group: true }))
        const add = (id: string, lane: string, more = {}) =>
          tx.task.insert(taskRow({ id, lane, executor: 'x', ready: true, ...more }))
        yield* add('free', '')
        yield* add('a', 'lane-1')
        yield* add('b', 'lane-1', { priority: 3 })
        yield* add('c', 'lane-2', { executor: 'y' })
        yield* add('d', 'lane-2', { ready: false, runOpen: true, run: 1, status: 'working' })
        yield* add('e', 'lane-2', { ready: false, runOpen: true, run: 1, status: 'canceled', ...settled })
        yield* add('p', 'lane-2', { ready: false, runOpen: true, run: 1, status: 'working' })
        for (const taskId of ['d', 'e', 'p']) yield* tx.run.insert(runRow({ taskId }))
        yield* tx.run.saveSlot({ taskId: 'p', number: 1, status: 'parked', dueAt: null })
        yield* add('f', 'lane-2', { executor: 'w' })
        yield* add('g', 'lane-1', { executor: 'w' })
        yield* add('h', 'free-lane', { executor: 'w', priority: 1 })
        for (let at = 0; at < 20; at++) yield* add(`v${at}`, 'full', { executor: 'v' })
        yield* add('i', 'late', { executor: 'v' })
      })
      const ready = (executor: string, lane: string, limit = 9) =>
        idsIn(ledger, (tx) => tx.task.ready(executor, lane, limit))
      expect(await ready('x', '')).toEqual(['free'])
      expect(await ready('x', 'lane-1')).toEqual(['b', 'a'])
      expect(await ready('x', 'lane-1', 1)).toEqual(['b'])
      expect(await ready('x', 'lane-2')).toEqual([])
      expect(await ledger.read((tx) => tx.task.lanes('x'))).toEqual(['lane-1'])
      expect(await ledger.read((tx) => tx.task.lanes('y'))).toEqual(['lane-2'])
      expect(await ledger.read((tx) => tx.task.lanes('z'))).toEqual([])
      // The lane with the best task first: by priority, then age.
      expect(await ledger.read((tx) => tx.task.lanes('w'))).toEqual(['free-lane', 'lane-2', 'lane-1'])
      for (const most of [1, 2, 3, 9]) {
        const first = await ledger.read((tx) => tx.task.lanes('w', most))
        expect(first).toEqual(['free-lane', 'lane-2', 'lane-1'].slice(0, most))
      }
      // Many tasks in one lane do not displace the next lane.
      expect(await ledger.read((tx) => tx.task.lanes('v', 2))).toEqual(['full', 'late'])
      expect(await ledger.read((tx) => tx.task.openInLane('lane-2'))).toBe(2)
      expect(await ledger.read((tx) => tx.task.openInLane('lane-1'))).toBe(0)
    })

    proves('setLanes sets and removes the lane of the children with an executor', async (ledger) => {
      const lanes = async () =>
        (await ledger.read((tx) => tx.task.list({}, 9))).map((task) => [task.id, task.lane] as const)
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'parent' }))
        yield* tx.task.insert(taskRow({ id: 'run', parentId: 'parent', executor: 'x' }))
        yield* tx.task.insert(taskRow({ id: 'by-hand', parentId: 'parent' }))
        yield* tx.task.insert(taskRow({ id: 'below', parentId: 'run', executor: 'x' }))
        yield* tx.task.setLanes('parent', 'parent')
      })
      expect(await lanes()).toEqual([
        ['parent', ''],
        ['run', 'parent'],
        ['by-hand', ''],
        ['below', ''],
      ])
      await write(ledger, (tx) => tx.task.setLanes('parent', ''))
      expect((await lanes())[1]).toEqual(['run', ''])
    })
  })

  describe('numbers of a tree', () => {
    proves('depths and counts follow added children and raised subtrees at any depth', async (ledger) => {
      await write(ledger, function* (tx) {
        for (let n = 0; n < 5; n++) {
          yield* tx.task.insert(taskRow({ id: `t${n}`, depth: n, parentId: n === 0 ? null : `t${n - 1}` }))
        }
        yield* tx.task.insert(taskRow({ id: 'beside', depth: 2, parentId: 't1' }))
        yield* tx.task.insert(taskRow({ id: 'hidden', depth: 4, parentId: 't3', deletedAt: 1 }))
        yield* tx.task.addChildren('t1', 2)
        yield* tx.task.addChildren('t1', 3)
        yield* tx.task.addMade('t1', 4)
        yield* tx.task.addMade('t1', 5)
        yield* tx.task.raise('t2', 2)
      })
      const depths = []
      for (const id of ['t0', 't1', 't2', 't3', 't4', 'beside', 'hidden']) {
        depths.push((await ledger.read((tx) => tx.task.get(id)))?.depth)
      }
      expect(depths).toEqual([0, 1, 2, 1, 2, 2, 2])
      expect((await ledger.read((tx) => tx.task.get('t1')))?.childCount).toBe(5)
      expect((await ledger.read((tx) => tx.task.get('t0')))?.childCount).toBe(0)
      expect((await ledger.read((tx) => tx.task.get('t1')))?.madeBelow).toBe(9)
      expect((await ledger.read((tx) => tx.task.get('t0')))?.madeBelow).toBe(0)
    })
  })

  describe('counts', () => {
    proves('countByStatus counts undeleted tasks by status, and countQueued the queued ones', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a', executor: 'x', ready: true }))
        yield* tx.task.insert(taskRow({ id: 'b', claimable: true }))
        yield* tx.task.insert(taskRow({ id: 'c', status: 'input_required', claimable: true }))
        yield* tx.task.insert(taskRow({ id: 'd', status: 'completed', ...settled }))
        yield* tx.task.insert(taskRow({ id: 'e', status: 'completed', ...settled, deletedAt: 1 }))
      })
      const none = { working: 0, paused: 0, waiting: 0, failed: 0, canceled: 0 }
      const counted = await ledger.read((tx) => tx.task.countByStatus())
      expect(counted).toEqual({ ...none, submitted: 2, input_required: 1, completed: 1 })
      expect(await ledger.read((tx) => tx.task.countQueued())).toEqual({ ready: 1, claimable: 2 })
    })

    proves(
      'queues counts the ready tasks of each executor, with the time of the one that was changed first',
      async (ledger) => {
        await write(ledger, function* (tx) {
          yield* tx.task.insert(taskRow({ id: 'a', executor: 'x', ready: true, updatedAt: 7 }))
          yield* tx.task.insert(taskRow({ id: 'b', executor: 'x', ready: true, updatedAt: 5 }))
          yield* tx.task.insert(taskRow({ id: 'c', executor: 'w', ready: true, updatedAt: 9 }))
          yield* tx.task.insert(taskRow({ id: 'd', executor: 'x', updatedAt: 1 }))
          yield* tx.task.insert(taskRow({ id: 'e', claimable: true, updatedAt: 1 }))
        })
        expect(await ledger.read((tx) => tx.task.queues())).toEqual([
          { executor: 'w', ready: 1, oldestAt: 9 },
          { executor: 'x', ready: 2, oldestAt: 5 },
        ])
      },
    )

    proves('countOpen counts the open runs of all engines by executor', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const [id, executor, instanceId] of [
          ['a', 'x', 'engine-1'],
          ['b', 'x', 'engine-2'],
          ['c', 'y', 'engine-1'],
          ['d', 'x', 'engine-1'],
        ] as const) {
          yield* tx.task.insert(taskRow({ id, executor }))
          yield* tx.run.insert(runRow({ taskId: id, instanceId }))
        }
        const ended = { ...runRow({ taskId: 'b' }), outcome: 'paused' as const, endedAt: 1 }
        yield* tx.run.save({ ...ended, status: 'ending' })
        yield* tx.run.save({ ...ended, taskId: 'd', status: 'closed', closedAt: 2 })
      })
      expect(Object.fromEntries(await ledger.read((tx) => tx.run.countOpen()))).toEqual({ x: 2, y: 1 })
    })
  })

  describe('a setting', () => {
    proves('a setting stores any JSON by name, and is replaced by the next one', async (ledger) => {
      const get = (name: string) => ledger.read((tx) => tx.setting.get(name))
      expect(await get('limits')).toBe(undefined)
      for (const value of [{ deep: [1, { a: null }] }, 7, null, 'text', false]) {
        await write(ledger, (tx) => tx.setting.put('limits', value))
        expect(await get('limits')).toEqual(value)
      }
      expect(await get('limit')).toBe(undefined)
    })
  })

  describe('a path', () => {
    proves('a dependency path is the shortest to the nearest of several targets', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const id of ['a', 'b', 'c', 'd', 'near']) yield* tx.task.insert(taskRow({ id }))
        for (const [taskId, blockerId] of [
          ['a', 'b'],
          ['b', 'c'],
          ['c', 'd'],
          ['a', 'near'],
        ] as const) {
          yield* tx.dependency.insert(edgeRow({ taskId, blockerId }))
        }
      })
      const path = (...targets: string[]) => ledger.read((tx) => tx.dependency.path(['a'], new Set(targets)))
      expect(await path('d')).toEqual(['a', 'b', 'c', 'd'])
      expect(await path('d', 'near')).toEqual(['a', 'near'])
      expect(await path('d', 'c', 'missing')).toEqual(['a', 'b', 'c'])
      expect(await path('missing', 'else')).toBe(undefined)
      expect(await path()).toBe(undefined)
    })
  })
}
