// Sessions of members: they renew claims, which others may take when the session has died and the lease is over.
import { describe, expect, it, onTestFinished } from 'vitest'
import { type BoardSession, createBoardSession } from '../../../src/board/board-session.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { BoardTask } from '../../../src/entities/board.ts'
import { deferred, refusalOf, turns } from '../../engine/world.ts'
import { createAll, openTeam, type Team } from './world.ts'

const leaseMs = 900

function sessionOf({ bus, clock }: Team, as: string): BoardSession {
  const session = createBoardSession({ bus, as, clock, leaseMs, surface: 'mcp' })
  onTestFinished(() => session.close())
  return session
}

/** Advances the clock in steps short enough that the effects of each are done before the next. */
async function pass({ clock }: Team, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    clock.increment(Math.min(left, 100))
    await turns()
  }
}

const taskOf = async ({ bus }: Team, id = 1): Promise<BoardTask> => (await bus.call('board:get', { id })).task

describe('A session', () => {
  it('S4-057 a session keeps its claims while it is open, without calls of its agent', async () => {
    const team = await openTeam()
    await createAll(team.bus, 'Write', 'Test')
    const ada = sessionOf(team, 'ada')
    await ada.call('board:claim', { id: 1 })
    await ada.call('board:claim_next', {})
    await pass(team, 10 * leaseMs)
    expect(ada.held()).toMatchObject([
      { id: 1, subject: 'Write', fence: 1 },
      { id: 2, subject: 'Test', fence: 1 },
    ])
    expect(await taskOf(team)).toMatchObject({ owner: 'ada', status: 'in_progress', fence: 1 })
    await ada.call('board:complete', { id: 1 })
    expect(ada.held()).toMatchObject([{ id: 2 }])
    expect((await team.bus.call('board:log', { id: 1 })).claims).toHaveLength(1)
  })

  it('S4-057 S4-059 a session that dies loses its claims when the lease ends: the log says why, and late writes are refused', async () => {
    const team = await openTeam()
    await createAll(team.bus, 'Write')
    const ada = sessionOf(team, 'ada')
    await ada.call('board:claim', { id: 1 })
    ada.close()
    await pass(team, leaseMs - 100)
    expect(await taskOf(team)).toMatchObject({ owner: 'ada', status: 'in_progress' })
    await pass(team, 100)
    expect(await taskOf(team)).toMatchObject({ owner: '', status: 'pending', ready: true })
    const bob = sessionOf(team, 'bob')
    expect(await bob.call('board:claim_next', {})).toMatchObject({ task: { id: 1, owner: 'bob', fence: 2 } })
    expect((await team.bus.call('board:log', { id: 1 })).claims).toMatchObject([
      { event: 'claimed', owner: 'ada', source: 'mcp', fence: 1 },
      { event: 'released', owner: 'ada', fence: 1, reason: 'the lease is over' },
      { event: 'claimed', owner: 'bob', fence: 2 },
    ])
    await refusalOf(ada.call('board:complete', { id: 1 }), 'STALE_CLAIM')
    expect(await taskOf(team)).toMatchObject({ owner: 'bob', status: 'in_progress' })
  })

  it('S4-057 a session takes over the claims of an earlier session of the same name', async () => {
    const team = await openTeam()
    await createAll(team.bus, 'Write')
    const before = sessionOf(team, 'ada')
    await before.call('board:claim', { id: 1 })
    before.close()
    await pass(team, leaseMs / 3)

    const after = sessionOf(team, 'ada')
    expect(after.held()).toEqual([])
    await after.call('board:update', { id: 1, activeForm: 'Writing' })
    expect(after.held()).toMatchObject([{ id: 1, fence: 1 }])
    await pass(team, 5 * leaseMs)
    expect(await after.call('board:complete', { id: 1 })).toMatchObject({ task: { status: 'completed', fence: 1 } })
    expect((await team.bus.call('board:log', { id: 1 })).claims).toHaveLength(1)
  })

  it('V-08 a session sends heartbeats with the rights of the claimant, also where its list of abilities lacks them', async () => {
    const team = await openTeam()
    await createAll(team.bus, 'Write')
    const { taskId } = await taskOf(team)
    await team.bus.call('task:create', { name: 'Outline', parentId: taskId })
    const caller = { surface: 'mcp', taskId, scopes: ['read', 'control'] as const, model: true as const }
    const invoke = { caller: { ...caller, abilities: [['board:claim', 'board:release']] } }
    await sessionOf(team, 'ada').call('board:claim', { id: 2 }, invoke)
    const ada = sessionOf(team, 'ada')
    const looked = deferred<unknown>()
    const stop = team.bus.onCall(({ abilityId, caller: by }) => {
      if (abilityId === 'board:get') looked.resolve(by)
    })
    await refusalOf(ada.call('board:complete', { id: 2 }, invoke), 'FORBIDDEN')
    stop()
    const beats: unknown[] = []
    team.bus.onCall(({ abilityId, caller: by }) => {
      if (abilityId === 'board:heartbeat') beats.push(by)
    })
    await pass(team, 2 * leaseMs)
    expect(beats.length).toBeGreaterThan(2)
    for (const by of [await looked.promise, ...beats]) expect(by).toMatchObject({ ...caller, owner: 'ada' })
    expect(await taskOf(team, 2)).toMatchObject({ owner: taskId, status: 'in_progress', fence: 1 })
  })

  it('a session that lost a claim drops it and sends no more heartbeats for it', async () => {
    const team = await openTeam()
    await createAll(team.bus, 'Write')
    const ada = sessionOf(team, 'ada')
    const idle = team.clock.pending
    await ada.call('board:claim', { id: 1 })
    await team.engine.cancel((await taskOf(team)).taskId)
    await pass(team, leaseMs)
    expect(ada.held()).toEqual([])
    expect(team.clock.pending).toBe(idle)
  })

  it('S4-057 a session distinguishes claims of two boards with the same task number', async () => {
    const team = await openTeam()
    await createAll(team.bus, 'Release', 'Write', { subject: 'Pack', parent: 1 })
    await team.bus.call('board:open', { board: 'release', parent: 1 })
    const ada = sessionOf(team, 'ada')
    // A second claim, so that its fence differs from that of the other task.
    await ada.call('board:claim', { id: 1, board: 'release' })
    await ada.call('board:release', { id: 1, board: 'release' })
    await ada.call('board:claim', { id: 1, board: 'release' })
    await ada.call('board:claim', { id: 1 })
    expect(await ada.call('board:complete', { id: 1 })).toMatchObject({ task: { subject: 'Release', fence: 1 } })
    const done = await ada.call('board:complete', { id: 1, board: 'release' })
    expect(done).toMatchObject({ task: { subject: 'Pack', fence: 2 } })
  })

  it('S4-057 a session sends heartbeats as often as its shortest lease requires', async () => {
    const team = await openTeam()
    await createAll(team.bus, 'Write', 'Test', 'Ship')
    const ada = sessionOf(team, 'ada')
    await ada.call('board:claim', { id: 1 })
    await ada.call('board:claim', { id: 2, leaseMs: 300 })
    await ada.call('board:update', { id: 2, activeForm: 'Testing' })
    const bob = createBoardSession({ bus: team.bus, as: 'bob', clock: team.clock, leaseMs: null })
    onTestFinished(() => bob.close())
    await bob.call('board:claim', { id: 3, leaseMs: 300 })
    await pass(team, 5 * leaseMs)
    expect(await taskOf(team, 1)).toMatchObject({ owner: 'ada', fence: 1 })
    expect(await taskOf(team, 2)).toMatchObject({ owner: 'ada', fence: 1 })
    expect(await taskOf(team, 3)).toMatchObject({ owner: 'bob', fence: 1 })
  })

  it('S4-057 a session keeps a new claim although a heartbeat of the previous one is refused later', async () => {
    const team = await openTeam()
    await createAll(team.bus, 'Write')
    const [held, late] = [deferred<void>(), deferred<void>()]
    let isSlow = true
    const bus: Pick<Engine['bus'], 'call' | 'get'> = {
      get: (id) => team.bus.get(id),
      call: (async (id: string, ...rest: [never, never]) => {
        if (id === 'board:heartbeat' && isSlow) {
          isSlow = false
          late.resolve()
          await held.promise
        }
        return team.bus.call(id as string, ...rest)
      }) as Engine['bus']['call'],
    }
    const ada = createBoardSession({ bus, as: 'ada', clock: team.clock, leaseMs })
    onTestFinished(() => ada.close())
    await ada.call('board:claim', { id: 1 })
    await pass(team, leaseMs / 3)
    await late.promise
    await ada.call('board:release', { id: 1 })
    await ada.call('board:claim', { id: 1 })
    held.resolve()
    await pass(team, 3 * leaseMs)
    expect(ada.held()).toMatchObject([{ id: 1, fence: 2 }])
    expect(await taskOf(team)).toMatchObject({ owner: 'ada', status: 'in_progress', fence: 2 })
  })

  it("S4-060 a session that waits for work keeps the claims it receives, and reads only its member's mail", async () => {
    const team = await openTeam()
    await createAll(team.bus, 'Write')
    const ada = sessionOf(team, 'ada')
    const bob = sessionOf(team, 'bob')
    await bob.call('board:send', { to: 'ada', body: 'hello', as: 'eve' })
    expect(await bob.call('board:inbox', { as: 'ada' })).toEqual({ mail: [], more: false })
    expect(await ada.call('board:wait', { as: 'bob' })).toMatchObject({ kind: 'mail', mail: [{ from: 'bob' }] })
    expect(await ada.call('board:wait', {})).toMatchObject({ kind: 'task', task: { owner: 'ada' } })
    await pass(team, 3 * leaseMs)
    expect(ada.held()).toMatchObject([{ id: 1 }])
    expect(await taskOf(team)).toMatchObject({ owner: 'ada', status: 'in_progress' })
  })
})
