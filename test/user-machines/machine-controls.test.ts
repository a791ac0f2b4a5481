// What people and programs do with the task of a machine: pause, cancel, retry, answer, and run it with other code.
import { describe, expect, it } from 'vitest'
import { assign, fromCallback, fromPromise, setup } from 'xstate'
import { z } from 'zod'
import { machineWorld } from './machine-world.ts'

const counter = (by: (count: number) => number) =>
  setup({ types: { context: {} as { count: number }, events: {} as { type: 'ADD' } } }).createMachine({
    id: 'counter',
    context: { count: 0 },
    initial: 'counting',
    states: { counting: { on: { ADD: { actions: assign({ count: ({ context }) => by(context.count) }) } } } },
  })

const plusOne = counter((count) => count + 1)

describe('a task of a machine', () => {
  it('keeps events and delays while it is paused, and makes its promise again and takes them when it is resumed', async () => {
    const { clock, engineOf, stateOf } = await machineWorld()
    const begun = Promise.withResolvers<void>()
    let tries = 0
    const job = fromPromise(({ signal }) => {
      if (++tries > 1) return Promise.resolve()
      begun.resolve()
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    })
    const busy = setup({
      actors: { job },
      types: { context: {} as { seen: string[] }, events: {} as { type: string } },
    }).createMachine({
      context: { seen: [] },
      invoke: { src: 'job' },
      after: { 1000: { actions: assign({ seen: ({ context }) => [...context.seen, 'late'] }) } },
      on: { '*': { actions: assign({ seen: ({ context, event }) => [...context.seen, event.type] }) } },
    })
    const engine = await engineOf(busy, { onInterrupt: 'rerun' })
    const task = await engine.create({ executor: 'machine' })
    await begun.promise
    await engine.pause(task)
    await engine.sendEvent(task, { type: 'FIRST' })
    await clock.advance(5000)
    await engine.sendEvent(task, { type: 'LAST' })
    expect(await stateOf(task.id)).toMatchObject({ context: { seen: [] } })
    await engine.resume(task)
    expect((await stateOf(task.id)).context).toEqual({ seen: expect.arrayContaining(['FIRST', 'late', 'LAST']) })
    const { seen } = (await stateOf(task.id)).context as { seen: string[] }
    expect(seen.filter((type) => !type.startsWith('xstate.'))).toEqual(['FIRST', 'late', 'LAST'])
    expect(tries).toBe(2)
  })

  it('cancels the tasks of its child machines when it is canceled', async () => {
    const { clock, engineOf } = await machineWorld()
    const child = setup({}).createMachine({ initial: 'open', states: { open: {} } })
    const parent = setup({ actors: { child } }).createMachine({ invoke: { src: 'child', id: 'kid' } })
    const engine = await engineOf(parent)
    const task = await engine.create({ executor: 'machine' })
    await clock.rest()
    const [kid] = await engine.children(task)
    await engine.cancel(task)
    await clock.rest()
    expect((await engine.get(kid?.id as string))?.status).toBe('canceled')
  })

  it('gets an error of a child machine whose task a person has canceled', async () => {
    const { clock, engineOf, stateOf } = await machineWorld()
    const child = setup({}).createMachine({ initial: 'open', states: { open: {} } })
    const parent = setup({ actors: { child }, types: { context: {} as { code?: unknown } } }).createMachine({
      context: {},
      initial: 'waiting',
      states: {
        waiting: {
          invoke: {
            src: 'child',
            id: 'kid',
            onError: {
              target: 'alone',
              actions: assign({ code: ({ event }) => (event.error as { code: unknown }).code }),
            },
          },
        },
        alone: {},
      },
    })
    const engine = await engineOf(parent)
    const task = await engine.create({ executor: 'machine' })
    await clock.rest()
    const [kid] = await engine.children(task)
    await engine.cancel(kid?.id as string)
    expect(await stateOf(task.id)).toMatchObject({ value: 'alone', context: { code: 'TASK_CANCELED' } })
  })

  it('makes a promise again that has failed and ended it, when it is retried', async () => {
    const { clock, engineOf } = await machineWorld()
    let tries = 0
    const charge = fromPromise(async () => {
      if (++tries === 1) throw new Error('no network')
      return 'paid'
    })
    const order = setup({ actors: { charge }, types: { output: {} as { tries: number } } }).createMachine({
      initial: 'charging',
      states: { charging: { invoke: { src: 'charge', onDone: 'done' } }, done: { type: 'final' } },
      output: () => ({ tries }),
    })
    const engine = await engineOf(order)
    const task = await engine.create({ executor: 'machine' })
    await clock.rest()
    expect(await engine.get(task)).toMatchObject({ status: 'failed', error: { message: 'no network' } })
    await engine.retry(task)
    await clock.rest()
    expect(await engine.get(task)).toMatchObject({ status: 'completed', result: { tries: 2 } })
  })

  it('keeps the event of an assign that throws, and takes it when the code is mended and the task is retried', async () => {
    const { clock, engineOf, stateOf } = await machineWorld()
    const broken = await engineOf(
      counter(() => {
        throw new Error('cannot count')
      }),
    )
    const task = await broken.create({ executor: 'machine' })
    await clock.rest()
    await broken.sendEvent(task, { type: 'ADD' })
    await clock.rest()
    expect(await broken.get(task)).toMatchObject({ status: 'failed', error: { message: 'cannot count' } })
    await broken.close()
    const mended = await engineOf(plusOne)
    await mended.retry(task)
    expect(await stateOf(task.id)).toMatchObject({ value: 'counting', context: { count: 1 } })
  })

  it('fails with the error of an action, and carries it out again when it is retried', async () => {
    const { clock, engineOf, stateOf } = await machineWorld()
    let calls = 0
    const mail = setup({
      actions: {
        send: () => {
          if (++calls === 1) throw new Error('no mail today')
        },
      },
    }).createMachine({
      initial: 'idle',
      states: { idle: { on: { SEND: 'sent' } }, sent: { entry: 'send', on: { SEND: 'sent' } } },
    })
    const engine = await engineOf(mail)
    const task = await engine.create({ executor: 'machine' })
    await clock.rest()
    await engine.sendEvent(task, { type: 'SEND' })
    await clock.rest()
    expect(await engine.get(task)).toMatchObject({ status: 'failed', error: { message: 'no mail today' } })
    await engine.retry(task)
    expect((await stateOf(task.id)).value).toBe('sent')
    expect(calls).toBe(2)
  })
})

