// Dependencies on the board, through its abilities: edges, what they block, and what is refused.
import { describe, expect, it } from 'vitest'
import { refusalOf } from '../engine/world.ts'
import { codeOf, everything, graph, openBoard, taskOf, waits } from './world.ts'

describe('Completing a task', () => {
  it('S4-018 S4-019 S4-041 S4-042 completing a task removes it from the blockedBy of all its dependents, and from no other list', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: 'a', c: 'a', d: 'bc', e: 'd' })
    expect(await waits(engine)).toEqual({ 1: [], 2: [1], 3: [1], 4: [2, 3], 5: [4] })
    const complete = async (id: number) =>
      (await engine.bus.call('board:update', { id, status: 'completed' })).unblocked
    expect(await complete(1)).toMatchObject([{ id: 2 }, { id: 3 }])
    expect(await waits(engine)).toEqual({ 1: [], 2: [], 3: [], 4: [2, 3], 5: [4] })
    expect(await complete(3)).toEqual([])
    expect(await waits(engine)).toMatchObject({ 4: [2] })
    expect(await complete(2)).toMatchObject([{ id: 4 }])
    expect(await waits(engine)).toEqual({ 1: [], 2: [], 3: [], 4: [], 5: [4] })
    expect(await taskOf(engine, 1)).toMatchObject({ blocks: [2, 3] })
    expect(await taskOf(engine, 4)).toMatchObject({ dependencies: [2, 3], ready: true })
  })

  it('S4-045 completing the last part of a group also returns the tasks that the group unblocks', async () => {
    const { engine } = await openBoard({ autoComplete: true })
    await engine.bus.call('board:create', { subject: 'whole' })
    await engine.bus.call('board:create', { subject: 'part', parent: 1 })
    await engine.bus.call('board:create', { subject: 'after the whole', blockedBy: [1] })
    await engine.bus.call('board:create', { subject: 'after the part', blockedBy: [2] })
    await engine.bus.call('board:update', { id: 1, status: 'in_progress' })
    const { unblocked } = await engine.bus.call('board:update', { id: 2, status: 'completed' })
    expect(unblocked.map(({ id }) => id)).toEqual([3, 4])
    expect(await taskOf(engine, 1)).toMatchObject({ status: 'completed' })
  })

  it('S4-027 completing a task and adding dependents in the same call blocks none of them', async () => {
    const board = await openBoard()
    await graph(board, { a: '', b: '', c: 'b' })
    const { task, unblocked } = await board.engine.bus.call('board:update', {
      id: 1,
      status: 'completed',
      addBlocks: [2, 3],
    })
    expect(task).toMatchObject({ status: 'completed', blocks: [2, 3] })
    expect(unblocked).toMatchObject([{ id: 2 }])
    expect(await waits(board.engine)).toEqual({ 1: [], 2: [], 3: [2] })
  })
})

