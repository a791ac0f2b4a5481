// Lists: the first tasks of the queue, filters, pages, prefixes and timers.
import type { NewTask, TaskFilter } from '../../../src/ledger/ledger.ts'
import { isFree } from '../../../src/machines/readiness.ts'
import { callRow, runRow, someTime, taskRow } from '../factories.ts'
import { idsIn, idsOf, type Theme, write } from './contract-world.ts'

export const lists: Theme = ({ describe, proves, expect }) => {
  describe('ready tasks', () => {
    proves('ready returns the tasks of an executor by priority, then age', async (ledger) => {
      const ready = (id: string, priority: number, executor = 'x') => taskRow({ id, priority, executor, ready: true })
      await write(ledger, function* (tx) {
        yield* tx.task.insert(ready('low', -1))
        yield* tx.task.insert(ready('old', 5))
        yield* tx.task.insert(taskRow({ id: 'unready', priority: 9, executor: 'x' }))
        yield* tx.task.insert(ready('foreign', 9, 'y'))
        yield* tx.task.insert(ready('young', 5))
        yield* tx.task.insert(ready('urgent', 6))
      })
      const heads = (limit: number) => idsIn(ledger, (tx) => tx.task.ready('x', '', limit))
      expect(await heads(10)).toEqual(['urgent', 'old', 'young', 'low'])
      expect(await heads(2)).toEqual(['urgent', 'old'])
    })
  })

  describe('a filter', () => {
    const cases: Array<[string, TaskFilter, string[]]> = [
      ['nothing, which omits deleted tasks', {}, ['c', 'a', 'b', 'd']],
      ['states', { statuses: ['failed', 'paused'] }, ['c', 'b']],
      ['no state at all', { statuses: [] }, []],
      ['a parent', { parentId: 'a' }, ['b']],
      ['having no parent', { parentId: null }, ['c', 'a', 'd']],
      ['an executor', { executor: 'x' }, ['c', 'a']],
      ['the beginning of a key', { keyPrefix: 'plan/' }, ['a', 'b']],
      ['a text in the metadata', { metadata: { team: '1' } }, ['a']],
      ['a number in the metadata', { metadata: { team: 1 } }, ['b']],
      ['a fraction in the metadata', { metadata: { share: 0.5 } }, ['a']],
      ['a huge number in the metadata', { metadata: { share: 1e21 } }, ['b']],
      ['a boolean in the metadata', { metadata: { team: true } }, ['c']],
      ['a null in the metadata', { metadata: { team: null } }, ['d']],
      ['several entries of the metadata', { metadata: { team: 1, share: 1e21 } }, ['b']],
      ['entries that no task has together', { metadata: { team: 1, share: 0.5 } }, []],
      ['an entry that no task has', { metadata: { missing: 'x' } }, []],
      ['several things at once', { executor: 'x', parentId: null, statuses: ['failed'] }, ['c']],
      ['an ancestor', { below: 'a' }, ['b']],
      ['an ancestor without descendants', { below: 'b' }, []],
      ['the message of a failure', { statuses: ['failed'], failedWith: 'broke' }, ['c']],
      ['the message of no failure', { statuses: ['failed'], failedWith: 'brok' }, []],
      ['the time of creation', { createdFrom: someTime + 1, createdTo: someTime + 2 }, ['b']],
      ['ids', { ids: ['d', 'a', 'gone', 'missing'] }, ['a', 'd']],
      ['no id at all', { ids: [] }, []],
      ['words in any of the texts, in either case', { words: ['write', 'REPORT'] }, ['b']],
      ['the prefix of an id', { words: ['d'] }, ['d']],
      ['words that no task has together', { words: ['report', 'absent'] }, []],
      ['a character that is a wildcard in SQL', { words: ['100%'] }, ['a']],
      ['another wildcard character', { words: ['a_b'] }, []],
      ['the latest time of creation', { createdTo: someTime }, ['c', 'a', 'd']],
      ['the code of a failure', { failedCode: 'TASK_FAILED' }, ['c']],
      ['the code of no failure', { failedCode: 'TASK' }, []],
      ['the time of the end, or of the creation of an open task', { endedFrom: someTime + 1 }, ['b']],
      ['the time before which it ended or was created', { endedBefore: someTime + 1 }, ['c', 'a', 'd']],
      ['being a fork of a task', { forkedFrom: 'a' }, ['d']],
      ['having a fork', { forked: true }, ['a']],
      ['having no fork', { forked: false }, ['c', 'b', 'd']],
      ['being a system task', { system: true }, ['system']],
      ['system tasks too', { system: 'include', statuses: ['submitted'] }, ['a', 'd', 'system']],
      ['the id of a system task', { ids: ['system'] }, ['system']],
    ]
    const stored: NewTask[] = [
      taskRow({ id: 'a', goal: 'at 100% axb', executor: 'x', key: 'plan/a', metadata: { team: '1', share: 0.5 } }),
      taskRow({
        id: 'b',
        name: 'A report',
        description: 'Write it.',
        status: 'paused',
        parentId: 'a',
        key: 'plan/b',
        metadata: { team: 1, share: 1e21 },
        createdAt: someTime + 1,
      }),
      taskRow({
        id: 'c',
        status: 'failed',
        completedAt: someTime,
        error: { code: 'TASK_FAILED', message: 'broke' },
        executor: 'x',
        priority: 1,
        key: 'plans',
        metadata: { team: true },
      }),
      taskRow({ id: 'd', key: 'plan.', metadata: { team: null }, forkedFrom: 'a' }),
      taskRow({ id: 'system', system: true }),
      taskRow({ id: 'gone', executor: 'x', key: 'plan/z', deletedAt: someTime }),
    ]
    for (const [title, filter, found] of cases) {
      proves(`a filter selects by ${title}`, async (ledger) => {
        await write(ledger, function* (tx) {
          for (const task of stored) yield* tx.task.insert(task)
        })
        expect(await idsIn(ledger, (tx) => tx.task.list(filter, 10))).toEqual(found)
        expect(await ledger.read((tx) => tx.task.count(filter))).toBe(found.length)
      })
    }
  })

  describe('tasks whose last run is open', () => {
    const rows = (['submitted', 'paused', 'input_required', 'waiting'] as const).flatMap((status) =>
      [
        {},
        { held: true },
        { openBlockers: 1 },
        { notBefore: someTime },
        { wakes: 1 },
        { statusReason: 'released' },
        { deletedAt: someTime },
        { executor: null },
      ].map((more, index) =>
        taskRow({ id: `${status}-${index}`, executor: 'x', status, run: 1, runOpen: true, ...more }),
      ),
    )
    proves(
      'tasks whose last run is open are listed and counted as queued if nothing else prevents their start',
      async (ledger) => {
        await write(ledger, function* (tx) {
          for (const task of rows) {
            yield* tx.task.insert(task)
            yield* tx.run.insert(runRow({ taskId: task.id, number: 1 }))
          }
        })
        const listed = async (ready: boolean) => (await idsIn(ledger, (tx) => tx.task.list({ ready }, 100))).sort()
        const shown = rows.filter(({ deletedAt }) => deletedAt === null)
        expect(await listed(true)).toEqual(idsOf(shown.filter(isFree)).sort())
        expect(await listed(false)).toEqual(idsOf(shown.filter((task) => !isFree(task))).sort())
        expect(await ledger.read((tx) => tx.task.countQueued())).toEqual({
          ready: rows.filter(isFree).length,
          claimable: 0,
        })
      },
    )
  })

  describe('waiting tasks', () => {
    proves('waiting tasks are filtered by whether their run released them', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'paused', status: 'paused' }))
        yield* tx.task.insert(taskRow({ id: 'children', status: 'waiting', statusReason: 'children' }))
        yield* tx.task.insert(taskRow({ id: 'plain', status: 'waiting' }))
        yield* tx.task.insert(taskRow({ id: 'released', status: 'waiting', statusReason: 'released' }))
        yield* tx.task.insert(taskRow({ id: 'lost', status: 'waiting', statusReason: 'interrupted' }))
      })
      const found = (released: boolean) => idsIn(ledger, (tx) => tx.task.list({ released }, 10))
      expect(await found(true)).toEqual(['paused', 'released', 'lost'])
      expect(await found(false)).toEqual(['paused', 'children', 'plain'])
    })
  })

  describe('a list', () => {
    proves(
      'newest lists tasks from the latest on, page by page, regardless of priorities and clocks',
      async (ledger) => {
        await write(ledger, function* (tx) {
          for (let n = 0; n < 5; n++)
            yield* tx.task.insert(taskRow({ id: `task-${n}`, priority: n % 2, createdAt: someTime - n }))
        })
        const ids = (limit: number, offset: number) => idsIn(ledger, (tx) => tx.task.newest({}, limit, offset))
        expect(await ids(2, 0)).toEqual(['task-4', 'task-3'])
        expect(await ids(9, 2)).toEqual(['task-2', 'task-1', 'task-0'])
        expect(await ids(0, 0)).toEqual([])
      },
    )

    proves('oldest lists tasks from the oldest on, after a `seq`', async (ledger) => {
      await write(ledger, function* (tx) {
        for (let n = 0; n < 5; n++) yield* tx.task.insert(taskRow({ id: `task-${n}`, priority: n % 2 }))
      })
      const first = await ledger.read((tx) => tx.task.oldest({}, 2, 0))
      expect(first.map((task) => task.id)).toEqual(['task-0', 'task-1'])
      const rest = await ledger.read((tx) => tx.task.oldest({}, 9, first[1]?.seq ?? 0))
      expect(rest.map((task) => task.id)).toEqual(['task-2', 'task-3', 'task-4'])
    })

    proves('a list is read page by page without gap or duplicate, regardless of priorities', async (ledger) => {
      await write(ledger, function* (tx) {
        for (let n = 0; n < 25; n++) yield* tx.task.insert(taskRow({ id: `task-${n}`, priority: n % 3 }))
      })
      const whole = await ledger.read((tx) => tx.task.list({}, 100))
      const paged: string[] = []
      for (let after: (typeof whole)[number] | undefined; ; ) {
        const from = after
        const page = await ledger.read((tx) => tx.task.list({}, 4, from))
        paged.push(...idsOf(page))
        after = page.at(-1)
        if (page.length < 4) break
      }
      expect(paged).toEqual(idsOf(whole))
      expect(new Set(paged).size).toBe(25)
    })

    proves('findByPrefix returns at most the given number of tasks', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const id of ['task-aa', 'task-ab', 'task-b', 'task-ac', 'Task-ab'])
          yield* tx.task.insert(taskRow({ id, deletedAt: id === 'task-ac' ? someTime : null }))
      })
      const starting = async (prefix: string, limit: number) =>
        (await idsIn(ledger, (tx) => tx.task.findByPrefix(prefix, limit))).sort()
      expect(await starting('task-a', 5)).toEqual(['task-aa', 'task-ab'])
      expect((await starting('task-', 2)).length).toBe(2)
      expect(await starting('task-%', 5)).toEqual([])
    })
  })

  describe('more tasks than one statement reads', () => {
    const size = 2_300
    const statuses = ['submitted', 'paused', 'waiting'] as const
    const stored = Array.from({ length: size }, (_, n) => {
      // A third of them in chains of ten.
      const parentId = n === 0 ? null : n % 3 === 0 && n % 30 !== 0 ? `task-${n - 3}` : 'task-0'
      return taskRow({
        id: `task-${n}`,
        name: n % 7 === 0 ? 'A Report' : 'Something',
        goal: n % 5 === 0 ? 'to be WRITTEN' : null,
        status: statuses[n % 3] as (typeof statuses)[number],
        priority: n % 4,
        executor: n % 2 === 0 ? 'x' : null,
        tags: n % 11 === 0 ? ['rare'] : [],
        parentId,
        deletedAt: n % 13 === 12 ? someTime : null,
      })
    })
    const shown = stored.filter(({ deletedAt }) => deletedAt === null)
    const byAge = (wanted: (task: NewTask) => boolean): string[] => idsOf(shown.filter(wanted))
    const byPriority = (wanted: (task: NewTask) => boolean): string[] =>
      idsOf(shown.filter(wanted).toSorted((a, b) => b.priority - a.priority))

    const cases: Array<[TaskFilter, (task: NewTask) => boolean]> = [
      [{}, () => true],
      [{ executor: 'x' }, ({ executor }) => executor === 'x'],
      [{ statuses: ['paused', 'waiting'] }, ({ status }) => status !== 'submitted'],
      [{ parentId: 'task-0' }, ({ parentId }) => parentId === 'task-0'],
      [{ tags: ['rare'], executor: 'x' }, ({ tags, executor }) => tags.length > 0 && executor === 'x'],
      [{ words: ['report', 'written'] }, ({ name, goal }) => name === 'A Report' && goal !== null],
      [
        { words: ['SOME'], below: 'task-0', statuses: ['paused'] },
        (task) => task.status === 'paused' && task.name === 'Something',
      ],
      [{ below: 'task-0' }, ({ id }) => id !== 'task-0'],
      [
        { below: 'task-2250' },
        ({ id }) => /^task-22[5-7]\d$/.test(id) && id !== 'task-2250' && Number(id.slice(5)) % 3 === 0,
      ],
    ]

    proves(
      'more tasks than one statement reads are listed and counted by any filter, in every order, page by page',
      async (ledger) => {
        await write(ledger, function* (tx) {
          for (const task of stored) yield* tx.task.insert(task)
        })
        for (const [filter, wanted] of cases) {
          const [aged, urgent] = [byAge(wanted), byPriority(wanted)]
          expect(await ledger.read((tx) => tx.task.count(filter))).toBe(aged.length)
          expect(await idsIn(ledger, (tx) => tx.task.oldest(filter, size, 0))).toEqual(aged)
          expect(await idsIn(ledger, (tx) => tx.task.newest(filter, 50, 20))).toEqual(aged.toReversed().slice(20, 70))
          expect(await idsIn(ledger, (tx) => tx.task.list(filter, size))).toEqual(urgent)
          const half = Math.floor(urgent.length / 2)
          const middle = await ledger.read((tx) => tx.task.get(urgent[half] as string))
          expect(await idsIn(ledger, (tx) => tx.task.list(filter, 30, middle))).toEqual(
            urgent.slice(half + 1, half + 31),
          )
          expect(await idsIn(ledger, (tx) => tx.task.oldest(filter, 10, middle?.seq ?? 0))).toEqual(
            byAge((task) => wanted(task) && Number(task.id.slice(5)) > Number(urgent[half]?.slice(5))).slice(0, 10),
          )
        }
        const counts = await ledger.read((tx) => tx.task.countByStatus())
        expect(statuses.map((status) => counts[status])).toEqual(
          statuses.map((wanted) => byAge(({ status }) => status === wanted).length),
        )
      },
    )

    proves('more tasks than one statement reads are returned as children and descendants', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const task of stored) yield* tx.task.insert(task)
      })
      expect(await idsIn(ledger, (tx) => tx.task.children('task-0'))).toEqual(
        byPriority(({ parentId }) => parentId === 'task-0'),
      )
      expect(await idsIn(ledger, (tx) => tx.task.subtree('task-0'))).toEqual(byPriority(({ id }) => id !== 'task-0'))
      expect((await ledger.read((tx) => tx.task.idsBelow('task-0'))).toSorted()).toEqual(
        idsOf(stored.slice(1)).toSorted(),
      )
      expect(await ledger.read((tx) => tx.task.idsBelow('task-1'))).toEqual([])
    })
  })

  describe('timers', () => {
    proves('due returns due timers, the soonest first, and nextDue the next one', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'late', notBefore: 30 }))
        yield* tx.task.insert(taskRow({ id: 'soon', notBefore: 10 }))
        yield* tx.task.insert(taskRow({ id: 'then', notBefore: 20 }))
        yield* tx.task.insert(taskRow({ id: 'none' }))
        for (const [number, [taskId, dueAt]] of [['late', 25] as const, ['soon', 5] as const].entries()) {
          yield* tx.run.insert(runRow({ taskId, number: 1, dueAt, instanceId: 'engine-1' }))
          const call = callRow({ id: `call-${number}`, taskId, kind: 'sleep', status: 'pending', dueAt: dueAt + 1 })
          yield* tx.call.insert(call)
        }
      })
      expect(await idsIn(ledger, (tx) => tx.task.due(20, 9))).toEqual(['soon', 'then'])
      expect(await idsIn(ledger, (tx) => tx.task.due(99, 1))).toEqual(['soon'])
      const own = { instanceId: 'engine-1', executors: [] }
      const next = (instanceId: string) => ledger.read((tx) => tx.task.nextDue({ ...own, instanceId }))
      expect((await ledger.read((tx) => tx.run.due(5, 9, own))).map((run) => run.taskId)).toEqual(['soon'])
      expect(await next('engine-1')).toBe(5)
      expect((await ledger.read((tx) => tx.call.due(99, 9))).map((call) => call.taskId)).toEqual(['soon', 'late'])
      expect(await next('engine-2')).toBe(6)
      await write(ledger, (tx) => tx.task.insert(taskRow({ id: 'first', notBefore: 4 })))
      expect(await next('engine-1')).toBe(4)
    })

    proves('an empty ledger and an ended run have no timers', async (ledger) => {
      const run = runRow({ taskId: 'a', dueAt: 5 })
      const own = { instanceId: run.instanceId, executors: [] }
      expect(await ledger.read((tx) => tx.task.nextDue(own))).toBe(undefined)
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a' }))
        yield* tx.run.insert(run)
        yield* tx.run.save({ ...run, status: 'ending', outcome: 'paused', endedAt: 1 })
      })
      expect(await ledger.read((tx) => tx.task.nextDue(own))).toBe(undefined)
      expect(await ledger.read((tx) => tx.run.due(99, 9, own))).toEqual([])
    })

    proves('due returns the timers of the runs of an engine and of its executors', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const [id, executor, instanceId, dueAt] of [
          ['foreign', 'resize', 'engine-2', 1],
          ['shared', 'report', 'engine-2', 2],
          ['own', 'resize', 'engine-1', 3],
        ] as const) {
          yield* tx.task.insert(taskRow({ id, executor }))
          yield* tx.run.insert(runRow({ taskId: id, instanceId, dueAt }))
        }
      })
      const own = { instanceId: 'engine-1', executors: ['report'] }
      expect((await ledger.read((tx) => tx.run.due(9, 9, own))).map((run) => run.taskId)).toEqual(['shared', 'own'])
      expect((await ledger.read((tx) => tx.run.due(9, 1, own))).map((run) => run.taskId)).toEqual(['shared'])
      expect(await ledger.read((tx) => tx.task.nextDue(own))).toBe(2)
    })
  })

  describe('slots', () => {
    proves('the open runs of one engine are counted by executor, with the crashes of their tasks', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const [id, executor, instanceId, crashes] of [
          ['a', 'x', 'engine-1', 1],
          ['b', 'x', 'engine-1', 2],
          ['c', 'y', 'engine-1', 0],
          ['d', 'y', 'engine-2', 5],
        ] as const) {
          yield* tx.task.insert(taskRow({ id, executor, crashes }))
          yield* tx.run.insert(runRow({ taskId: id, instanceId }))
        }
        const closed = runRow({ taskId: 'a', number: 2, instanceId: 'engine-1' })
        yield* tx.run.save({ ...closed, number: 1, status: 'ending', outcome: 'paused', endedAt: 1 })
      })
      const { perExecutor, crashes } = await ledger.read((tx) => tx.run.countOpenOf('engine-1'))
      expect([Object.fromEntries(perExecutor), crashes]).toEqual([{ x: 2, y: 1 }, 2])
      const none = await ledger.read((tx) => tx.run.countOpenOf('engine-3'))
      expect([none.perExecutor.size, none.crashes]).toEqual([0, 0])
    })

    proves('ready separates tasks with few crashes from those with many', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const [id, crashes] of Object.entries({ a: 0, b: 2, c: 1, d: 3 })) {
          yield* tx.task.insert(taskRow({ id, executor: 'x', ready: true, crashes, lane: id === 'd' ? 'lane' : '' }))
        }
      })
      expect(await idsIn(ledger, (tx) => tx.task.ready('x', '', 9, 2))).toEqual(['a', 'c'])
      expect(await idsIn(ledger, (tx) => tx.task.ready('x', '', 9))).toEqual(['a', 'b', 'c'])
      expect(await idsIn(ledger, (tx) => tx.task.suspects('x', 9, 2))).toEqual(['b', 'd'])
      expect(await idsIn(ledger, (tx) => tx.task.suspects('x', 1, 2))).toEqual(['b'])
      expect(await ledger.read((tx) => tx.task.readyKinds())).toEqual({
        any: true,
        inLanes: true,
        suspects: true,
        queuedRuns: false,
        system: false,
      })
      const any = (...executors: string[]) => ledger.read((tx) => tx.task.anyReady(executors))
      expect([await any(), await any('y'), await any('y', 'x')]).toEqual([false, false, true])
    })

    proves('the kinds of ready tasks are those that there are', async (ledger) => {
      const kinds = () => ledger.read((tx) => tx.task.readyKinds())
      const none = { any: false, inLanes: false, suspects: false, queuedRuns: false, system: false }
      await write(ledger, (tx) => tx.task.insert(taskRow({ id: 'a', executor: 'x', crashes: 2, lane: 'lane' })))
      expect(await kinds()).toEqual(none)
      await write(ledger, (tx) => tx.task.insert(taskRow({ id: 'b', executor: 'x', ready: true })))
      expect(await kinds()).toEqual({ ...none, any: true })
      await write(ledger, (tx) => tx.task.insert(taskRow({ id: 'c', executor: 'y', ready: true, lane: 'lane' })))
      expect(await kinds()).toEqual({ ...none, any: true, inLanes: true })
      await write(ledger, (tx) => tx.task.insert(taskRow({ id: 'd', executor: 'x', ready: true, crashes: 1 })))
      expect(await kinds()).toEqual({ any: true, inLanes: true, suspects: true, queuedRuns: false, system: false })
      await write(ledger, (tx) => tx.run.insert(runRow({ taskId: 'a', status: 'queued' })))
      expect(await kinds()).toEqual({ any: true, inLanes: true, suspects: true, queuedRuns: true, system: false })
    })

    proves('parked runs hold no slot, and those that wait for one are listed by priority, then age', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const [id, status, priority, instanceId] of [
          ['a', 'queued', 0, 'engine-1'],
          ['b', 'queued', 5, 'engine-1'],
          ['c', 'queued', 0, 'engine-1'],
          ['d', 'parked', 0, 'engine-1'],
          ['e', 'live', 0, 'engine-1'],
          ['f', 'queued', 0, 'engine-2'],
          ['g', 'queued', 0, 'engine-1'],
        ] as const) {
          const system = id === 'g'
          const open = { executor: 'x', status: 'working', runOpen: true, run: 1 } as const
          yield* tx.task.insert(taskRow({ id, ...open, priority, system }))
          yield* tx.run.insert(runRow({ taskId: id, instanceId }))
          if (status !== 'live') yield* tx.run.saveSlot({ taskId: id, number: 1, status, dueAt: null })
        }
      })
      expect(await idsIn(ledger, (tx) => tx.run.queuedOf('engine-1', false, undefined, 9))).toEqual(['b', 'a', 'c'])
      expect(await idsIn(ledger, (tx) => tx.run.queuedOf('engine-1', true, undefined, 9))).toEqual(['g'])
      expect(await idsIn(ledger, (tx) => tx.run.queuedOf('engine-1', false, undefined, 1))).toEqual(['b'])
      const [best] = await ledger.read((tx) => tx.run.queuedOf('engine-1', false, undefined, 1))
      expect(await idsIn(ledger, (tx) => tx.run.queuedOf('engine-1', false, best, 1))).toEqual(['a'])
      expect(
        await idsIn(ledger, (tx) => tx.run.queuedOf('engine-1', false, { priority: 0, seq: best?.seq ?? 0 }, 9)),
      ).toEqual(['c'])
      expect((await ledger.read((tx) => tx.run.countOpenOf('engine-1'))).perExecutor).toEqual(new Map([['x', 1]]))
      expect(await ledger.read((tx) => tx.run.countOpen())).toEqual(new Map([['x', 1]]))
      expect((await ledger.read((tx) => tx.run.openOf('engine-1'))).length).toBe(6)
    })

    proves('ready can be limited to tasks that name a model', async (ledger) => {
      const named = { policy: { model: 'm' } }
      const none = { policy: { timeoutMs: 5 } }
      await write(ledger, function* (tx) {
        for (const [id, executor, fields] of [
          ['a', 'x', none],
          ['b', 'x', named],
          ['c', 'x', { ...none, lane: 'l-1' }],
          ['d', 'x', { ...named, lane: 'l-2' }],
          ['e', 'x', { ...none, crashes: 2, lane: 'l-1' }],
          ['f', 'x', { ...named, crashes: 2, lane: 'l-2' }],
          ['g', 'y', none],
        ] as const) {
          yield* tx.task.insert(taskRow({ id, executor, ready: true, ...fields }))
        }
      })
      expect(await idsIn(ledger, (tx) => tx.task.ready('x', '', 9, 9, { named: true }))).toEqual(['b'])
      expect(await idsIn(ledger, (tx) => tx.task.ready('x', 'l-1', 9, 9, { named: true }))).toEqual([])
      expect(await idsIn(ledger, (tx) => tx.task.suspects('x', 9, 2, { named: true }))).toEqual(['f'])
      for (const most of [undefined, 1]) {
        expect(await ledger.read((tx) => tx.task.lanes('x', most, { named: true }))).toEqual(['l-2'])
      }
      for (const [all, some, expected] of [
        [[], ['y'], false],
        [[], ['x'], true],
        [['y'], [], true],
      ] as const) {
        expect(await ledger.read((tx) => tx.task.anyReady(all, some))).toBe(expected)
        expect(await ledger.read((tx) => tx.task.anyAwake(all, some))).toBe(expected)
      }
    })
  })

  describe('the ready tasks of some trees', () => {
    proves('ready can be limited to trees by the key or key prefix of their roots', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const [id, parentId, key, fields] of [
          ['r1', null, 'round', {}],
          ['a', 'r1', 'round/a', { ready: true, executor: 'x' }],
          ['b', 'a', null, { ready: true, executor: 'x', priority: 2 }],
          ['c', 'b', null, { ready: true, executor: 'x', lane: 'b', crashes: 2 }],
          ['r2', null, 'round+1', {}],
          ['d', 'r2', 'round+1/d', { ready: true, executor: 'x', priority: 1 }],
          ['r3', null, 'round0', { ready: true, executor: 'x', priority: 9 }],
          ['r4', null, null, { ready: true, executor: 'y', crashes: 2 }],
          ['e', 'r4', null, { ready: true, executor: 'x', lane: 'r4', priority: 5, crashes: 2 }],
        ] as const) {
          yield* tx.task.insert(taskRow({ id, parentId, key, ...fields }))
        }
      })
      const trees = { rootKeys: ['round'], rootKeyPrefixes: ['round+'] }
      expect(await idsIn(ledger, (tx) => tx.task.ready('x', '', 9, 9, { trees }))).toEqual(['b', 'd', 'a'])
      expect(await idsIn(ledger, (tx) => tx.task.ready('x', '', 1, 9, { trees }))).toEqual(['b'])
      expect(await idsIn(ledger, (tx) => tx.task.suspects('x', 9, 2, { trees }))).toEqual(['c'])
      expect(await idsIn(ledger, (tx) => tx.task.suspects('x', 1, 2, { trees }))).toEqual(['c'])
      for (const most of [undefined, 9, 1]) {
        expect(await ledger.read((tx) => tx.task.lanes('x', most, { trees }))).toEqual(['b'])
      }
      for (const [executor, prefix, expected] of [
        ['x', 'round+', true],
        ['x', 'nowhere', false],
        ['y', 'round', false],
      ] as const) {
        const only = { rootKeys: [], rootKeyPrefixes: [prefix] }
        expect(await ledger.read((tx) => tx.task.anyReady([executor], [], only))).toBe(expected)
        expect(await ledger.read((tx) => tx.task.anyAwake([executor], [], only))).toBe(expected)
      }
    })
  })

  describe('anyAwake', () => {
    const reasons: Array<[string, Partial<NewTask>, 'run' | 'call' | undefined]> = [
      ['a task that is ready', { ready: true }, undefined],
      ['a run that is open', { status: 'working', runOpen: true, run: 1 }, 'run'],
      ['a timer', { notBefore: someTime }, undefined],
      ['a journal entry that is due later', { status: 'waiting' }, 'call'],
    ]
    for (const [title, fields, extra] of reasons) {
      proves(`anyAwake is true for ${title} of one of the given executors`, async (ledger) => {
        await write(ledger, function* (tx) {
          yield* tx.task.insert(taskRow({ id: 'idle', executor: 'x' }))
          yield* tx.task.insert(taskRow({ id: 'a', executor: 'y', ...fields }))
          if (extra === 'run') yield* tx.run.insert(runRow({ taskId: 'a' }))
          if (extra === 'call') {
            yield* tx.call.insert(callRow({ id: 'c', taskId: 'a', kind: 'sleep', status: 'pending', dueAt: 5 }))
          }
        })
        const awake = (...executors: string[]) => ledger.read((tx) => tx.task.anyAwake(executors))
        expect([await awake('x'), await awake('x', 'y'), await awake()]).toEqual([false, true, false])
      })
    }
  })
}
