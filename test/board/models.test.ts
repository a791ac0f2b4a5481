// A model on the board: it sees, claims and changes tasks below its own, in the name of its task, and no others.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import { openEngine, refusalOf } from '../engine/world.ts'

async function setup() {
  const engine = (await openEngine({ executors: { work: () => 'done' }, autoStart: false })) as unknown as Engine
  const own = await engine.create({ name: 'own', executor: 'work' })
  const child = await engine.create({ name: 'child', parentId: own.id })
  const part = await engine.create({ name: 'part', parentId: child.id })
  const outsider = await engine.create({ name: 'the outsider', blockedBy: [child.id], metadata: { secret: 1 } })
  const caller = { surface: 'model', taskId: own.id, run: 1 }
  return { engine, own, child, part, outsider, call: caller }
}

describe('A model on the board', () => {
  it('I25 a model lists, orders and claims tasks below its own, and no others', async () => {
    const { engine, own, call } = await setup()
    const list = await engine.bus.call('board:list', {}, { caller: call })
    expect(list).toMatchObject({ total: 2, text: '[ ] #2: child\n[ ] #3: part' })
    const { order } = await engine.bus.call('board:graph', {}, { caller: call })
    expect(order.map(({ subject }) => subject)).toEqual(['child', 'part'])
    expect((await engine.bus.call('board:ready', {}, { caller: call })).tasks.map(({ id }) => id)).toEqual([2, 3])
    const { task } = await engine.bus.call('board:claim_next', { as: 'mallory' }, { caller: call })
    expect(task).toMatchObject({ id: 2, owner: own.id })
    await engine.bus.call('board:claim_next', {}, { caller: call })
    expect((await engine.bus.call('board:claim_next', {}, { caller: call })).task).toBeNull()
  })

  it('I25 a model does not learn of tasks outside its own that it unblocks', async () => {
    const { engine, outsider, call } = await setup()
    const answer = await engine.bus.call('board:update', { id: 2, status: 'completed' }, { caller: call })
    expect(answer.unblocked).toEqual([])
    expect(JSON.stringify(answer)).not.toContain('outsider')
    expect((await engine.get(outsider.id))?.blockedBy).toEqual([])
    // A caller without a task sees them.
    const other = await setup()
    expect((await other.engine.bus.call('board:update', { id: 2, status: 'completed' })).unblocked).toMatchObject([
      { id: 4, subject: 'the outsider' },
    ])
  })

  it('I25 a model creates tasks only below its own, on any board, and none with an executor', async () => {
    const { engine, own, call } = await setup()
    await engine.bus.call('board:open', { board: 'elsewhere', parent: 4 })
    const { task } = await engine.bus.call('board:create', { subject: 'new' }, { caller: call })
    expect(task).toMatchObject({ id: 5, parent: 1 })
    expect((await engine.get(task.taskId))?.parentId).toBe(own.id)
    await refusalOf(engine.bus.call('board:create', { subject: 'x', executor: 'work' }, { caller: call }), 'FORBIDDEN')
    for (const input of [
      { subject: 'x', parent: 4 },
      { subject: 'x', blockedBy: [4] },
      { subject: 'x', blocks: ['4'] },
      { subject: 'x', board: 'elsewhere' },
    ])
      await refusalOf(engine.bus.call('board:create', input, { caller: call }), 'FORBIDDEN')
    await refusalOf(engine.bus.call('board:open', { board: 'mine' }, { caller: call }), 'FORBIDDEN')
    expect((await engine.list({ limit: 0 })).total).toBe(5)
  })

  it('I25 a model cannot move its tasks out of its scope by deleting their parent', async () => {
    const { engine, part, call } = await setup()
    const { message } = await refusalOf(engine.bus.call('board:delete', { id: 2 }, { caller: call }), 'FORBIDDEN')
    expect(message).toContain("children: 'cascade'")
    await refusalOf(engine.bus.call('board:delete', { id: 1 }, { caller: call }), 'FORBIDDEN')
    await refusalOf(engine.bus.call('board:delete', { id: 4, children: 'cascade' }, { caller: call }), 'FORBIDDEN')
    expect(await engine.bus.call('board:delete', { id: 2, children: 'cascade' }, { caller: call })).toMatchObject({
      deleted: true,
      unblocked: [],
    })
    expect(await engine.get(part.id)).toBeNull()
  })

  it('I25 a model claims only tasks that are both on the board and below its own', async () => {
    const { engine, own, child, outsider, call } = await setup()
    await engine.create({ name: 'beside the child', parentId: own.id, priority: 9 })
    await engine.bus.call('board:open', { board: 'theirs', parent: outsider.id })
    await engine.bus.call('board:open', { board: 'part', parent: child.id })
    await refusalOf(engine.bus.call('board:claim_next', { board: 'theirs' }, { caller: call }), 'FORBIDDEN')
    const { task } = await engine.bus.call('board:claim_next', { board: 'part' }, { caller: call })
    expect(task).toMatchObject({ id: 1, subject: 'part' })
    expect((await engine.bus.call('board:claim_next', { board: 'part' }, { caller: call })).task).toBeNull()
  })

  it('I25 a model may use the board of its whole family, with the numbers of that board', async () => {
    const { engine, call } = await setup()
    await engine.bus.call('board:open', { board: 'family', parent: 1 })
    await engine.bus.call('board:open', { board: 'beside', parent: 4 })
    const text = async (board: string) => (await engine.bus.call('board:list', { board }, { caller: call })).text
    expect(await text('family')).toBe('[ ] #1: child\n[ ] #2: part')
    await engine.create({
      name: 'of the outsider',
      parentId: (await engine.bus.call('board:get', { id: 4 })).task.taskId,
    })
    expect(await text('beside')).toBe('No tasks.')
    await refusalOf(engine.bus.call('board:get', { id: 1, board: 'beside' }, { caller: call }), 'FORBIDDEN')
  })
})