describe('Edges', () => {
  it('S4-020 S4-021 edges appear on both tasks, whichever of the two they are added to', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: '', c: '' })
    await engine.bus.call('board:update', { id: 1, addBlocks: [2] })
    await engine.bus.call('board:update', { id: 3, addBlockedBy: [1] })
    expect(await taskOf(engine, 1)).toMatchObject({ blocks: [2, 3], blockedBy: [] })
    expect(await taskOf(engine, 2)).toMatchObject({ blocks: [], blockedBy: [1] })
    expect(await taskOf(engine, 3)).toMatchObject({ blocks: [], blockedBy: [1] })
    const { task } = await engine.bus.call('board:create', { subject: 'd', blockedBy: [3], blocks: [2] })
    expect(task).toMatchObject({ id: 4, blockedBy: [3], blocks: [2] })
  })

  it('S4-022 S4-028 an edge added twice is stored once, in the given order; removing a missing edge is accepted', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: '', c: '', d: '' })
    const update = async (patch: Record<string, unknown>) =>
      (await engine.bus.call('board:update', { id: 4, ...patch })).task
    expect(await update({ addBlockedBy: [3, 1, 3] })).toMatchObject({ blockedBy: [3, 1] })
    expect(await update({ addBlockedBy: [1, 2, 3] })).toMatchObject({ blockedBy: [3, 1, 2] })
    const before = await everything(engine)
    expect(await update({ addBlockedBy: [1] })).toMatchObject({ blockedBy: [3, 1, 2] })
    expect(await everything(engine)).toBe(before)
    expect(await update({ removeBlockedBy: [1] })).toMatchObject({ blockedBy: [3, 2] })
    expect(await update({ removeBlockedBy: [1, 4], removeBlocks: [2] })).toMatchObject({ blockedBy: [3, 2] })
    expect(await update({ removeBlockedBy: [3], addBlockedBy: [3] })).toMatchObject({ blockedBy: [2, 3] })
    expect(await taskOf(engine, 1)).toMatchObject({ blocks: [] })
  })

  it('S4-023 S4-024 S4-025 edges to an unknown task, to the task itself or closing a cycle are refused with nothing changed', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: 'a', c: 'b', d: 'c' })
    const refused = async (id: number, patch: Record<string, unknown>, code: 'NOT_FOUND' | 'CYCLE') => {
      const before = await everything(engine)
      const words = { subject: 'changed', metadata: { changed: true }, addBlocks: [], ...patch }
      const { message } = await refusalOf(engine.bus.call('board:update', { id, ...words }), code)
      expect(await everything(engine)).toBe(before)
      return message
    }
    expect(await refused(4, { addBlockedBy: [1, 99] }, 'NOT_FOUND')).toBe('Task 99 not found')
    expect(await refused(1, { addBlocks: [4, 'task-missing'] }, 'NOT_FOUND')).toBe('Task task-missing not found')
    expect(await refused(1, { removeBlockedBy: [99] }, 'NOT_FOUND')).toBe('Task 99 not found')
    expect(await refused(2, { addBlockedBy: [2] }, 'CYCLE')).toContain('Task 2')
    expect(await refused(1, { addBlockedBy: [2] }, 'CYCLE')).toMatch(/Task 1 .*task 2/)
    expect(await refused(1, { addBlockedBy: [4] }, 'CYCLE')).toMatch(/task 4/)
    expect(await refused(4, { addBlocks: [1] }, 'CYCLE')).not.toMatch(/task-/)
    const before = await everything(engine)
    await refusalOf(engine.bus.call('board:create', { subject: 'e', blockedBy: [4], blocks: [1] }), 'CYCLE')
    await refusalOf(engine.bus.call('board:create', { subject: 'e', blocks: [1, 99] }), 'NOT_FOUND')
    expect(await everything(engine)).toBe(before)
    expect((await engine.bus.call('board:create', { subject: 'e' })).task).toMatchObject({ id: 5 })
  })

  it('S4-026 an edge to a completed task does not block', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: '' })
    await engine.bus.call('board:update', { id: 1, status: 'completed' })
    const { task } = await engine.bus.call('board:update', { id: 2, addBlockedBy: [1] })
    expect(task).toMatchObject({ blockedBy: [], dependencies: [1], ready: true })
    expect((await engine.bus.call('board:create', { subject: 'c', blockedBy: [1] })).task).toMatchObject({
      ready: true,
    })
  })

  it('S4-029 edges of a task in progress or ended cannot be changed from either end', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: '', c: '', d: '', e: '' })
    await engine.bus.call('board:claim', { id: 2, as: 'bob' })
    await engine.bus.call('board:update', { id: 3, status: 'completed' })
    await engine.bus.call('board:update', { id: 4, status: 'deleted' })
    const before = await everything(engine)
    for (const id of [2, 3, 4]) {
      const refusal = await refusalOf(engine.bus.call('board:update', { id, addBlockedBy: [1] }), 'INVALID_TRANSITION')
      expect(refusal.message).toMatch(new RegExp(`task ${id}`))
      await refusalOf(engine.bus.call('board:update', { id: 1, addBlocks: [5, id] }), 'INVALID_TRANSITION')
      await refusalOf(engine.bus.call('board:create', { subject: 'f', blocks: [id] }), 'INVALID_TRANSITION')
    }
    expect(await everything(engine)).toBe(before)
    // An assigned task has not begun.
    await engine.bus.call('board:update', { id: 5, owner: 'bob' })
    expect((await engine.bus.call('board:update', { id: 5, addBlockedBy: [1] })).task).toMatchObject({ blockedBy: [1] })
  })

  it('S4-030 starting or completing a blocked task is refused, naming its blockers', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: '', c: 'ab' })
    for (const status of ['in_progress', 'completed', 'failed'] as const) {
      for (const as of ['alice', undefined]) {
        const by = as === undefined ? {} : { as }
        const { message, details } = await refusalOf(
          engine.bus.call('board:update', { id: 3, status, ...by }),
          'BLOCKED',
        )
        expect(message).toBe('Task 3 is blocked by [1, 2]: complete them first')
        expect(details).toMatchObject({ numbers: [1, 2] })
      }
    }
    expect(await codeOf(engine.bus.call('board:claim', { id: 3, as: 'alice' }))).toBe('BLOCKED')
    await engine.bus.call('board:update', { id: 1, status: 'completed' })
    expect((await refusalOf(engine.bus.call('board:claim', { id: 3, as: 'alice' }), 'BLOCKED')).message).toBe(
      'Task 3 is blocked by [2]: complete it first',
    )
  })
})

