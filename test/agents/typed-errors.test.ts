// The six refusals of the bus by their codes: at each of its entry points, with the name of the ability, and as a model
// gets them: a failed call with that code in the ledger, whose message it reads, while its task continues.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AbilityDefinition, defineAbility } from '../../src/bus/ability.ts'
import type { Bus, InvokeOptions } from '../../src/bus/bus.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { collect, openEngine, refusalOf } from '../engine/world.ts'
import { modelOf } from '../operations/world.ts'
import { llm } from './world.ts'

const count = z.strictObject({ count: z.int() })

const halve: AbilityDefinition<typeof count, z.ZodNumber> = {
  id: 'test:halve',
  description: 'Halves an even number.',
  input: count,
  output: z.number(),
  handle({ count: given }) {
    if (given % 2 === 1) throw new RangeError(`${given} is odd`)
    return given / 2
  },
}

const countdown = defineAbility({
  id: 'test:countdown',
  description: 'Counts down an even number.',
  input: count,
  output: z.number(),
  async *stream({ count: given }) {
    if (given % 2 === 1) throw new RangeError(`${given} is odd`)
    for (let left = given; left > 0; left--) yield left
  },
})

type EntryPoint = (bus: Bus, id: string, input: unknown, options?: InvokeOptions) => Promise<unknown>

const entryPoints: Record<'result' | 'chunks', Record<string, EntryPoint>> = {
  result: {
    invoke: (bus, id, input, options) => bus.invoke(id)(JSON.stringify(input), options),
    call: (bus, id, input, options) => bus.call(id, input, options),
  },
  chunks: {
    invokeStream: (bus, id, input, options) => collect(bus.invokeStream(id)(JSON.stringify(input), options)),
    stream: (bus, id, input, options) => collect(bus.stream(id, input, options)),
  },
}

const ways = (['result', 'chunks'] as const).flatMap((kind) =>
  Object.entries(entryPoints[kind]).map(([name, open]) => ({
    name,
    open,
    own: kind === 'result' ? 'test:halve' : 'test:countdown',
    other: kind === 'result' ? 'test:countdown' : 'test:halve',
  })),
)

describe('the errors of the bus', () => {
  it.each(ways)('S1-085 a refusal has a code and names the ability: $name', async ({ open, own, other }) => {
    const { bus } = await openEngine({ abilities: [halve, countdown] })
    const model = { caller: modelOf('task-unknown', [['notes:*']]) }
    const refusals = [
      ['NOT_FOUND', 'test:unknown', { count: 2 }, {}],
      ['FORBIDDEN', own, { count: 2 }, model],
      ['TYPE_MISMATCH', other, { count: 2 }, {}],
      ['INVALID_INPUT', own, { count: 'two' }, {}],
      ['INVALID_INPUT', own, { count: 2, cuont: 2 }, {}],
      ['EXECUTION_ERROR', own, { count: 3 }, {}],
    ] as const
    for (const [code, id, input, options] of refusals) {
      const refusal = await refusalOf(open(bus, id, input, options), code)
      expect(refusal.details['abilityId']).toBe(id)
    }
    expect(bus.log().map((entry) => entry.code)).toEqual(refusals.map(([code]) => code))
    const broken = await refusalOf(open(bus, own, { count: 3 }), 'EXECUTION_ERROR')
    expect([broken.message, broken.cause]).toEqual(['3 is odd', expect.any(RangeError)])
  })

  it('S1-079 a second ability with the same id is refused in any form, and the first is kept', async () => {
    const { bus } = await openEngine({ abilities: [halve] })
    const meta = { id: 'test:halve', description: 'Another.', inputSchema: {}, outputSchema: {} }
    const attempts = [
      () => bus.register(halve),
      () => bus.register(defineAbility(halve)),
      () => bus.register(meta, () => '0'),
      () => bus.register({ ...halve, id: 'task:create' }),
    ]
    for (const attempt of attempts) {
      const { details } = await refusalOf(attempt, 'ALREADY_REGISTERED')
      expect(details['abilityId']).toMatch(/^(test:halve|task:create)$/)
    }
    expect(await bus.invoke('test:halve')('{"count":8}')).toBe('4')
  })

  it('an ability from defineAbility and the same plain object are equivalent', async () => {
    const { bus } = await openEngine()
    const plain = { ...halve, id: 'test:plain' }
    const leave = [bus.register(defineAbility(halve)), bus.register(plain)]
    for (const id of ['test:halve', 'test:plain']) expect(await bus.invoke(id)('{"count":8}')).toBe('4')
    const schemasOf = (abilityId: string) => bus.call('bus:schema', { abilityId })
    expect(await schemasOf('test:plain')).toEqual(await schemasOf('test:halve'))
    for (const each of leave) each()
    expect([bus.has('test:halve'), bus.has('test:plain')]).toEqual([false, false])
  })
})

