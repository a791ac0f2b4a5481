// Durations and times from outside: whole milliseconds, rounded up, within the range of a date, wherever they are given.
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { awaitWork } from '../../src/board/team/await-work.ts'
import { durationForms } from '../../src/core/duration.ts'
import { durationSchema } from '../../src/core/duration-schema.ts'
import type { CallContext } from '../../src/entities/call-options.ts'
import { type ExecutorTask, executorOptionsSchema, type Run } from '../../src/entities/executor.ts'
import * as optionSchemas from '../../src/entities/options.ts'
import { taskFields } from '../../src/entities/task-fields.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { deferred, history, openEngine, reached, refusalOf } from './world.ts'

const longest = 8.64e15

interface Part {
  type?: string
  pattern?: string
  description?: string
  minimum?: number
  maximum?: number
  properties?: Record<string, Part>
  anyOf?: Part[]
  items?: Part
  additionalProperties?: Part | boolean
}

/** The types that a value may have. */
function formsOf(part: Part): Part[] {
  return part.anyOf === undefined ? [part] : part.anyOf.flatMap(formsOf)
}

/** The forms of the parts of a JSON Schema whose names end in `Ms`, by their path. */
function durationsIn(schema: Part, path = ''): Array<[string, Part]> {
  const inner = [...(schema.anyOf ?? []), ...(schema.items === undefined ? [] : [schema.items])].flatMap((part) =>
    durationsIn(part, path),
  )
  const named = Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
    const at = `${path}.${name}`
    return name.endsWith('Ms') ? formsOf(part).map((form): [string, Part] => [at, form]) : durationsIn(part, at)
  })
  return [...inner, ...named]
}

const unbounded = (found: Array<[string, Part]>) =>
  found
    .filter(([, { type, minimum = -1, maximum = Infinity }]) => type === 'number' && (minimum < 0 || maximum > longest))
    .map(([path]) => path)

/** The durations that take no text, or say nothing about it. */
const withoutText = (found: Array<[string, Part]>) => {
  const texts = found.filter(([, { type, pattern, description }]) => type === 'string' && pattern && description)
  const paths = new Set(texts.map(([path]) => path))
  return [...new Set(found.map(([path]) => path))].filter((path) => !paths.has(path))
}

it('every duration that an ability takes has bounds, and may be a text', async () => {
  const engine = await openEngine({ work: false })
  const found = engine.bus.abilities().flatMap(({ id, inputSchema }) => durationsIn(inputSchema as Part, id))
  expect(found.length).toBeGreaterThan(5)
  expect(unbounded(found)).toEqual([])
  expect(withoutText(found)).toEqual([])
  const shown = engine.bus.abilities().flatMap(({ id, outputSchema }) => durationsIn(outputSchema as Part, id))
  expect(shown.filter(([, { type }]) => type === 'string')).toEqual([])
})

it('every duration among the options of the engine, its executors and runs has bounds, and may be a text', () => {
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
  expect(withoutText(found)).toEqual([])
})

it('the JSON Schema of a duration accepts the texts that are accepted, and no others', async () => {
  const schema = z.toJSONSchema(durationSchema(), { io: 'input' }) as Part
  const pattern = new RegExp(formsOf(schema).find(({ type }) => type === 'string')?.pattern as string)
  for (const text of ['1500ms', '90s', '1.5h', '10 m', '1d', '2w']) {
    expect([text, pattern.test(text), durationSchema().safeParse(text).success]).toEqual([text, true, true])
  }
  for (const text of ['', '10', 'ten m', '10m 5s', '-1s', '1y']) {
    expect([text, pattern.test(text), durationSchema().safeParse(text).success]).toEqual([text, false, false])
  }
  expect(z.toJSONSchema(taskFields.deadline.schema, { io: 'input' })).toMatchObject({ type: 'number' })
})

