// A task whose stored situation meets other code: migrated, held with a question, or failed.
import { describe, expect, it } from 'vitest'
import { assign, setup } from 'xstate'
import { machineWorld } from './machine-world.ts'

describe('a task whose definition has changed', () => {
  const first = setup({ types: { context: {} as { count: number } } }).createMachine({
    id: 'job',
    version: '1',
    context: { count: 3 },
    initial: 'old',
    states: { old: { on: { GO: 'done' } }, done: { type: 'final' } },
  })
  const second = setup({
    types: { context: {} as { count: number; unit?: string } },
  }).createMachine({
    id: 'job',
    version: '2',
    context: { count: 0 },
    initial: 'fresh',
    states: { fresh: { on: { GO: 'done' } }, done: { type: 'final' } },
  })

  const changed = async (options = {}) => {
    const world = await machineWorld()
    const before = await world.engineOf(first)
    const task = await before.create({ executor: 'machine' })
    await world.clock.rest()
    await before.close()
    const engine = await world.engineOf(second, options)
    await engine.sendEvent(task, { type: 'GO' })
    await world.clock.rest()
    return { ...world, engine, task }
  }

  it('goes on from the situation that `migrate` makes', async () => {
    const { engine, task } = await changed({
      migrate: (stored: { context: object }, from: string) => ({
        ...stored,
        value: 'fresh',
        context: { ...stored.context, unit: from },
      }),
    })
    expect((await engine.get(task))?.status).toBe('completed')
  })

  it.each([
    ['nothing', () => undefined],
    ['a state that is a number', (stored: object) => ({ ...stored, value: 5 })],
    ['no actors', (stored: object) => ({ ...stored, actors: null })],
    ['a context that JSON cannot carry', (stored: object) => ({ ...stored, value: 'fresh', context: new Map() })],
  ])('fails with what is wrong when `migrate` returns %s, and goes on when it is mended', async (_what, migrate) => {
    const { engine, engineOf, clock, task } = await changed({ migrate })
    expect(await engine.get(task)).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_RESULT', message: expect.stringContaining('`migrate`') },
    })
    await engine.close()
    const mended = await engineOf(second, { migrate: (stored: object) => ({ ...stored, value: 'fresh' }) } as never)
    await mended.retry(task)
    await clock.rest()
    expect((await mended.get(task))?.status).toBe('completed')
  })

  it('is held with a question, and enters the state that a person names', async () => {
    const { engine, task, clock, stateOf } = await changed()
    expect((await engine.get(task))?.status).toBe('input_required')
    await engine.answer(task, { goto: 'fresh' })
    await clock.rest()
    expect(await stateOf(task.id)).toMatchObject({ value: 'done', context: { count: 3 } })
    expect((await engine.get(task))?.status).toBe('completed')
  })

  it('has the actors and delays of the whole machine in the state that a person names, and its context', async () => {
    const child = setup({}).createMachine({ initial: 'open', states: { open: {} } })
    const versionWith = (version: string, state: string) =>
      setup({ actors: { child }, types: { context: {} as { count: number; late?: boolean } } }).createMachine({
        version,
        context: { count: 0 },
        entry: assign({ count: ({ context }) => context.count + 1 }),
        invoke: { src: 'child', id: 'kid' },
        after: { 5000: { actions: assign({ late: true }) } },
        initial: state,
        states: { [state]: {} },
      })
    const { clock, engineOf, stateOf } = await machineWorld()
    const before = await engineOf(versionWith('1', 'old'))
    const task = await before.create({ executor: 'machine' })
    await clock.rest()
    await before.close()
    const engine = await engineOf(versionWith('2', 'fresh'))
    await engine.sendEvent(task, { type: 'LOOK' })
    await clock.rest()
    await engine.answer(task, { goto: 'fresh' })
    await clock.advance(5000)
    expect(await stateOf(task.id)).toMatchObject({
      value: 'fresh',
      context: { count: 1, late: true },
      actors: { kid: { src: 'child' } },
    })
    expect((await engine.children(task)).map(({ status }) => status)).toEqual(['canceled', 'waiting'])
  })

  it('fails when a person says so', async () => {
    const { engine, task, clock } = await changed()
    await engine.answer(task, { fail: true })
    await clock.rest()
    expect(await engine.get(task)).toMatchObject({ status: 'failed', error: { code: 'INVALID_RESULT' } })
  })

  it('waits when a person says so, and goes on in an engine with the old code', async () => {
    const { engine, task, clock, engineOf, stateOf } = await changed()
    await engine.answer(task, { wait: true })
    await clock.rest()
    expect((await engine.get(task))?.status).toBe('waiting')
    await engine.close()
    const old = await engineOf(first)
    await clock.advance(60_000)
    expect((await old.get(task))?.status).toBe('completed')
    expect((await stateOf(task.id)).value).toBe('done')
  })
})