describe('A task that ends otherwise', () => {
  it('S4-032 deleting a task removes its edges in both directions and returns the tasks it unblocked', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: 'a', c: 'b', d: 'bc' })
    expect(await engine.bus.call('board:delete', { id: 2 })).toMatchObject({
      deleted: true,
      id: 2,
      unblocked: [{ id: 3 }],
    })
    expect(await taskOf(engine, 1)).toMatchObject({ blocks: [] })
    expect(await waits(engine)).toEqual({ 1: [], 3: [], 4: [3] })
    expect((await refusalOf(engine.bus.call('board:get', { id: 2 }), 'NOT_FOUND')).message).toBe('Task 2 not found')
    expect((await refusalOf(engine.bus.call('board:delete', { id: 2 }), 'NOT_FOUND')).message).toBe('Task 2 not found')
    await refusalOf(engine.bus.call('board:update', { id: 4, addBlockedBy: [2] }), 'NOT_FOUND')
  })

  it('S4-032 on deletion the children become roots, are deleted as well, or cause a refusal, as requested', async () => {
    const { engine, ask } = await openBoard()
    const family = async () => {
      const whole = Number((await ask('task_create', { subject: 'whole' }))['id'])
      const part = Number((await engine.bus.call('board:create', { subject: 'part', parent: whole })).task.id)
      const next = Number((await engine.bus.call('board:create', { subject: 'next', blockedBy: [part] })).task.id)
      return { whole, part, next }
    }
    const kept = await family()
    const { message } = await refusalOf(
      engine.bus.call('board:delete', { id: kept.whole, children: 'refuse' }),
      'HAS_CHILDREN',
    )
    expect(message).toMatch(new RegExp(`task ${kept.whole}`))
    expect(await engine.bus.call('board:delete', { id: kept.whole })).toMatchObject({ unblocked: [] })
    expect(await taskOf(engine, kept.part)).not.toHaveProperty('parent')
    const removed = await family()
    expect(await engine.bus.call('board:delete', { id: removed.whole, children: 'cascade' })).toMatchObject({
      unblocked: [{ id: removed.next }],
    })
    await refusalOf(engine.bus.call('board:get', { id: removed.part }), 'NOT_FOUND')
  })

  it('S4-047 S4-048 a failed or deleted task blocks its dependents until it is retried and completed', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: 'a', c: '', d: 'c' })
    await engine.bus.call('board:update', { id: 1, status: 'failed', reason: 'no luck', as: 'alice' })
    await engine.bus.call('board:update', { id: 3, status: 'deleted', reason: 'not wanted' })
    expect(await waits(engine)).toEqual({ 1: [], 2: [1], 3: [], 4: [3] })
    expect(await taskOf(engine, 1)).toMatchObject({
      status: 'failed',
      error: { code: 'TASK_FAILED', message: 'no luck' },
      statusReason: 'no luck',
    })
    expect(await taskOf(engine, 3)).toMatchObject({ canonicalStatus: 'canceled', statusReason: 'not wanted' })
    expect(await codeOf(engine.bus.call('board:claim', { id: 2, as: 'bob' }))).toBe('BLOCKED')
    expect((await engine.bus.call('board:update', { id: 1, status: 'pending' })).task).toMatchObject({
      status: 'pending',
      owner: '',
      ready: true,
    })
    const { unblocked } = await engine.bus.call('board:update', { id: 1, status: 'completed', as: 'bob' })
    expect(unblocked).toMatchObject([{ id: 2 }])
    expect((await engine.bus.call('board:update', { id: 4, removeBlockedBy: [3] })).task).toMatchObject({ ready: true })
  })

  it('S4-031 a completed or deleted task cannot be reopened, and the refusal names what would work', async () => {
    const { engine, ask } = await openBoard()
    await ask('task_create', { subject: 'a' })
    await ask('task_update', { task_id: 1, status: 'completed' })
    for (const status of ['pending', 'in_progress', 'failed', 'deleted'] as const) {
      const { message } = await refusalOf(engine.bus.call('board:update', { id: 1, status }), 'INVALID_TRANSITION')
      expect(message).toBe(`Task 1 is completed and cannot become ${status}: create a new task instead`)
    }
  })
})

