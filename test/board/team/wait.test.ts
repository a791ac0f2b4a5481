// Waiting for work: inbox first, then the board, then sleep; and what ends the sleep.
import { describe, expect, it } from 'vitest'
import { awaitWork } from '../../../src/board/team/await-work.ts'
import { ErrandError } from '../../../src/core/errors.ts'
import { delegateLedger } from '../../../src/ledger/delegate-ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { createFaultyLedger } from '../../../src/testing/faulty-ledger.ts'
import { ledgerFile, openEngine, refusalOf, turns } from '../../engine/world.ts'
import { modelOf } from '../../operations/world.ts'
import { createAll, openTeam } from './world.ts'

/** The state of a promise now. */
function watched<T>(work: Promise<T>): { done: boolean; work: Promise<T> } {
  const seen = { done: false, work }
  const note = () => {
    seen.done = true
  }
  work.then(note, note)
  return seen
}

describe('An idle member', () => {
  it('S4-060 board:wait returns mail first, then the best claimable task, then idle', async () => {
    const { bus, engine, clock } = await openTeam()
    await createAll(
      bus,
      'low',
      { subject: 'urgent', priority: 5 },
      { subject: 'for testers', priority: 9, role: 'tester' },
    )
    await bus.call('board:send', { as: 'lead', to: 'ada', body: 'read me first' })
    const next = () => awaitWork(engine, { as: 'ada', idleTimeoutMs: 1_000 })
    expect(await next()).toMatchObject({ kind: 'mail', mail: [{ from: 'lead', body: 'read me first' }], more: false })
    expect(await next()).toMatchObject({ kind: 'task', task: { id: 2, owner: 'ada', status: 'in_progress' } })
    expect(await next()).toMatchObject({ kind: 'task', task: { id: 1 } })
    const idle = next()
    await turns()
    clock.increment(1_000)
    expect(await idle).toEqual({ kind: 'idle' })
    expect((await bus.call('board:get', { id: 3 })).task).toMatchObject({ status: 'pending', owner: '' })
  })

  it('S4-060 board:wait ends after its timeout and checks at the given interval', async () => {
    const { bus, engine, clock } = await openTeam({ work: false })
    const wait = watched(awaitWork(engine, { as: 'ada', idleTimeoutMs: 10_000, pollMs: 100 }))
    await turns()
    clock.increment(9_999)
    await turns()
    expect(wait.done).toBe(false)
    clock.increment(1)
    expect(await wait.work).toEqual({ kind: 'idle' })

    // Where no engine works, the end of a lease adds no event: only the periodic check finds it.
    await createAll(bus, 'held')
    await bus.call('board:claim', { id: 1, as: 'bob', leaseMs: 500 })
    const other = watched(awaitWork(engine, { as: 'ada', idleTimeoutMs: 10_000, pollMs: 2_000 }))
    await turns()
    clock.increment(1_999)
    await turns()
    expect(other.done).toBe(false)
    clock.increment(1)
    expect(await other.work).toMatchObject({ kind: 'task', task: { id: 1, owner: 'ada', fence: 2 } })
  })

  it('S4-060 mail of the same engine, which adds no event, ends a wait at once', async () => {
    const { bus, engine } = await openTeam({ work: false })
    const wait = awaitWork(engine, { as: 'ada', pollMs: 600_000 })
    await turns()
    await bus.call('board:request', { as: 'lead', to: 'ada', topic: 'shutdown' })
    const asked = await wait
    expect(asked).toMatchObject({ kind: 'mail', mail: [{ kind: 'request', topic: 'shutdown' }] })
    const answer = awaitWork(engine, { as: 'lead', pollMs: 600_000 })
    await turns()
    const requestId = asked.kind === 'mail' ? (asked.mail[0]?.requestId as string) : ''
    await bus.call('board:respond', { as: 'ada', requestId, approve: true })
    expect(await answer).toMatchObject({ kind: 'mail', mail: [{ kind: 'response', verdict: 'approved' }] })
  })

  it('S4-060 an unblocked task or mail ends a wait at once, from this process or another', async () => {
    const ledger = ledgerFile()
    const here = await openEngine({ ledger })
    const there = await openEngine({ ledger })
    const wait = () => awaitWork(here, { as: 'ada', pollMs: 600_000, idleTimeoutMs: Number.POSITIVE_INFINITY })
    for (const { bus } of [here, there]) {
      const mail = wait()
      await turns()
      await bus.call('board:send', { as: 'bob', to: 'ada', body: 'wake up' })
      expect(await mail).toMatchObject({ kind: 'mail', mail: [{ body: 'wake up' }] })
      const task = wait()
      await turns()
      const { task: made } = await bus.call('board:create', { subject: 'do it' })
      expect(await task).toMatchObject({ kind: 'task', task: { id: made.id, owner: 'ada' } })
    }
    const [first] = await createAll(here.bus, 'first')
    await here.bus.call('board:claim', { id: first as number, as: 'bob' })
    const [second] = await createAll(here.bus, { subject: 'second', blockedBy: [first as number] })
    const freed = wait()
    await turns()
    await there.bus.call('board:complete', { id: first as number, as: 'bob' })
    expect(await freed).toMatchObject({ kind: 'task', task: { id: second } })
  })

  it('S4-060 board:wait claims by role, tags, parent and board, with the given lease and workspace', async () => {
    const { bus, engine, clock } = await openTeam()
    const [epic] = (await createAll(
      bus,
      { subject: 'epic', role: 'lead' },
      { subject: 'elsewhere', tags: ['rust'], role: 'coder' },
    )) as [number, number]
    await createAll(
      bus,
      { subject: 'untagged', parent: epic },
      { subject: 'mine', parent: epic, tags: ['rust'], role: 'coder' },
    )
    const work = await awaitWork(engine, {
      as: 'ada',
      role: 'coder',
      tags: ['rust'],
      parent: epic,
      leaseMs: 1_000,
      workspace: '/trees/ada',
    })
    expect(work).toMatchObject({
      kind: 'task',
      task: { subject: 'mine', leaseUntil: clock.now() + 1_000, workspace: '/trees/ada' },
    })
    await bus.call('board:open', { board: 'epic', parent: epic })
    expect(await awaitWork(engine, { as: 'ada', board: 'epic' })).toMatchObject({
      kind: 'task',
      task: { id: 1, subject: 'untagged' },
    })
    await refusalOf(awaitWork(engine, { as: 'ada', parent: 99 }), 'NOT_FOUND')
    await refusalOf(awaitWork(engine, { as: 'ada', board: 'none' }), 'NOT_FOUND')
    await refusalOf(awaitWork(engine, { as: '' }), 'INVALID_INPUT')
    await refusalOf(awaitWork(engine, { as: 'ada', timeoutMs: 5 } as never), 'UNKNOWN_OPTION')
  })

  it('awaitWork waits longer than the maximum of one call', async () => {
    const { bus, engine, clock } = await openTeam({ work: false })
    const wait = watched(awaitWork(engine, { as: 'ada', idleTimeoutMs: 1_500_000, pollMs: 600_000 }))
    for (let passed = 0; passed < 1_400_000; passed += 200_000) {
      await turns()
      clock.increment(200_000)
    }
    await turns()
    expect(wait.done).toBe(false)
    clock.increment(100_000)
    expect(await wait.work).toEqual({ kind: 'idle' })
    await refusalOf(bus.call('board:wait', { as: 'ada', timeoutMs: 600_001 }), 'INVALID_INPUT')
  })

  it('a wait leaves no timer and no listener behind', async () => {
    const { bus, engine, clock } = await openTeam({ work: false })
    const before = clock.pending
    const stop = new AbortController()
    const left = awaitWork(engine, { as: 'ada', signal: stop.signal })
    await turns()
    stop.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    await createAll(bus, 'something')
    expect(await awaitWork(engine, { as: 'ada' })).toMatchObject({ kind: 'task' })
    expect(clock.pending).toBe(before)
  })

  it('a wait rejects when the engine closes', async () => {
    const { engine } = await openTeam()
    const wait = awaitWork(engine, { as: 'ada' })
    const refusal = refusalOf(wait, 'ENGINE_CLOSED')
    await turns()
    await engine.close()
    await refusal
  })
})