describe('a state with meta.ask', () => {
  const review = setup({
    types: { context: {} as { by?: unknown; notes: number }, events: {} as { type: string; answer?: unknown } },
  }).createMachine({
    context: { notes: 0 },
    initial: 'reviewing',
    states: {
      reviewing: {
        meta: { ask: { question: 'Is it good?', schema: z.object({ by: z.string() }), event: 'REVIEWED' } },
        on: {
          REVIEWED: [
            { guard: ({ event }) => (event.answer as { by: string }).by === 'unsure' },
            { target: 'done', actions: assign({ by: ({ event }) => event.answer }) },
          ],
          NOTE: { actions: assign({ notes: ({ context }) => context.notes + 1 }) },
          SKIP: 'skipped',
        },
      },
      done: {},
      skipped: {},
    },
  })

  const asked = async () => {
    const world = await machineWorld()
    const engine = await world.engineOf(review)
    const task = await engine.create({ executor: 'machine' })
    await world.clock.rest()
    const openQuestions = async () => {
      const open = await world.ledger.read((tx) => tx.call.open(task.id))
      return open.filter(({ kind }) => kind === 'ask').length
    }
    return { ...world, engine, task, openQuestions }
  }

  it('asks a person, refuses an answer that its schema does not allow, and takes one that it allows', async () => {
    const { engine, task, clock, stateOf } = await asked()
    expect((await engine.get(task))?.status).toBe('input_required')
    await expect(engine.answer(task, { by: 7 })).rejects.toMatchObject({ code: 'INVALID_ANSWER' })
    await engine.answer(task, { by: 'Ada' })
    expect(await stateOf(task.id)).toMatchObject({ value: 'done', context: { by: { by: 'Ada' } } })
    await clock.rest()
    expect((await engine.get(task))?.status).toBe('waiting')
  })

  it('goes on asking while other events leave the state as it is, and withdraws the question when one leaves it', async () => {
    const { engine, task, stateOf, openQuestions, clock } = await asked()
    const first = (await engine.get(task))?.questions
    await engine.sendEvent(task, { type: 'NOTE' })
    await clock.rest()
    expect((await engine.get(task))?.questions).toEqual(first)
    expect(await stateOf(task.id)).toMatchObject({ value: 'reviewing', context: { notes: 1 } })
    expect((await engine.get(task))?.status).toBe('input_required')
    expect(await openQuestions()).toBe(1)
    await engine.sendEvent(task, { type: 'SKIP' })
    expect((await stateOf(task.id)).value).toBe('skipped')
    await clock.rest()
    expect((await engine.get(task))?.status).toBe('waiting')
    expect(await openQuestions()).toBe(0)
  })

  it('takes an answer that comes after an event that leaves the state as it is', async () => {
    const { engine, engineOf, task, stateOf } = await asked()
    await engine.close()
    const sender = await engineOf(review, {}, { work: false })
    await sender.sendEvent(task.id, { type: 'NOTE' })
    await sender.answer(task.id, { by: 'Ada' })
    await sender.close()
    await engineOf(review)
    expect(await stateOf(task.id)).toMatchObject({ value: 'done', context: { notes: 1, by: { by: 'Ada' } } })
  })

  it('is asked while a promise begins, which is made', async () => {
    const { clock, engineOf, stateOf } = await machineWorld()
    const job = fromPromise(async () => 'made')
    const definition = setup({
      actors: { job },
      types: { context: {} as { made?: unknown } },
    }).createMachine({
      context: {},
      type: 'parallel',
      states: {
        asks: { meta: { ask: { question: 'Who?', event: 'NAMED' } }, on: { NAMED: { actions: assign({}) } } },
        works: {
          initial: 'idle',
          states: {
            idle: { on: { GO: 'busy' } },
            busy: {
              invoke: {
                src: 'job',
                onDone: { target: 'idle', actions: assign({ made: ({ event }) => event.output }) },
              },
            },
          },
        },
      },
    })
    const engine = await engineOf(definition)
    const task = await engine.create({ executor: 'machine' })
    await clock.rest()
    await engine.sendEvent(task, { type: 'GO' })
    expect(await stateOf(task.id)).toMatchObject({ context: { made: 'made' }, actors: {} })
  })

  it('is asked while an actor lives in memory, which begins anew with the next run', async () => {
    const { clock, engineOf, stateOf } = await machineWorld()
    let begun = 0
    const listen = fromCallback(() => void begun++)
    const definition = setup({ actors: { listen } }).createMachine({
      invoke: { src: 'listen' },
      initial: 'asking',
      states: { asking: { meta: { ask: { question: 'Who?', event: 'NAMED' } }, on: { NAMED: 'named' } }, named: {} },
    })
    const engine = await engineOf(definition)
    const task = await engine.create({ executor: 'machine' })
    await clock.rest()
    expect((await engine.get(task))?.status).toBe('input_required')
    await engine.answer(task, 'Ada')
    expect((await stateOf(task.id)).value).toBe('named')
    expect((await engine.get(task))?.status).toBe('working')
    expect(begun).toBe(2)
  })

  it('asks again when the answer has not left the state', async () => {
    const { engine, task, clock, stateOf, openQuestions } = await asked()
    await engine.answer(task, { by: 'unsure' })
    await clock.rest()
    expect((await engine.get(task))?.status).toBe('input_required')
    expect(await openQuestions()).toBe(1)
    await engine.answer(task, { by: 'Ada' })
    expect((await stateOf(task.id)).value).toBe('done')
  })
})

