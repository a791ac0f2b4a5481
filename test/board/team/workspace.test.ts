// Workspaces: bound to a task while it is in progress, and to one task at a time.
import { describe, expect, it } from 'vitest'
import { refusalOf, turns } from '../../engine/world.ts'
import { createAll, openTeam, type Team } from './world.ts'

const tree = '/trees/ada'

async function shown({ bus }: Pick<Team, 'bus'>, id: number): Promise<[string, string | undefined]> {
  const { task } = await bus.call('board:get', { id })
  return [task.status, task.workspace]
}

describe('A workspace', () => {
  it('S4-061 a workspace is bound in the call that sets its task in_progress, and unbound when the task is completed', async () => {
    const team = await openTeam()
    const { bus } = team
    await createAll(bus, 'Write')
    const bound = await bus.call('board:update', { id: 1, status: 'in_progress', workspace: tree, as: 'ada' })
    expect(bound.task).toMatchObject({ status: 'in_progress', owner: 'ada', workspace: tree })
    const { task } = await bus.call('board:complete', { id: 1, as: 'ada' })
    expect(task).toMatchObject({ status: 'completed', owner: 'ada' })
    expect(task.workspace).toBeUndefined()
    expect(await shown(team, 1)).toEqual(['completed', undefined])
  })

  it('S4-061 a workspace is bound by a claim of a task or of the next one', async () => {
    const team = await openTeam()
    const { bus } = team
    await createAll(bus, 'One', 'Two')
    const one = await bus.call('board:claim', { id: 1, as: 'ada', workspace: tree, leaseMs: 1_000 })
    expect(one.task).toMatchObject({ workspace: tree, owner: 'ada' })
    const refusal = await refusalOf(bus.call('board:claim_next', { as: 'bob', workspace: `${tree}/` }), 'NOT_CLAIMABLE')
    expect(refusal.details).toMatchObject({ reason: 'workspace', number: 1 })
    expect(await shown(team, 2)).toEqual(['pending', undefined])
    const two = await bus.call('board:claim_next', { as: 'bob', workspace: '/trees/bob' })
    expect(two.task).toMatchObject({ id: 2, workspace: '/trees/bob' })
  })

  it('S4-061 binding a workspace to a second task in progress is refused with nothing changed', async () => {
    const team = await openTeam()
    const { bus } = team
    await createAll(bus, 'One', 'Two')
    await bus.call('board:claim', { id: 1, as: 'ada', workspace: tree })
    for (const work of [
      bus.call('board:update', { id: 2, status: 'in_progress', workspace: tree, as: 'bob' }),
      bus.call('board:claim', { id: 2, as: 'bob', workspace: tree }),
    ]) {
      expect((await refusalOf(work, 'NOT_CLAIMABLE')).message).toContain('is bound to task 1')
    }
    expect((await bus.call('board:get', { id: 2 })).task).toMatchObject({ status: 'pending', owner: '', fence: 0 })
  })

  it('S4-061 binding a workspace to a task that is not in progress is refused', async () => {
    const { bus } = await openTeam()
    await createAll(bus, 'One')
    const refusal = await refusalOf(bus.call('board:update', { id: 1, workspace: tree }), 'INVALID_TRANSITION')
    expect(refusal.message).toContain('Task 1 is pending')
    await bus.call('board:update', { id: 1, status: 'completed', as: 'ada' })
    await refusalOf(bus.call('board:update', { id: 1, workspace: tree, as: 'ada' }), 'INVALID_TRANSITION')
  })

  it.each<[string, (team: Team) => Promise<unknown>]>([
    ['completed', ({ bus }) => bus.call('board:complete', { id: 1, as: 'ada', fence: 1 })],
    [
      'completed elsewhere',
      async ({ engine }) => engine.complete(await idOf(engine), null, { owner: 'ada', fence: 1 }),
    ],
    ['failed', ({ bus }) => bus.call('board:update', { id: 1, status: 'failed', as: 'ada', fence: 1 })],
    ['released', ({ bus }) => bus.call('board:release', { id: 1, as: 'ada', fence: 1 })],
    ['released elsewhere', async ({ engine }) => engine.release(await idOf(engine), { owner: 'ada', fence: 1 })],
    ['canceled', async ({ engine }) => engine.cancel(await idOf(engine))],
    ['deleted', ({ bus }) => bus.call('board:delete', { id: 1 })],
    [
      'left by its owner',
      async ({ clock }) => {
        clock.increment(1_000)
        await turns()
      },
    ],
  ])('S4-061 a workspace is free again when its task is %s', async (_how, end) => {
    const team = await openTeam()
    const { bus } = team
    await createAll(bus, 'One', 'Two')
    await bus.call('board:claim', { id: 1, as: 'ada', workspace: tree, leaseMs: 1_000 })
    await end(team)
    const { task } = await bus.call('board:claim', { id: 2, as: 'bob', workspace: tree })
    expect(task.workspace).toBe(tree)
  })

  it("S4-061 a released task's workspace does not return with the next claim and can be bound to another task", async () => {
    const team = await openTeam()
    const { bus, engine } = team
    await createAll(bus, 'One', 'Two')
    const id = await idOf(engine)
    await bus.call('board:claim', { id: 1, as: 'ada', workspace: tree })
    // Not through the board, which would remove the binding.
    await engine.release(id, { owner: 'ada' })
    await engine.claim(id, { owner: 'cy' })
    expect(await shown(team, 1)).toEqual(['in_progress', undefined])
    await bus.call('board:claim', { id: 2, as: 'bob', workspace: tree })
    await refusalOf(bus.call('board:update', { id: 1, workspace: tree, as: 'cy' }), 'NOT_CLAIMABLE')
    expect(await shown(team, 2)).toEqual(['in_progress', tree])

    await engine.fail(await idOf(engine, 2), 'no', { owner: 'bob' })
    expect((await bus.call('board:update', { id: 1, workspace: tree, as: 'cy' })).task.workspace).toBe(tree)
    await bus.call('board:update', { id: 2, status: 'in_progress', as: 'bob' })
    expect(await shown(team, 2)).toEqual(['in_progress', undefined])
  })

  it('S4-061 only the owner can change a workspace, and it survives pauses', async () => {
    const team = await openTeam()
    const { bus, engine } = team
    await createAll(bus, 'One')
    await bus.call('board:claim', { id: 1, as: 'ada', workspace: tree })
    for (const workspace of ['/trees/bob', null]) {
      await refusalOf(bus.call('board:update', { id: 1, workspace, as: 'bob' }), 'NOT_OWNER')
      await refusalOf(bus.call('board:update', { id: 1, workspace }), 'NOT_OWNER')
    }
    await engine.pause(await idOf(engine))
    await engine.resume(await idOf(engine))
    expect(await shown(team, 1)).toEqual(['in_progress', tree])
    const moved = await bus.call('board:update', { id: 1, workspace: '/trees/ada-2', as: 'ada' })
    expect(moved.task.workspace).toBe('/trees/ada-2')
    expect((await bus.call('board:update', { id: 1, workspace: null, as: 'ada' })).task.workspace).toBeUndefined()
  })
})

async function idOf(engine: Team['engine'], id = 1): Promise<string> {
  return (await engine.bus.call('board:get', { id })).task.taskId
}
