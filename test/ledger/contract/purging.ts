// Purge: whole families are marked when all of them has been settled for long enough, and then deleted in pieces with all that belongs to
// them.
import type { Ledger, Purgeable, Reads } from '../../../src/ledger/ledger.ts'
import type { Op } from '../../../src/ledger/op.ts'
import {
  branchRow,
  callRow,
  edgeRow,
  eventRow,
  messageRow,
  runRow,
  signalRow,
  stintRow,
  taskRow,
  teamRow,
} from '../factories.ts'
import { appended, begun, doomed, inserted, purged, type Theme, write } from './contract-world.ts'

const done = (id: string, completedAt: number, more: Partial<ReturnType<typeof taskRow>> = {}) =>
  taskRow({ id, status: 'completed', completedAt, ...more })

const there = async (ledger: Ledger, ...ids: string[]) => {
  const found = await Promise.all(ids.map((id) => ledger.read((tx) => tx.task.get(id))))
  return ids.filter((_, index) => found[index] !== undefined)
}

/** A settled family of three levels, with a row of everything, and a settled task that came after it. */
function filled(ledger: Ledger, root: string): Promise<void> {
  return write(ledger, function* (tx) {
    const ids = [root, `${root}-child`, `${root}-deep`, `${root}-second`]
    const parents = [null, root, `${root}-child`, root]
    if ((yield* tx.board.get('main')) === undefined) {
      yield* tx.board.save({ name: 'main', parentId: null, nextNumber: 9, seenSeq: 0, createdAt: 0 })
    }
    const number = (yield* tx.board.page('main', 0, 9)).length
    yield* tx.branch.insert(branchRow({ name: root, taskId: root }))
    for (const [index, id] of ids.entries()) {
      yield* tx.task.insert(done(id, 1, { key: `key ${id}`, parentId: parents[index] ?? null }))
      yield* tx.call.insert(callRow({ id: `call-${id}`, taskId: id, status: 'completed' }))
      yield* tx.message.append(messageRow({ id: `message-${id}`, taskId: id }))
      yield* tx.event.append(eventRow({ taskId: id }))
    }
    yield* tx.board.insert({ board: 'main', number: number + 1, taskId: `${root}-child`, fields: {} })
    yield* tx.team.insert(teamRow({ taskId: root, branch: root, type: root, closedAt: 1 }))
    yield* tx.team.insertStint(
      stintRow({ taskId: root, agentId: `agent of ${root}`, branch: root, status: 'completed', leftAt: 1 }),
    )
    yield* tx.dependency.insert(edgeRow({ taskId: `${root}-deep`, blockerId: `${root}-child`, satisfiedAt: 1 }))
    yield* tx.task.insert(done(`after ${root}`, 90))
    yield* tx.dependency.insert(edgeRow({ taskId: `after ${root}`, blockerId: root, satisfiedAt: 1 }))
    // Unsatisfied: an outcome of the blocker concerns its dependents.
    yield* tx.task.insert(taskRow({ id: `before ${root}` }))
    yield* tx.dependency.insert(edgeRow({ taskId: `${root}-second`, blockerId: `before ${root}` }))
  })
}

/** How many rows there are of some tasks, and of what belongs to them. */
function* rowsOf(tx: Reads, ids: readonly string[]): Op<number> {
  let rows = 0
  for (const id of ids) {
    if ((yield* tx.task.get(id)) !== undefined) rows++
    rows += (yield* tx.call.list(id)).length
    rows += (yield* tx.message.list(id)).length
    rows += (yield* tx.event.after(0, 100, id)).length
  }
  return rows
}

/** Removes tasks in steps of so many rows; how many rows each step removed. */
async function removedBy(ledger: Ledger, tasks: readonly string[], limit: number): Promise<number[]> {
  const removed: number[] = []
  for (let isMore = true; isMore; ) {
    const before = await ledger.read((tx) => rowsOf(tx, tasks))
    isMore = await write(ledger, (tx) => tx.purge.remove(tasks, limit))
    removed.push(before - (await ledger.read((tx) => rowsOf(tx, tasks))))
  }
  return removed
}