describe('A caller that has left', () => {
  it('S4-060 a wait whose caller has left claims no task and takes no mail', async () => {
    const ledger = createFaultyLedger(await openLedger(':memory:'))
    const { bus, engine } = await openTeam({ ledger })
    const gate = ledger.hold('take work')
    const stop = new AbortController()
    const wait = refusalOf(awaitWork(engine, { as: 'ada', signal: stop.signal }), 'EXECUTION_ERROR')
    await createAll(bus, 'something')
    await bus.call('board:send', { as: 'bob', to: 'ada', body: 'too late' })
    await gate.reached
    stop.abort(new Error('the client hung up'))
    gate.open()
    expect((await wait).message).toContain('the client hung up')
    expect((await bus.call('board:get', { id: 1 })).task).toMatchObject({ status: 'pending', owner: '', fence: 0 })
    expect((await bus.call('board:inbox', { as: 'ada' })).mail).toHaveLength(1)
    await engine.close()
    await ledger.close()
  })

  it('S4-060 a task claimed at the moment in which the caller leaves is released at once', async () => {
    const inner = await openLedger(':memory:')
    const stop = new AbortController()
    const ledger = delegateLedger(inner, {
      async step(step) {
        const done = await inner.step(step)
        if (step.name === 'take work') stop.abort(new Error('the client hung up'))
        return done
      },
    })
    const { bus, engine } = await openTeam({ ledger })
    await createAll(bus, 'something')
    await refusalOf(awaitWork(engine, { as: 'ada', signal: stop.signal }), 'EXECUTION_ERROR')
    expect((await bus.call('board:get', { id: 1 })).task).toMatchObject({ status: 'pending', owner: '', ready: true })
    expect((await bus.call('board:log', { id: 1 })).claims).toMatchObject([
      { event: 'claimed', owner: 'ada' },
      { event: 'released', owner: 'ada', reason: 'the caller stopped waiting' },
    ])
    await engine.close()
    await inner.close()
  })

  it('a wait with an aborted signal ends at once', async () => {
    const { bus, engine } = await openTeam()
    await createAll(bus, 'something')
    const refusal = await refusalOf(awaitWork(engine, { as: 'ada', signal: AbortSignal.abort() }), 'EXECUTION_ERROR')
    expect(ErrandError.isInstance(refusal)).toBe(true)
    expect((await bus.call('board:get', { id: 1 })).task.owner).toBe('')
  })
})

