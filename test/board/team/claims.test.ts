// Claims by members of a team: by number, with roles, and with a log.
import { describe, expect, it } from 'vitest'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { createFaultyLedger } from '../../../src/testing/faulty-ledger.ts'
import { refusalOf } from '../../engine/world.ts'
import { createAll, openTeam } from './world.ts'

describe('A task on the board', () => {
  it('S4-050 S4-051 a task has no owner until it is claimed, then it is in progress and belongs to its claimant', async () => {
    const { bus } = await openTeam()
    const { task } = await bus.call('board:create', { subject: 'Write' })
    expect(task).toMatchObject({ id: 1, owner: '', status: 'pending', ready: true, fence: 0 })
    const claimed = await bus.call('board:claim', { id: 1, as: 'ada' })
    expect(claimed.task).toMatchObject({ id: 1, owner: 'ada', status: 'in_progress', ready: false, fence: 1 })
  })

  it("S4-052 claiming another client's task is refused with its status and owner", async () => {
    const { bus } = await openTeam()
    await createAll(bus, 'Write')
    await bus.call('board:claim', { id: 1, as: 'ada' })
    const refusal = await refusalOf(bus.call('board:claim', { id: '#1', as: 'bob' }), 'NOT_CLAIMABLE')
    expect(refusal.message).toMatch(/task 1\b.*worked on by ada/)
    expect(refusal.details).toMatchObject({ status: 'working', owner: 'ada' })
    await bus.call('board:complete', { id: 1, as: 'ada' })
    const late = await refusalOf(bus.call('board:claim', { id: 1, as: 'bob' }), 'NOT_CLAIMABLE')
    expect(late.message).toMatch(/completed by ada/)
  })

  it('S4-053 claiming a blocked task is refused with its open blockers', async () => {
    const { bus } = await openTeam()
    await createAll(bus, 'a', 'b', 'c', { subject: 'd', blockedBy: [1, 2, 3] })
    await bus.call('board:update', { id: 2, status: 'completed', as: 'ada' })
    const refusal = await refusalOf(bus.call('board:claim', { id: 4, as: 'ada' }), 'BLOCKED')
    expect(refusal.message).toContain('[1, 3]')
    expect(refusal.details).toMatchObject({ numbers: [1, 3] })
    for (const id of [1, 3]) await bus.call('board:update', { id, status: 'completed', as: 'ada' })
    expect((await bus.call('board:claim', { id: 4, as: 'ada' })).task.status).toBe('in_progress')
  })

  it('S4-055 S4-056 a task is completed by its owner, who stays its owner; a pending one cannot be completed', async () => {
    const { bus } = await openTeam()
    await createAll(bus, 'Write')
    const pending = await refusalOf(bus.call('board:complete', { id: 1, as: 'ada' }), 'INVALID_TRANSITION')
    expect(pending.message).toBe('Task 1 is pending: claim it before you complete it')
    await bus.call('board:claim', { id: 1, as: 'ada' })
    for (const as of ['bob', undefined]) {
      const refusal = await refusalOf(
        bus.call('board:complete', { id: 1, ...(as === undefined ? {} : { as }) }),
        'NOT_OWNER',
      )
      expect(refusal.details).toMatchObject({ owner: 'ada' })
    }
    const { task } = await bus.call('board:complete', { id: 1, as: 'ada', result: { words: 300 } })
    expect(task).toMatchObject({ status: 'completed', owner: 'ada', result: { words: 300 } })
  })

  it('S4-045 completing a task returns the tasks that this unblocked, and only those', async () => {
    const { bus } = await openTeam()
    await createAll(
      bus,
      'a',
      'b',
      { subject: 'after a', blockedBy: [1] },
      { subject: 'after both', blockedBy: [1, 2] },
      { subject: 'after the third', blockedBy: [3] },
      { subject: 'after a too', blockedBy: [1] },
      'free anyway',
    )
    await bus.call('board:claim', { id: 1, as: 'ada' })
    const { unblocked } = await bus.call('board:complete', { id: 1, as: 'ada' })
    expect(unblocked.map(({ id, subject }) => [id, subject])).toEqual([
      [3, 'after a'],
      [6, 'after a too'],
    ])
    const second = await bus.call('board:update', { id: 2, status: 'completed', as: 'ada' })
    expect(second.unblocked.map(({ id }) => id)).toEqual([4])
  })

  it('S4-057 a released task is pending, unowned, and claimable', async () => {
    const { bus } = await openTeam()
    await createAll(bus, 'Write')
    await refusalOf(bus.call('board:release', { id: 1, as: 'ada' }), 'INVALID_TRANSITION')
    await bus.call('board:claim', { id: 1, as: 'ada' })
    await refusalOf(bus.call('board:release', { id: 1, as: 'bob' }), 'NOT_OWNER')
    const { task } = await bus.call('board:release', { id: 1, as: 'ada', reason: 'ill' })
    expect(task).toMatchObject({ status: 'pending', owner: '', ready: true })
    expect((await bus.call('board:claim_next', { as: 'bob' })).task).toMatchObject({ id: 1, owner: 'bob', fence: 2 })
    await refusalOf(bus.call('board:complete', { id: 1, as: 'ada', fence: 1 }), 'STALE_CLAIM')
  })
})

