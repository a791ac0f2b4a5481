// `run.now()`, `run.uuid()`, `run.random()`: recorded before they are returned, so that every later run gets the same
// values.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../src/bus/ability.ts'
import type { Run } from '../../src/entities/executor.ts'
import { createSequentialIds } from '../../src/testing/sequential-ids.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { codeOf, createWorld, gate } from './world.ts'

it('a later run and a new attempt get the drawn values of the first, by order or by key', async () => {
  const drawn: unknown[] = []
  const world = await createWorld(async (_task, run) => {
    const values = [await run.now(), await run.random(), await run.uuid(), await run.uuid()]
    const keyed = run.number === 1 ? ['a', 'b'] : ['b', 'a']
    const byKey: Record<string, number> = {}
    for (const key of keyed) byKey[key] = await run.random({ key })
    drawn.push({ values, byKey })
    await run.ask('Go on?')
    if (run.attempt === 1) throw new Error('on purpose')
  })
  const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 2 } })
  await world.eventOf(task.id, 'task.input_required')
  await world.engine.answer(task, true)
  await world.engine.result(task)
  expect(drawn).toHaveLength(3)
  expect(drawn[1]).toEqual(drawn[0])
  expect(drawn[2]).toEqual(drawn[0])
  const [{ values }] = drawn as [{ values: [number, number, string, string] }]
  expect(values[1]).toBeGreaterThanOrEqual(0)
  expect(values[1]).toBeLessThan(1)
  expect(values[2]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(values[3]).not.toBe(values[2])
})

it('a call whose params contain a drawn value is found again', async () => {
  const charged: unknown[] = []
  const world = await createWorld(async (_task, run) => {
    await run.call('charge', { at: await run.now(), id: await run.uuid() }, (params) => charged.push(params))
    await run.sleep(50)
  })
  const task = await world.engine.create({ executor: 'work' })
  await world.engine.result(task)
  expect(charged).toHaveLength(1)
})

it("run.now is the time of the engine's clock, and run.random and run.uuid come from its ids", async () => {
  const draw = async () => {
    const clock = new SimulatedClock(1_000)
    const work = async (_task: unknown, run: Run) => [await run.now(), await run.uuid(), await run.random()]
    const world = await createWorld(work, { clock, ids: createSequentialIds() })
    return world.engine.result(await world.engine.create({ executor: 'work' }))
  }
  const values = await draw()
  expect(values).toEqual(await draw())
  expect((values as unknown[])[0]).toBe(1_000)
})

it('a drawn value is durable before it is returned, is not listed as a call, and makes no event', async () => {
  const given = gate<number>()
  const world = await createWorld(async (_task, run) => {
    given.resolve(await run.now())
    await new Promise(() => {})
  })
  const task = await world.engine.create({ executor: 'work' })
  const value = await given.promise
  const entries = await world.ledger.read((tx) => tx.call.list(task.id))
  expect(entries).toMatchObject([{ kind: 'value', name: 'now', status: 'completed', result: value }])
  expect(await world.engine.calls(task)).toEqual([])
  const types = []
  for await (const { type } of world.engine.events({ taskId: task.id, follow: false })) types.push(type)
  expect(types).toEqual(['task.created', 'task.started'])
})

it('a call and the handler of an ability may draw values, each found where it was drawn', async () => {
  const drawn: unknown[] = []
  const ability = defineAbility({
    id: 'test:draw',
    description: 'Draws a number.',
    input: z.object({}),
    output: z.number(),
    handle: async (_input, { run }) => (run as Run).random(),
  })
  const work = async (_task: unknown, run: Run) => {
    const inside = await run.call('draw', async () => [await run.random(), await run.random()])
    drawn.push([inside, await run.invoke('test:draw', {}), await run.random()])
    await run.ask('Go on?')
  }
  const world = await createWorld(work, { abilities: [ability] })
  const task = await world.engine.create({ executor: 'work' })
  await world.eventOf(task.id, 'task.input_required')
  await world.engine.answer(task, true)
  await world.engine.result(task)
  expect(drawn[1]).toEqual(drawn[0])
  expect(new Set((drawn[0] as unknown[]).flat()).size).toBe(4)
})

it('the options of drawn values are checked, and an ended run returns no values', async () => {
  const ended = gate<Run>()
  const world = await createWorld(async (_task, run) => {
    ended.resolve(run)
    return codeOf(run.now({ kye: 'x' } as never))
  })
  const task = await world.engine.create({ executor: 'work' })
  expect(await world.engine.result(task)).toBe('UNKNOWN_OPTION')
  await world.engine.idle()
  expect(await codeOf((await ended.promise).uuid())).toBe('RUN_ENDED')
})