describe('Queries of the graph', () => {
  it('S4-044 board:ready returns pending, unowned, unblocked tasks by priority, then by number', async () => {
    const { engine } = await openBoard({ executors: { work: () => 'done' }, autoStart: false })
    const create = async (subject: string, more: Record<string, unknown> = {}) =>
      (await engine.bus.call('board:create', { subject, ...more })).task.id
    await create('low')
    await create('high', { priority: 5 })
    await create('blocked', { blockedBy: [1] })
    await create('owned', { owner: 'bob' })
    await create('taken')
    await engine.bus.call('board:claim', { id: 5, as: 'bob' })
    await create('also high', { priority: 5 })
    await create('run', { executor: 'work' })
    await create('of a role', { role: 'tester', tags: ['web'] })
    const ready = async (filter: Record<string, unknown> = {}) =>
      (await engine.bus.call('board:ready', filter)).tasks.map(({ id }) => id)
    expect(await ready()).toEqual([2, 6, 1, 8])
    expect(await ready({ role: 'tester' })).toEqual([8])
    expect(await ready({ tags: ['web'] })).toEqual([8])
    expect(await ready({ tags: ['web', 'app'] })).toEqual([])
    expect(await engine.bus.call('board:ready', { limit: 1 })).toMatchObject({ tasks: [{ id: 2 }], total: 4 })
  })

  it('S4-049 board:graph returns an order in which all tasks can be done, and the tasks that hold up most', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: '', c: 'ab', d: 'c', e: '', f: 'd' })
    await engine.bus.call('board:update', { id: 5, priority: 9 })
    const { order, critical } = await engine.bus.call('board:graph', {})
    const ids = order.map(({ id }) => id)
    expect(ids).toEqual([5, 1, 2, 3, 4, 6])
    for (const { id, dependencies } of order)
      for (const before of dependencies) expect(ids.indexOf(before as number)).toBeLessThan(ids.indexOf(id))
    expect(critical).toEqual([
      { id: 1, holdsUp: 3 },
      { id: 2, holdsUp: 3 },
    ])
    await engine.bus.call('board:update', { id: 1, status: 'completed' })
    expect((await engine.bus.call('board:graph', {})).order.map(({ id }) => id)).toEqual([5, 2, 3, 4, 6])
  })

  it('S4-049 board:why explains with board numbers why a task does not move', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: 'a', c: '', d: 'c' })
    const why = async (id: number) => engine.bus.call('board:why', { id })
    expect(await why(2)).toMatchObject({ id: 2, status: 'pending', reason: 'blocked', blockedBy: [1] })
    expect((await why(2)).message).toBe('It comes after a (task 1), not yet completed.')
    await engine.bus.call('board:claim', { id: 1, as: 'bob' })
    expect(await why(1)).toMatchObject({ reason: 'running', status: 'in_progress', blockedBy: [] })
    expect((await why(1)).message).toContain('bob')
    await engine.bus.call('board:update', { id: 3, status: 'failed' })
    expect(await why(4)).toMatchObject({ reason: 'blocked', blockedBy: [3] })
    expect(await why(3)).toMatchObject({ status: 'failed', reason: 'settled' })
  })

  it('S4-020 S4-044 a board below a task shows the same as board:get and omits tasks that were moved out', async () => {
    const { engine } = await openBoard()
    const call = (id: string, input: unknown) => engine.bus.call(id as string, input) as Promise<never>
    await call('board:create', { subject: 'Release' })
    await call('board:create', { subject: 'Stage', parent: 1 })
    await call('board:create', { subject: 'Pack', parent: 2 })
    await call('board:create', { subject: 'Announce', blockedBy: [3] })
    await call('board:create', { subject: 'Forgotten', blockedBy: [3] })
    await call('board:delete', { id: 5 })
    await call('board:open', { board: 'release', parent: 1 })
    for (const board of ['main', 'release']) {
      const { tasks } = await engine.bus.call('board:list', { board })
      for (const task of tasks) expect((await engine.bus.call('board:get', { id: task.id, board })).task).toEqual(task)
    }
    await call('board:delete', { id: 2 })
    expect(await engine.bus.call('board:list', { board: 'release' })).toMatchObject({ total: 0, text: 'No tasks.' })
    expect(await engine.bus.call('board:ready', { board: 'release' })).toMatchObject({ total: 0 })
    expect((await engine.bus.call('board:claim_next', { board: 'release', as: 'alice' })).task).toBeNull()
    await call('board:delete', { id: 1 })
    expect(await engine.bus.call('board:graph', { board: 'release' })).toEqual({ order: [], critical: [] })
  })

  it('S4-044 board:list filters by status, owner, role, tag and parent, and returns the total', async () => {
    const { engine } = await openBoard()
    const call = (input: Record<string, unknown>) => engine.bus.call('board:create', input as never)
    await call({ subject: 'whole', tags: ['x'] })
    await call({ subject: 'part', parent: 1, role: 'tester', tags: ['x', 'y'] })
    await call({ subject: 'other', owner: 'bob' })
    await engine.bus.call('board:update', { id: 3, status: 'completed', as: 'bob' })
    const list = async (filter: Record<string, unknown>) =>
      (await engine.bus.call('board:list', filter)).tasks.map(({ id }) => id)
    expect(await list({})).toEqual([1, 2, 3])
    expect(await list({ status: 'completed' })).toEqual([3])
    expect(await list({ status: ['pending', 'completed'] })).toEqual([1, 2, 3])
    expect(await list({ owner: 'bob' })).toEqual([3])
    expect(await list({ role: 'tester' })).toEqual([2])
    expect(await list({ tags: ['x', 'y'] })).toEqual([2])
    expect(await list({ parent: 1 })).toEqual([2])
    const page = await engine.bus.call('board:list', { limit: 1 })
    expect([page.tasks.length, page.total, page.text]).toEqual([1, 3, '[ ] #1: whole\n… and 2 more'])
    await refusalOf(engine.bus.call('board:list', { parent: 99 }), 'NOT_FOUND')
  })
})
