// Abilities inside a run: called as its task, journaled like any call.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../src/bus/ability.ts'
import type { AbilityContext } from '../../src/bus/ability-context.ts'
import { ErrandError, Failure } from '../../src/core/errors.ts'
import { createWorld } from './world.ts'

const ability = (handle: (input: { n: number }, context: AbilityContext) => number | Promise<number>, more = {}) =>
  defineAbility({
    id: 'math:double',
    description: 'Doubles.',
    input: z.object({ n: z.number() }),
    output: z.number(),
    handle,
    ...more,
  })

describe('an ability that a run invokes', () => {
  it('an ability that a run invokes is a call under its id, made once however often the run is repeated, and gets its caller and its run', async () => {
    const seen: AbilityContext[] = []
    const double = ability(({ n }, context) => {
      seen.push(context)
      return 2 * n
    })
    const world = await createWorld(
      async (_task, run) => {
        const six = await run.invoke(double, { n: 3 })
        await run.ask('Go on?')
        return [six, await run.invoke('math:double', { n: 4 })]
      },
      { abilities: [double] },
    )
    const task = await world.engine.create({ executor: 'work' })
    await world.eventOf(task.id, 'task.input_required')
    await world.engine.answer(task, 'yes')
    expect(await world.engine.result(task)).toEqual([6, 8])
    const ids = (await world.engine.calls(task)).map(({ id }) => id)
    expect(seen.map(({ caller, run, callId }) => [caller.surface, caller.taskId, run?.number, callId])).toEqual([
      ['run', task.id, 1, ids[0]],
      ['run', task.id, 2, ids[1]],
    ])
    expect(
      (await world.engine.calls(task)).map(({ name, params, status, result }) => [name, params, status, result]),
    ).toEqual([
      ['math:double', { n: 3 }, 'completed', 6],
      ['math:double', { n: 4 }, 'completed', 8],
    ])
  })

  it('an ability that a run invokes follows its own retry policy, and passes on a Failure as it was thrown', async () => {
    let tries = 0
    const flaky = ability(
      () => {
        tries++
        throw new Failure('busy', { code: 'BUSY' })
      },
      { retry: { maxAttempts: 3 } },
    )
    const world = await createWorld(async (_task, run) => run.invoke(flaky, { n: 1 }), { abilities: [flaky] })
    const task = await world.engine.create({ executor: 'work' })
    expect(await world.engine.settled(task)).toMatchObject({
      status: 'failed',
      error: { code: 'BUSY', message: 'busy' },
    })
    expect(tries).toBe(3)
  })

  it('an ability that a run invokes is refused and recorded as a failed call for an unknown id, an invalid input and an id outside of the lists', async () => {
    const double = ability(({ n }) => 2 * n)
    const codes: unknown[] = []
    const world = await createWorld(
      async (_task, run) => {
        for (const [id, input] of [
          ['math:treble', { n: 1 }],
          ['math:double', { n: 'x' }],
          ['bus:list', {}],
        ] as const) {
          await run.invoke(id, input).catch((error: unknown) => codes.push(ErrandError.isInstance(error) && error.code))
        }
      },
      { abilities: [double] },
    )
    const task = await world.engine.create({ executor: 'work' })
    await world.engine.result(task)
    expect(codes).toEqual(['NOT_FOUND', 'INVALID_INPUT', 'FORBIDDEN'])
    expect((await world.engine.calls(task)).map(({ error }) => error?.code)).toEqual(codes)
  })

  it('an ability that a run invokes is bound by the lists of its task and of all tasks above it', async () => {
    const double = ability(({ n }) => 2 * n)
    const outcomes: unknown[] = []
    const world = await createWorld(
      async (task, run) => {
        outcomes.push([task.name, await run.invoke(double, { n: 1 }).catch((error: ErrandError) => error.code)])
        if (task.name === 'parent')
          await run.wait(await run.spawn({ executor: 'work', name: 'child', abilities: ['*'] }), { settled: true })
      },
      { abilities: [double] },
    )
    await world.engine.result(await world.engine.create({ executor: 'work', name: 'parent', abilities: ['other:*'] }))
    await world.engine.result(await world.engine.create({ executor: 'work', name: 'free', abilities: ['math:*'] }))
    // A repeated run gets the recorded refusal again.
    expect(outcomes).toEqual([
      ['parent', 'FORBIDDEN'],
      ['child', 'FORBIDDEN'],
      ['parent', 'FORBIDDEN'],
      ['free', 2],
    ])
  })
})