describe('Several idle members', () => {
  it('S4-054 S4-060 of several waiting members one claims a new task, and the others continue to wait', async () => {
    const { bus, engine, clock } = await openTeam()
    const names = ['ada', 'bob', 'cy', 'dee']
    const waits = names.map((as) => watched(awaitWork(engine, { as, idleTimeoutMs: 1_000 })))
    await turns()
    await createAll(bus, 'one')
    await Promise.race(waits.map(({ work }) => work))
    await turns()
    expect(waits.filter(({ done }) => done)).toHaveLength(1)
    clock.increment(1_000)
    const kinds = (await Promise.all(waits.map(({ work }) => work))).map(({ kind }) => kind)
    expect(kinds.sort()).toEqual(['idle', 'idle', 'idle', 'task'])
  })

  it('a model waits in the name of its task, for tasks below it', async () => {
    const { bus, engine } = await openTeam()
    const own = await engine.create({ name: 'own' })
    await createAll(bus, { subject: 'elsewhere', priority: 9 })
    const part = await engine.create({ name: 'part', parentId: own.id })
    const work = await bus.call('board:wait', { as: 'lead', timeoutMs: 0 }, { caller: modelOf(own.id) })
    expect(work).toMatchObject({ kind: 'task', task: { taskId: part.id, owner: own.id } })
    expect(await bus.call('board:wait', { timeoutMs: 0 }, { caller: modelOf(own.id) })).toEqual({ kind: 'idle' })
  })
})