it('a text with a unit is stored as milliseconds, by the library and over the bus', async () => {
  const clock = new SimulatedClock()
  const ledger = await openLedger(':memory:')
  onTestFinished(() => ledger.close())
  const engine = await openEngine({ ledger, clock, work: false, leaseMs: '30s', executors: { work: () => null } })
  const policyOf = async (id: string) => (await ledger.read((tx) => tx.task.get(id)))?.policy
  const retry = { maxAttempts: 2, backoffMs: '1.5s' } as const
  const task = await engine.create({ executor: 'work', timeoutMs: '10m', retry })
  expect(await policyOf(task.id)).toEqual({ timeoutMs: 600_000, retry: { maxAttempts: 2, backoffMs: 1_500 } })
  await engine.update(task, { timeoutMs: '1h' })
  expect(await policyOf(task.id)).toMatchObject({ timeoutMs: 3_600_000 })

  expect(optionSchemas.engineOptionsSchema().parse({ leaseMs: '30s' }).leaseMs).toBe(30_000)

  const { id } = await engine.create({ name: 'claimed' })
  const claimed = await engine.bus.call('board:claim', { id, as: 'ann', leaseMs: '2m' })
  expect(claimed.task).toMatchObject({ owner: 'ann' })
  expect((await engine.get(id))?.leaseUntil).toBe(clock.now() + 120_000)
})

it('a run takes texts for its calls, sleeps and questions', async () => {
  const clock = new SimulatedClock()
  const entered = deferred()
  const engine = await openEngine({
    clock,
    executors: {
      sleeps: async (_task: ExecutorTask, run: Run) => {
        await run.sleep('10m')
        return 'slept'
      },
      asks: (_task: ExecutorTask, run: Run) => run.ask('Deploy?', null, { timeoutMs: '2m', default: 'no' }),
      calls: (_task: ExecutorTask, run: Run) => {
        const slow = (_params: unknown, { signal }: CallContext) => {
          entered.resolve()
          return once(signal, 'abort')
        }
        return run.call('slow', slow, { timeoutMs: '1s' })
      },
    },
  })
  const sleeping = await engine.create({ executor: 'sleeps' })
  const asking = await engine.create({ executor: 'asks' })
  const calling = await engine.create({ executor: 'calls' })
  await reached(engine, sleeping, 'waiting')
  await reached(engine, asking, 'input_required')
  await entered.promise
  const asked = (await history(engine, asking.id)).find(({ type }) => type === 'question.asked')
  expect(asked?.data).toMatchObject({ dueAt: clock.now() + 120_000 })

  clock.increment(1_000)
  expect(await engine.settled(calling)).toMatchObject({ status: 'failed', error: { details: { timeoutMs: 1_000 } } })
  clock.increment(598_999)
  expect(await engine.result(asking)).toBe('no')
  expect(await engine.get(sleeping.id)).toMatchObject({ status: 'waiting' })
  clock.increment(1)
  expect(await engine.result(sleeping)).toBe('slept')
})

it('a text that is no duration is refused with the accepted forms', async () => {
  const engine = await openEngine({ work: false, executors: { work: () => null } })
  const refusals = [
    refusalOf(() => engine.create({ executor: 'work', timeoutMs: '10' as '10s' }), 'INVALID_INPUT'),
    refusalOf(() => engine.bus.call('board:wait', { as: 'ann', timeoutMs: '10' as '10s' }), 'INVALID_INPUT'),
    refusalOf(() => openEngine({ leaseMs: '10' as '10s' }), 'INVALID_INPUT'),
    refusalOf(() => awaitWork(engine, { as: 'ann', idleTimeoutMs: '10' as '10s' }), 'INVALID_INPUT'),
  ]
  for (const refusal of await Promise.all(refusals)) expect(refusal.message).toContain(durationForms)
  const tooLong = await refusalOf(() => openEngine({ leaseMs: '2d' }), 'INVALID_INPUT')
  expect(tooLong.message).toContain('86400000')
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