/** How many rows of a family each read returns. */
function* visible(tx: Reads, root: string): Op<Record<string, number>> {
  const ids = [root, `${root}-child`, `${root}-deep`, `${root}-second`]
  const isOwn = ({ id }: { id: string }) => ids.includes(id)
  const own = (found: ReadonlyArray<{ id: string }>) => found.filter(isOwn).length
  let [got, keyed, ofTask, byNumber] = [0, 0, 0, 0]
  for (const id of ids) {
    if ((yield* tx.task.get(id)) !== undefined) got++
    if ((yield* tx.task.getByKey(`key ${id}`)) !== undefined) keyed++
    ofTask += (yield* tx.event.after(0, 9, id)).length
  }
  for (let seq = 1; seq < 20; seq++) {
    const found = yield* tx.task.getBySeq(seq)
    if (found !== undefined && isOwn(found)) byNumber++
  }
  const events = yield* tx.event.after(0, 100)
  const latest = yield* tx.event.before(1_000, 100)
  const fourth = (yield* tx.event.after(0, 4)).length
  return {
    got,
    keyed,
    byNumber,
    ofTask,
    byPrefix: own(yield* tx.task.findByPrefix(root, 9)),
    listed: own(yield* tx.task.list({}, 100)),
    ofState: own(yield* tx.task.list({ statuses: ['completed'] }, 100)),
    newest: own(yield* tx.task.newest({}, 100, 0)),
    oldest: own(yield* tx.task.oldest({ words: [root] }, 100, 0)),
    below: own(yield* tx.task.list({ below: root }, 100)),
    counted: yield* tx.task.count({ keyPrefix: `key ${root}` }),
    children: (yield* tx.task.children(root)).length,
    subtree: (yield* tx.task.subtree(root)).length,
    idsBelow: (yield* tx.task.idsBelow(root)).length,
    ancestors: (yield* tx.task.ancestors(`${root}-deep`)).length,
    asOf: (yield* tx.task.asOf(1_000, 100, 0)).filter(({ task }) => isOwn(task)).length,
    events: events.filter(({ taskId }) => ids.includes(taskId)).length,
    latest: latest.filter(({ taskId }) => ids.includes(taskId)).length,
    // A page is filled with the events of others.
    page: fourth === Math.min(4, events.length) ? 0 : 1,
    blockers: (yield* tx.dependency.blockers(`after ${root}`)).length,
    dependents: (yield* tx.dependency.dependents(`before ${root}`)).length,
    onBoard: (yield* tx.board.page('main', 0, 9)).filter(({ task }) => isOwn(task)).length,
    entry: (yield* tx.board.entryOf('main', `${root}-child`)) === undefined ? 0 : 1,
    unnumbered: own(yield* tx.board.unnumbered('main', 0, 100)),
    neighbours: (yield* tx.board.dependentsOf('main', `before ${root}`)).length,
    team: (yield* tx.team.get(root)) === undefined ? 0 : 1,
    teamOfBranch: (yield* tx.team.ofBranch(root)) === undefined ? 0 : 1,
    teams: own((yield* tx.team.list({}, 9, 0)).map(({ task }) => task)),
    timeline: (yield* tx.team.timeline(`agent of ${root}`, 9, 0)).length,
    types: (yield* tx.team.countByType()).filter(({ type }) => type === root).length,
  }
}

const nothing = Object.fromEntries(
  (
    'got keyed byNumber ofTask byPrefix listed ofState newest oldest below counted children subtree idsBelow ancestors asOf events latest ' +
    'page blockers dependents onBoard entry unnumbered neighbours team teamOfBranch teams timeline types'
  )
    .split(' ')
    .map((name) => [name, 0]),
)