describe('The next claim', () => {
  it('S4-058 board:claim_next takes the highest priority, then the oldest; null if there is none', async () => {
    const { bus } = await openTeam()
    await createAll(
      bus,
      { subject: 'low', priority: -1 },
      'first',
      'second',
      { subject: 'high', priority: 7 },
      { subject: 'higher, but blocked', priority: 9, blockedBy: [1] },
    )
    const got: Array<number | undefined> = []
    for (let n = 0; n < 5; n++) got.push((await bus.call('board:claim_next', { as: `agent-${n}` })).task?.id)
    expect(got).toEqual([4, 2, 3, 1, undefined])
  })

  it('S4-058 board:claim_next respects roles, tags and parent', async () => {
    const { bus } = await openTeam()
    const [epic] = (await createAll(bus, { subject: 'epic', role: 'lead' })) as [number]
    await createAll(
      bus,
      { subject: 'for testers', priority: 9, role: 'tester' },
      { subject: 'tagged', tags: ['rust', 'ui'] },
      { subject: 'part', parent: epic, priority: -3 },
    )
    const next = async (terms: object) =>
      (await bus.call('board:claim_next', { as: 'ada', ...terms })).task?.subject ?? null
    expect(await next({ parent: epic, role: 'tester' })).toBe('part')
    expect(await next({ tags: ['rust', 'api'] })).toBeNull()
    expect(await next({ tags: ['ui'] })).toBe('tagged')
    expect(await next({})).toBeNull()
    const gate = await refusalOf(bus.call('board:claim', { id: 2, as: 'ada', role: 'coder' }), 'NOT_CLAIMABLE')
    expect(gate.message).toContain('for the role tester')
    expect(await next({ role: 'tester' })).toBe('for testers')
  })

  it('S4-054 concurrent claims each get another task, and no task is claimed twice', async () => {
    const { bus } = await openTeam()
    await createAll(bus, 'a', 'b', 'c')
    const claims = await Promise.all(
      Array.from({ length: 10 }, (_, n) => bus.call('board:claim_next', { as: `agent-${n}` })),
    )
    expect(claims.flatMap(({ task }) => task?.id ?? []).sort((a, b) => a - b)).toEqual([1, 2, 3])
    const one = await bus.call('board:create', { subject: 'one' })
    const races = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => bus.call('board:claim', { id: one.task.id, as: `agent-${n}` })),
    )
    expect(races.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('S4-058 board:claim_next numbers a task that was created while the claim was in flight', async () => {
    const ledger = createFaultyLedger(await openLedger(':memory:'))
    const { bus, engine } = await openTeam({ ledger })
    await createAll(bus, 'old')
    const gate = ledger.hold('claim next on board')
    const claim = bus.call('board:claim_next', { as: 'ada' })
    await gate.reached
    const urgent = await engine.create({ name: 'urgent', priority: 9 })
    gate.open()
    expect((await claim).task).toMatchObject({ id: 2, taskId: urgent.id, subject: 'urgent' })
    await engine.close()
    await ledger.close()
  })
})

describe('The claim log', () => {
  it('S4-059 board:log shows who claimed and released a task: when, role, surface, fence and reason', async () => {
    const { bus, clock } = await openTeam()
    await createAll(bus, { subject: 'Write', role: 'writer' })
    const at = clock.now()
    await bus.call('board:claim', { id: 1, as: 'ada', role: 'writer' })
    clock.increment(10)
    await bus.call('board:release', { id: 1, as: 'ada', reason: 'lunch' })
    clock.increment(10)
    await bus.call('board:claim_next', { role: 'writer' }, { caller: { surface: 'mcp', owner: 'bob' } })
    const { claims } = await bus.call('board:log', { id: 1 })
    const line = { id: 1, taskId: (await bus.call('board:get', { id: 1 })).task.taskId }
    expect(claims).toEqual([
      { ...line, at, event: 'claimed', owner: 'ada', role: 'writer', source: 'library', fence: 1, reason: null },
      { ...line, at: at + 10, event: 'released', owner: 'ada', role: null, source: null, fence: 1, reason: 'lunch' },
      { ...line, at: at + 20, event: 'claimed', owner: 'bob', role: 'writer', source: 'mcp', fence: 2, reason: null },
    ])
  })
})
