// Durations and times from outside: whole milliseconds, rounded up, within the range of a date, wherever they are given.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { executorOptionsSchema } from '../../src/api/executor.ts'
import * as optionSchemas from '../../src/api/options.ts'
import { taskFields } from '../../src/entities/task-fields.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { openEngine, refusalOf } from './world.ts'

const longest = 8.64e15

interface Part {
  type?: string
  minimum?: number
  maximum?: number
  properties?: Record<string, Part>
  anyOf?: Part[]
  items?: Part
  additionalProperties?: Part | boolean
}

/** The parts of a JSON Schema whose names end in `Ms`, by their path. */
function durationsIn(schema: Part, path = ''): Array<[string, Part]> {
  const inner = [...(schema.anyOf ?? []), ...(schema.items === undefined ? [] : [schema.items])].flatMap((part) =>
    durationsIn(part, path),
  )
  const named = Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
    const at = `${path}.${name}`
    const numbers = [part, ...(part.anyOf ?? [])].filter(({ type }) => type === 'number')
    return name.endsWith('Ms') ? numbers.map((number): [string, Part] => [at, number]) : durationsIn(part, at)
  })
  return [...inner, ...named]
}

const unbounded = (found: Array<[string, Part]>) =>
  found.filter(([, { minimum = -1, maximum = Infinity }]) => minimum < 0 || maximum > longest).map(([path]) => path)

it('every duration that an ability takes has bounds', async () => {
  const engine = await openEngine({ work: false })
  const found = engine.bus.abilities().flatMap(({ id, inputSchema }) => durationsIn(inputSchema as Part, id))
  expect(found.length).toBeGreaterThan(5)
  expect(unbounded(found)).toEqual([])
})

it('every duration among the options of the engine, its executors and runs has bounds', () => {
  const schemas = Object.entries({ ...optionSchemas, executorOptionsSchema })
    .filter(([name]) => name.endsWith('OptionsSchema'))
    .map(([name, make]): [string, z.ZodType] => [name, (make as () => z.ZodType)()])
  const found = schemas.flatMap(([name, schema]) =>
    durationsIn(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Part, name),
  )
  expect(found.map(([path]) => path)).toEqual(
    expect.arrayContaining([
      'engineOptionsSchema.leaseMs',
      'engineOptionsSchema.abortGraceMs',
      'callOptionsSchema.timeoutMs',
      'executorOptionsSchema.retry.backoffMs',
      'timeoutOptionsSchema.timeoutMs',
    ]),
  )
  expect(unbounded(found)).toEqual([])
})

it('a fraction of a millisecond is rounded up', async () => {
  const clock = new SimulatedClock()
  const engine = await openEngine({ clock, work: false })
  const { id } = await engine.create({ name: 'claimed' })
  expect((await engine.claim(id, { owner: 'ann', leaseMs: 1_000.5 }))?.leaseUntil).toBe(clock.now() + 1_001)
  expect(await engine.purge({ before: clock.now() + 0.5 })).toBeDefined()
  expect(taskFields.timeoutMs.schema.parse(0.25)).toBe(1)
  expect(taskFields.retry.schema.parse({ maxAttempts: 2, backoffMs: 10.5 })).toMatchObject({ backoffMs: 11 })
})

it.each<[string, unknown]>([
  ['longer than a date can be', longest + 2],
  ['negative', -0.5],
  ['no number', Number.NaN],
  ['infinite', Infinity],
  ['a text', '10'],
])('a duration that is %s is refused', async (_what, ms) => {
  const engine = await openEngine({ work: false })
  const task = await engine.create({ name: 'a' })
  await refusalOf(() => engine.settled(task, { timeoutMs: ms as number }), 'INVALID_INPUT')
  await refusalOf(() => engine.claim(task, { owner: 'ann', leaseMs: ms as number }), 'INVALID_INPUT')
  await refusalOf(() => engine.create({ name: 'b', timeoutMs: ms as number }), 'INVALID_INPUT')
  await refusalOf(() => openEngine({ abortGraceMs: ms as number }), 'INVALID_INPUT')
  await refusalOf(() => openEngine({ shutdownTimeoutMs: ms as number }), 'INVALID_INPUT')
})