describe('a state with meta.ask whose task has failed and is retried', () => {
  const fragile = (isBroken: boolean) =>
    setup({
      types: { context: {} as { by: unknown }, events: {} as { type: string; answer?: unknown } },
    }).createMachine({
      context: { by: null },
      initial: 'asking',
      states: {
        asking: {
          meta: { ask: { question: 'Who?', event: 'NAMED' } },
          on: {
            '*': {
              target: 'named',
              actions: assign(({ event }) => {
                if (isBroken) throw new Error('cannot read')
                return { by: event.answer ?? event.type }
              }),
            },
          },
        },
        named: {},
      },
    })

  it('takes the answer that it could not take before', async () => {
    const { clock, engineOf, stateOf } = await machineWorld()
    const broken = await engineOf(fragile(true))
    const task = await broken.create({ executor: 'machine' })
    await clock.rest()
    await broken.answer(task, 'Ada')
    await clock.rest()
    expect((await broken.get(task))?.status).toBe('failed')
    await broken.close()
    await (await engineOf(fragile(false))).retry(task)
    expect(await stateOf(task.id)).toMatchObject({ value: 'named', context: { by: 'Ada' } })
  })

  it('asks again, if it had no answer', async () => {
    const world = await machineWorld()
    const watched = (isBroken: boolean) =>
      setup({ types: { context: {} as { notes: number }, events: {} as { type: string } } }).createMachine({
        context: { notes: 0 },
        initial: 'asking',
        states: {
          asking: {
            meta: { ask: { question: 'Who?', event: 'NAMED' } },
            on: {
              NAMED: 'named',
              NOTE: {
                actions: assign(({ context }) => {
                  if (isBroken) throw new Error('cannot note')
                  return { notes: context.notes + 1 }
                }),
              },
            },
          },
          named: {},
        },
      })
    const broken = await world.engineOf(watched(true))
    const task = await broken.create({ executor: 'machine' })
    await world.clock.rest()
    await broken.sendEvent(task, { type: 'NOTE' })
    await world.clock.rest()
    expect((await broken.get(task))?.status).toBe('failed')
    await broken.close()
    const mended = await world.engineOf(watched(false))
    await mended.retry(task)
    expect((await world.stateOf(task.id)).context).toEqual({ notes: 1 })
    await world.clock.rest()
    expect((await mended.get(task))?.status).toBe('input_required')
    await mended.answer(task, 'Ada')
    expect((await world.stateOf(task.id)).value).toBe('named')
  })
})