export const purging: Theme = ({ describe, proves, expect }) => {
  describe('a purge', () => {
    proves('removes a settled family with all that belongs to it, and nothing of others', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const root of ['old', 'kept']) {
          const child = `${root}-child`
          yield* tx.task.insert(done(root, root === 'old' ? 10 : 90))
          yield* tx.task.insert(done(child, 9, { parentId: root, deletedAt: 9 }))
          for (const taskId of [root, child]) {
            const run = { ...runRow({ taskId }), status: 'closed' as const, outcome: 'completed' as const }
            yield* tx.run.insert(runRow({ taskId }))
            yield* tx.run.save({ ...run, endedAt: 1, closedAt: 1 })
            yield* tx.call.insert(callRow({ id: `call-${taskId}`, taskId, status: 'completed' }))
            yield* tx.message.append(messageRow({ id: `message-${taskId}`, taskId }))
            yield* tx.signal.insert(signalRow({ taskId }))
            yield* tx.event.append(eventRow({ taskId }))
          }
          yield* tx.dependency.insert(edgeRow({ taskId: root, blockerId: child, satisfiedAt: 1 }))
        }
        // A settled dependent: its edge is deleted, the task stays.
        yield* tx.dependency.insert(edgeRow({ taskId: 'kept', blockerId: 'old-child' }))
      })
      const outside = [{ taskId: 'kept', blockerId: 'old-child', callId: '' }]
      const family = { root: 'old', tasks: 2, events: 2, through: 2, outside }
      expect(await ledger.read((tx) => tx.purge.inspect('old', 50))).toEqual(family)
      expect(await purged(ledger, 50)).toEqual({ families: 1, tasks: 2 })
      expect(await there(ledger, 'old', 'old-child', 'kept', 'kept-child')).toEqual(['kept', 'kept-child'])
      const left = async (taskId: string) => [
        (await ledger.read((tx) => tx.run.list(taskId))).length,
        (await ledger.read((tx) => tx.call.list(taskId))).length,
        (await ledger.read((tx) => tx.message.list(taskId))).length,
        await ledger.read((tx) => tx.signal.countKept(taskId)),
        (await ledger.read((tx) => tx.event.after(0, 9, taskId))).length,
      ]
      for (const id of ['old', 'old-child']) expect([id, ...(await left(id))]).toEqual([id, 0, 0, 0, 0, 0])
      for (const id of ['kept', 'kept-child']) expect([id, ...(await left(id))]).toEqual([id, 1, 1, 1, 1, 1])
      expect(await ledger.read((tx) => tx.dependency.blockers('kept'))).toEqual(['kept-child'])
    })

    proves('leaves a family that is not settled, or not for long enough, somewhere in it', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(done('live-below', 1))
        yield* tx.task.insert(done('settled-between', 1, { parentId: 'live-below' }))
        yield* tx.task.insert(taskRow({ id: 'live', parentId: 'settled-between' }))
        yield* tx.task.insert(done('late-below', 1))
        yield* tx.task.insert(done('late', 50, { parentId: 'late-below' }))
        yield* tx.task.insert(taskRow({ id: 'open-root' }))
        yield* tx.task.insert(done('below-open', 1, { parentId: 'open-root' }))
        yield* tx.task.insert(done('at-the-edge', 50))
      })
      expect(await purged(ledger, 50)).toEqual({ families: 0, tasks: 0 })
      expect(await ledger.read((tx) => tx.task.count({}))).toBe(8)
    })

    proves('keeps a family as long as a live task comes after one of its tasks', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(done('root', 1))
        yield* tx.task.insert(done('child', 1, { parentId: 'root', status: 'failed' }))
        yield* tx.task.insert(taskRow({ id: 'blocked', openBlockers: 1 }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'blocked', blockerId: 'child' }))
      })
      expect((await purged(ledger, 50)).families).toBe(0)
      await write(ledger, (tx) => tx.dependency.remove('blocked', 'child'))
      expect((await purged(ledger, 50)).tasks).toBe(2)
      expect(await there(ledger, 'root', 'child', 'blocked')).toEqual(['blocked'])
    })

    proves('finds the roots that settled before a time, in this order, in pages', async (ledger) => {
      await write(ledger, function* (tx) {
        for (let n = 0; n < 4; n++) yield* tx.task.insert(done(`task-${n}`, n === 3 ? 5 : 10))
        yield* tx.task.insert(done('child', 1, { parentId: 'task-1' }))
        yield* tx.task.insert(done('young', 50))
      })
      const first = await ledger.read((tx) => tx.purge.roots(50, 2))
      expect(first.map(({ id, completedAt }) => [id, completedAt])).toEqual([
        ['task-3', 5],
        ['task-0', 10],
      ])
      const second = await ledger.read((tx) => tx.purge.roots(50, 9, first[1]))
      expect(second.map(({ id, seq }) => [id, seq])).toEqual([
        ['task-1', 2],
        ['task-2', 3],
      ])
    })

    proves('leaves nothing of a family to any read, and everything of others', async (ledger) => {
      await filled(ledger, 'kept')
      await filled(ledger, 'old')
      expect(await ledger.read((tx) => visible(tx, 'old'))).toEqual(await ledger.read((tx) => visible(tx, 'kept')))
      const before = await ledger.read((tx) => visible(tx, 'kept'))
      // Otherwise it would prove nothing that all is 0 later.
      expect(Object.keys(before).filter((read) => before[read] === 0)).toEqual(['page'])
      await write(ledger, function* (tx) {
        yield* tx.purge.begin([(yield* tx.purge.inspect('old', 50)) as Purgeable])
      })
      const tasks = await ledger.read(doomed)
      expect(await ledger.read((tx) => tx.purge.lastEvent(tasks))).toBe(await ledger.read((tx) => tx.event.last()))
      const removed = await removedBy(ledger, tasks, 4)
      expect(removed.reduce((sum, rows) => sum + rows)).toBe(16)
      expect(removed.filter((rows) => rows > 4)).toEqual([])
      expect(await ledger.read((tx) => visible(tx, 'old'))).toEqual(nothing)
      expect(await ledger.read((tx) => visible(tx, 'kept'))).toEqual(before)
      expect(await ledger.read((tx) => tx.purge.lastEvent(tasks))).toBe(0)
    })

    proves(
      'knows which tasks are being purged until they are removed, and purges none of them again',
      async (ledger) => {
        await filled(ledger, 'kept')
        await filled(ledger, 'old')
        const all = ['kept', 'kept-deep', 'after old', 'old-deep', 'old-second', 'old', 'unknown']
        const included = () =>
          ledger.read(function* (tx) {
            const found: string[] = []
            for (const id of all) if (yield* tx.purge.includes(id)) found.push(id)
            return found
          })
        expect(await included()).toEqual([])
        expect(await ledger.read((tx) => tx.purge.begun(9))).toEqual([])
        await write(ledger, function* (tx) {
          yield* tx.purge.begin([(yield* tx.purge.inspect('old', 50)) as Purgeable])
        })
        expect(await included()).toEqual(['old-deep', 'old-second', 'old'])
        expect(await ledger.read((tx) => tx.purge.begun(9))).toEqual(['old'])
        expect(await ledger.read((tx) => tx.purge.roots(50, 9))).toMatchObject([{ id: 'kept' }])
        const tasks = await ledger.read(doomed)
        await removedBy(ledger, tasks.slice(0, -1), 100)
        expect(await included()).toEqual(['old'])
        await removedBy(ledger, tasks, 100)
        expect(await included()).toEqual([])
        expect(await ledger.read((tx) => tx.purge.begun(9))).toEqual([])
      },
    )

    proves('removes as many rows as requested, until nothing is left', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(done('old', 1))
        for (let n = 0; n < 5; n++) {
          yield* tx.task.insert(done(`child-${n}`, 1, { parentId: 'old' }))
          for (let event = 0; event <= n; event++) yield* tx.event.append(eventRow({ taskId: `child-${n}` }))
        }
        yield* begun(tx, 50)
      })
      expect(await removedBy(ledger, await ledger.read(doomed), 6)).toEqual([6, 6, 6, 3])
    })

    proves('removes a family of any depth and breadth from its leaves up', async (ledger) => {
      await write(ledger, function* (tx) {
        for (let n = 0; n < 150; n++) {
          yield* tx.task.insert(done(`deep-${n}`, 1, { parentId: n === 0 ? null : `deep-${n - 1}`, depth: n }))
          yield* tx.task.insert(done(`beside-${n}`, 1, { parentId: `deep-${n}`, depth: n + 1 }))
        }
        for (let n = 0; n < 250; n++) yield* tx.task.insert(done(`broad-${n}`, 1, { parentId: 'deep-9', depth: 10 }))
        yield* begun(tx, 50)
      })
      const tasks = await ledger.read(doomed)
      expect(tasks.length).toBe(550)
      const left: number[] = []
      for (let at = 0; at < tasks.length; at += 200) {
        await removedBy(ledger, tasks.slice(at, at + 200), 250)
        left.push((await ledger.read(doomed)).length)
      }
      expect(left).toEqual([350, 150, 0])
    })

    proves('gives the key of a task to a new one', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(done('old', 1, { key: 'root' }))
        yield* tx.task.insert(done('child', 1, { key: 'child', parentId: 'old' }))
        yield* tx.task.insert(done('kept', 90, { key: 'kept' }))
        yield* begun(tx, 50)
      })
      await write(ledger, function* (tx) {
        for (const key of ['root', 'child']) yield* tx.task.freeKey(key)
        yield* tx.task.insert(taskRow({ id: 'new', key: 'root' }))
        yield* tx.task.insert(taskRow({ id: 'new-child', key: 'child', parentId: 'new' }))
      })
      const keyed = await ledger.read(function* (tx) {
        const found: Array<string | undefined> = []
        for (const key of ['root', 'child', 'kept']) found.push((yield* tx.task.getByKey(key))?.id)
        return found
      })
      expect(keyed).toEqual(['new', 'new-child', 'kept'])
    })

    proves('lets a failed task go on that came after one that is being purged', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(done('old', 1, { status: 'failed' }))
        yield* tx.task.insert(done('after', 90, { status: 'failed', openBlockers: 1 }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'after', blockerId: 'old' }))
        yield* begun(tx, 50)
      })
      expect((await ledger.read((tx) => tx.task.get('after')))?.openBlockers).toBe(0)
      expect(await ledger.read((tx) => tx.dependency.blockers('after'))).toEqual([])
    })

    proves('knows which families have changed since a position, and which others came to need', async (ledger) => {
      const roots = ['same', 'child-changed', 'needed']
      await write(ledger, function* (tx) {
        for (const root of roots) {
          yield* tx.task.insert(done(root, 1))
          yield* tx.task.insert(done(`${root}-child`, 1, { parentId: root }))
          yield* tx.event.append(eventRow({ taskId: root }))
        }
        yield* tx.task.insert(taskRow({ id: 'open' }))
      })
      const asOf = await ledger.read((tx) => tx.event.last())
      const last = await write(ledger, function* (tx) {
        yield* tx.event.append(eventRow({ taskId: 'child-changed-child' }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'open', blockerId: 'needed-child' }))
        return yield* appended(tx, eventRow({ taskId: 'open' }))
      })
      expect((await ledger.read((tx) => tx.purge.touched(roots, asOf, last))).sort()).toEqual([
        'child-changed',
        'needed',
      ])
      expect(await ledger.read((tx) => tx.purge.touched(roots, last, last))).toEqual([])
      expect(await ledger.read((tx) => tx.purge.touched(roots, asOf, asOf + 1))).toEqual(['child-changed'])
    })

    proves('never gives a number twice: what comes later is after what left', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(done('old', 1))
        yield* tx.event.append(eventRow({ taskId: 'old' }))
      })
      await purged(ledger, 50)
      const { task, event } = await write(ledger, function* (tx) {
        const seq = yield* inserted(tx, taskRow({ id: 'new' }))
        return { task: seq, event: yield* appended(tx, eventRow({ taskId: 'new' })) }
      })
      // A server may leave numbers out.
      expect([task > 1, event > 1]).toEqual([true, true])
    })
  })
}