describe('a model that makes invalid calls', () => {
  it('S0-073 S0-070 a model that makes invalid calls has failed calls with the codes of the bus, reads the reasons, and its task continues', async () => {
    const calls = (outsider: string) => [
      ['no_such_tool', {}, 'NOT_FOUND'],
      ['test_halve', '{"count": ', 'INVALID_INPUT'],
      ['test_halve', { count: 'two' }, 'INVALID_INPUT'],
      ['test_halve', { count: 3 }, 'EXECUTION_ERROR'],
      ['test_countdown', { count: 2 }, 'TYPE_MISMATCH'],
      ['model_llm', { messages: [] }, 'FORBIDDEN'],
      ['bus_list', {}, 'FORBIDDEN'],
      ['task_get', { taskId: outsider }, 'FORBIDDEN'],
      ['task_create', { goal: 'Help', parentTaskId: outsider }, 'FORBIDDEN'],
      ['task_cancel', { taskId: 'task-unknown' }, 'FORBIDDEN'],
      ['test_halve', { count: 8 }, undefined],
    ]
    const model = llm((_input, step) =>
      step > 1
        ? { content: 'I see.' }
        : {
            toolCalls: calls(outsider.id).map(([name, given], index) => ({
              id: `c${index}`,
              name: name as string,
              arguments: given,
            })),
          },
    )
    const engine = await openEngine({ abilities: [model.ability, halve, countdown] })
    const outsider = await engine.create({ name: 'outsider' })
    const task = await engine.create({ goal: 'Try everything', abilities: ['*'] })
    expect(await engine.result(task)).toBe('I see.')
    const recorded = await engine.calls(task)
    expect(recorded.map(({ error }) => error?.code)).toEqual(calls(outsider.id).map(([, , code]) => code))
    const read = model.messages(2).filter(({ role }) => role === 'tool')
    expect(read.map(({ content }) => content)).toEqual(
      recorded.map(({ error }) => (error === null ? '4' : `Error: ${error.message}`)),
    )
    // Not replaced by a task of its own either.
    expect([await engine.children(outsider), await engine.children(task)]).toEqual([[], []])
    expect(await engine.get(outsider.id)).toMatchObject({ status: 'submitted' })
  })
})

describe('the caller of a handler', () => {
  it('S1-086 a handler gets the task, the run and the surface of its caller from the engine, as the log does', async () => {
    const received: unknown[] = []
    const listen = defineAbility({
      id: 'test:listen',
      description: 'Records its caller.',
      input: z.object({}),
      output: z.null(),
      handle(_input, { run, signal, caller }) {
        received.push([caller, run === undefined ? null : run.signal.aborted, signal.aborted])
        return null
      },
    })
    const model = llm((_input, step) =>
      step > 1
        ? { content: 'Done' }
        : { toolCalls: [{ id: 'a', name: 'test_listen', arguments: { taskId: 'task-x' } }] },
    )
    const engine = await openEngine({
      abilities: [model.ability, listen],
      executors: { plain: (_task: ExecutorTask, run: Run) => run.invoke('test:listen', {}) },
    })
    const asked = await engine.create({ goal: 'Listen' })
    await engine.result(asked)
    const plain = await engine.create({ executor: 'plain' })
    await engine.result(plain)
    await engine.bus.call('test:listen', {})
    const callers = [
      { surface: 'model', taskId: asked.id, run: 1 },
      { surface: 'run', taskId: plain.id, run: 1 },
      { surface: 'library' },
    ]
    expect(received).toEqual([
      [callers[0], false, false],
      [callers[1], false, false],
      [callers[2], null, false],
    ])
    expect(engine.bus.log({ abilityId: 'test:listen' }).map(({ caller }) => caller)).toEqual(callers)
  })
})
