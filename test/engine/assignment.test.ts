// Assigning an owner in advance: `update({ owner })` of a task that waits for a claim. Only that owner can claim it
// then.
import { describe, expect, it } from 'vitest'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { history, openEngine, puppet, reached, refusalOf, typesOf, waysTo } from './world.ts'

const ann = { owner: 'ann' }
const bob = { owner: 'bob' }

describe('a task with an assignee', () => {
  it('S4-050 S4-052 a task with an assignee is claimed by its assignee only, and a refusal names the assignee', async () => {
    const engine = await openEngine()
    const task = await engine.create({ name: 'a' })
    expect(task.owner).toBeNull()
    expect(await engine.update(task, { owner: 'ann' })).toMatchObject({ owner: 'ann', status: 'submitted', fence: 0 })
    const { message, details } = await refusalOf(engine.claim(task, bob), 'NOT_CLAIMABLE')
    expect(message).toBe(`Cannot claim ${task.id}: it is meant for ann, and this claim is bob's.`)
    expect(details).toMatchObject({ reason: 'owner', owner: 'ann', status: 'submitted' })
    expect(await engine.claim(task, { ...ann, leaseMs: 1_000 })).toMatchObject({
      owner: 'ann',
      status: 'working',
      fence: 1,
    })
    expect(typesOf(await history(engine, task.id))).toEqual([
      'task.created',
      'task.updated',
      'task.claimed',
      'task.started',
    ])
  })

  it('S4-058 a task with an assignee is the next task for its assignee, and for no other client', async () => {
    const engine = await openEngine()
    const [urgent, other, plain] = [
      await engine.create({ name: 'urgent', priority: 9 }),
      await engine.create({ name: 'other', priority: 5 }),
      await engine.create({ name: 'plain' }),
    ]
    await engine.update(urgent, { owner: 'ann' })
    await engine.update(other, { owner: 'carol' })
    expect(await engine.claim(null, bob)).toMatchObject({ id: plain.id })
    expect(await engine.claim(null, bob)).toBeNull()
    expect(await engine.claim(null, ann)).toMatchObject({ id: urgent.id })
    expect(await engine.claim(null, ann)).toBeNull()
    expect((await engine.get(other))?.owner).toBe('carol')
  })

  it('a task with an assignee can be claimed by its assignee only when its dependencies and its role allow it', async () => {
    const engine = await openEngine()
    const before = await engine.create({ name: 'before' })
    const task = await engine.create({ name: 'a', blockedBy: [before.id], role: 'tester' })
    await engine.update(task, { owner: 'ann' })
    await refusalOf(engine.claim(task, { ...ann, role: 'tester' }), 'BLOCKED')
    await engine.start(before)
    await engine.complete(before.id)
    await refusalOf(engine.claim(task, ann), 'NOT_CLAIMABLE')
    expect(await engine.claim(null, { ...ann, role: 'tester' })).toMatchObject({ id: task.id })
  })

  it('S4-057 a task with an assignee can be claimed by any client after its first claim was released, lapsed or failed', async () => {
    const clock = new SimulatedClock(1_000_000)
    const engine = await openEngine({ clock })
    const ways: Record<string, (id: string) => Promise<unknown>> = {
      released: async (id) => engine.release((await engine.claim(id, ann)) as never),
      lapsed: async (id) => {
        await engine.claim(id, { ...ann, leaseMs: 1_000 })
        clock.increment(1_001)
        await reached(engine, id, 'waiting')
      },
      failed: async (id) => {
        await engine.fail((await engine.claim(id, ann)) as never, 'no')
        await engine.retry(id)
      },
    }
    for (const [name, release] of Object.entries(ways)) {
      const { id } = await engine.create({ name })
      await engine.update(id, { owner: 'ann' })
      await release(id)
      expect(await engine.get(id)).toMatchObject({ owner: null })
      expect([name, (await engine.claim(id, bob))?.owner]).toEqual([name, 'bob'])
    }
  })

  it('S4-057 a task with an assignee is returned by its assignee, and by no other client', async () => {
    const engine = await openEngine()
    const { id } = await engine.create({ name: 'a' })
    await engine.update(id, { owner: 'ann' })
    await refusalOf(engine.release(id), 'NOT_OWNER')
    await refusalOf(engine.release(id, { owner: 'bob' }), 'NOT_OWNER')
    expect(await engine.release(id, { owner: 'ann' })).toMatchObject({ owner: null, status: 'submitted' })
    expect(await engine.claim(null, bob)).toMatchObject({ id })
  })

  it('a task with an assignee can be assigned to another client or to none at any time, also after a release', async () => {
    const engine = await openEngine()
    const { id } = await engine.create({ name: 'a' })
    await engine.update(id, { owner: 'ann' })
    await engine.update(id, { owner: 'bob' })
    await refusalOf(engine.claim(id, ann), 'NOT_CLAIMABLE')
    const claimed = await engine.claim(id, bob)
    await engine.release(claimed as never)
    expect(await engine.update(id, { owner: 'ann' })).toMatchObject({ owner: 'ann', status: 'waiting' })
    await refusalOf(engine.claim(id, bob), 'NOT_CLAIMABLE')
    expect(await engine.update(id, { owner: null })).toMatchObject({ owner: null })
    expect(await engine.claim(id, bob)).toMatchObject({ owner: 'bob', fence: 2 })
  })

  it('a task with an assignee is not claimed: it has no lease, no other client can keep it alive or complete it, and it can be canceled', async () => {
    const engine = await openEngine()
    const task = await engine.update((await engine.create({ name: 'a' })).id, { owner: 'ann' })
    expect(task).toMatchObject({ fence: 0, leaseUntil: null })
    const { message } = await refusalOf(engine.complete(task, null), 'NOT_OWNER')
    expect(message).toMatch(`${task.id} is meant for ann`)
    await refusalOf(engine.complete(task, null, { owner: 'ann' }), 'INVALID_TRANSITION')
    await refusalOf(engine.heartbeat(task), 'NOT_OWNER')
    const bobs = await refusalOf(engine.heartbeat(task, { owner: 'bob' }), 'NOT_OWNER')
    expect(bobs.message).toMatch(`${task.id} is meant for ann, not for bob.`)
    expect(await engine.cancel(task)).toMatchObject({ status: 'canceled' })
  })
})

