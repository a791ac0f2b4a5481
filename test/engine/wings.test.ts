// The core works without any wing: an engine is composed without each of them, and runs tasks.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openEngine } from '../../src/engine/engine.ts'
import { allWings, type WingName } from '../../src/engine/wings.ts'
import { defineExecutor, type EngineOptions } from '../../src/index.ts'
import { refusalOf } from './world.ts'

/** Abilities of each wing; those of plans and of commands come with options or as executors. */
const abilitiesOf: Record<WingName, string[]> = {
  agents: ['model:list', 'model:register', 'task:route'],
  board: ['board:list', 'board:claim'],
  commands: [],
  memory: ['agent:join', 'mem:facts', 'objective:add', 'task:context', 'task:complete'],
  plans: ['plan:run'],
  time: ['schedules:put', 'schedules:list'],
}

const composed = (without: readonly WingName[], options: EngineOptions = {}) =>
  openEngine(
    { plans: { root: import.meta.dirname }, ...options },
    undefined,
    new Set(allWings.filter((wing) => !without.includes(wing))),
  )

const halve = defineExecutor({ input: z.number(), run: async ({ input }) => input / 2 })
const add = defineExecutor({
  input: z.object({ a: z.number(), b: z.number() }),
  async run({ input: { a, b } }, run) {
    const sum = await run.call('add', { a, b }, () => a + b)
    const [half] = await run.wait([await run.spawn({ executor: 'halve', input: sum })])
    return half as number
  },
})

const idsOf = (engine: Awaited<ReturnType<typeof composed>>): string[] => engine.bus.abilities().map(({ id }) => id)

describe('an engine', () => {
  it.each([...allWings.map((wing) => [wing]), [...allWings]])(
    'runs a family of tasks without %s %s %s %s %s %s',
    async (...without) => {
      await using engine = await composed(without as WingName[], { executors: { add, halve } })
      const task = await engine.create({ executor: 'add', input: { a: 3, b: 5 } })
      expect(await engine.result(task)).toBe(4)
      expect(await engine.list({ status: 'completed' })).toMatchObject({ tasks: [{}, {}] })
    },
  )

  it.each(allWings)('offers no ability of %s without that wing, and those of all others', async (wing) => {
    await using engine = await composed([wing])
    const ids = idsOf(engine)
    expect(ids.filter((id) => abilitiesOf[wing].includes(id))).toEqual([])
    const others = allWings.filter((other) => other !== wing).flatMap((other) => abilitiesOf[other])
    expect(ids).toEqual(expect.arrayContaining([...others, 'task:create', 'event:list', 'engine:status']))
  })

  it('refuses a task with a team when it has no memory, and stores nothing', async () => {
    await using engine = await composed(['memory'])
    await refusalOf(() => engine.create({ name: 'Repair', team: true }), 'INVALID_INPUT')
    expect(await engine.list()).toMatchObject({ tasks: [] })
  })

  it('leaves a goal to an engine with models when it has no agents', async () => {
    await using engine = await composed(['agents'])
    const task = await engine.create({ goal: 'Greet' })
    await engine.idle()
    expect(await engine.get(task)).toMatchObject({ status: 'submitted', executor: 'agent' })
  })
})