describe('assigning an owner is refused', () => {
  it.each(['working', 'paused', 'input_required', 'completed', 'failed', 'canceled'] as const)(
    'S4-029 assigning an owner is refused for a task that is %s, and the rest of the patch is not applied',
    async (status) => {
      const engine = await openEngine()
      const { id } = await engine.create({ name: 'a' })
      for (const next of waysTo[status]) await engine.update(id, { status: next })
      const before = await engine.get(id)
      const { message } = await refusalOf(engine.update(id, { owner: 'ann', priority: 7 }), 'NOT_CLAIMABLE')
      expect(message).toContain(`it is ${status}`)
      expect(await engine.get(id)).toEqual(before)
    },
  )

  it('S4-052 assigning an owner is refused for a task that another client works on', async () => {
    const engine = await openEngine()
    const { id } = await engine.create({ name: 'a' })
    await engine.claim(id, ann)
    const { message } = await refusalOf(engine.update(id, { owner: 'bob' }), 'NOT_CLAIMABLE')
    expect(message).toContain('ann owns it; `release` it first')
    await refusalOf(engine.update(id, { owner: null }), 'NOT_CLAIMABLE')
    expect((await engine.get(id))?.owner).toBe('ann')
  })

  it('assigning an owner is refused for a task that runs by itself: with an executor, or a group', async () => {
    const work = puppet()
    const engine = await openEngine({ executors: { work: work.executor }, autoStart: false })
    const run = await engine.create({ name: 'run', executor: 'work' })
    const group = await engine.create({ name: 'group', tasks: { one: { name: 'one' } } })
    expect((await refusalOf(engine.update(run.id, { owner: 'ann' }), 'NOT_CLAIMABLE')).message).toContain(
      'its executor work runs it',
    )
    expect((await refusalOf(engine.update(group.id, { owner: 'ann' }), 'NOT_CLAIMABLE')).message).toContain(
      'it is a group',
    )
    const [one] = await engine.children(group.id)
    expect(await engine.update(one as { id: string }, { owner: 'ann' })).toMatchObject({ owner: 'ann' })
  })

  it('assigning an owner is refused with an invalid name', async () => {
    const engine = await openEngine()
    const { id } = await engine.create({ name: 'a' })
    for (const owner of ['', '  ', 'x'.repeat(101), 7, 'a\0b'])
      await refusalOf(engine.update(id, { owner } as never), 'INVALID_INPUT')
    expect(await engine.update(id, { owner: '  ann ' })).toMatchObject({ owner: 'ann' })
  })
})
