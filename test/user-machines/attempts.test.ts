// A machine whose task has failed, or was paused, goes on from its stored situation.
import { expect, it } from 'vitest'
import { assign, fromPromise, setup } from 'xstate'
import { machine } from '../../src/user-machines/machine.ts'
import { deferred, openEngine, reached } from '../engine/world.ts'

it('a new attempt makes the promise again that failed the task, and goes on', async () => {
  let made = 0
  const work = fromPromise(async () => {
    made += 1
    if (made === 1) throw new Error('down')
    return 7
  })
  const definition = setup({ actors: { work } }).createMachine({
    id: 'order',
    context: { result: null },
    initial: 'idle',
    states: {
      idle: { on: { GO: 'working' } },
      working: {
        invoke: { src: 'work', onDone: { target: 'done', actions: assign({ result: ({ event }) => event.output }) } },
      },
      done: { type: 'final' },
    },
    output: ({ context }) => context.result,
  })
  const engine = await openEngine({ executors: { order: machine(definition) } })
  const task = await engine.create({ executor: 'order' })
  await engine.sendEvent(task, { type: 'GO' })
  expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { message: 'down' } })
  await engine.retry(task)
  expect(await engine.settled(task)).toMatchObject({ status: 'completed', result: 7 })
  expect(made).toBe(2)
})

it('a new attempt makes the action again that failed the task, and not those before it', async () => {
  const made: string[] = []
  const definition = setup({
    actions: {
      first: () => void made.push('first'),
      second: () => {
        made.push('second')
        if (made.length === 2) throw new Error('no mail')
      },
    },
  }).createMachine({
    id: 'order',
    initial: 'idle',
    states: {
      idle: { on: { GO: 'next' } },
      next: { entry: ['first', 'second'], on: { END: 'done' } },
      done: { type: 'final' },
    },
  })
  const engine = await openEngine({ executors: { order: machine(definition) } })
  const task = await engine.create({ executor: 'order' })
  await engine.sendEvent(task, { type: 'GO' })
  expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { message: 'no mail' } })
  await engine.retry(task)
  await reached(engine, task, 'waiting')
  await engine.sendEvent(task, { type: 'END' })
  expect((await engine.settled(task)).status).toBe('completed')
  expect(made).toEqual(['first', 'second', 'second'])
})

const asking = (fails: () => boolean) =>
  setup({
    types: { events: {} as { type: 'DECIDED'; answer: unknown } | { type: 'BREAK' } },
    actions: {
      check: assign(() => {
        if (fails()) throw new Error('broken')
        return {}
      }),
    },
  }).createMachine({
    id: 'order',
    initial: 'asking',
    states: {
      asking: {
        meta: { ask: { question: 'Go on?', event: 'DECIDED' } },
        on: { DECIDED: { target: 'done', actions: 'check' }, BREAK: { actions: 'check' } },
      },
      done: { type: 'final' },
    },
  })

it('a new attempt asks the question again that was withdrawn with the one before', async () => {
  let isBroken = true
  const engine = await openEngine({ executors: { order: machine(asking(() => isBroken)) } })
  const task = await engine.create({ executor: 'order' })
  await reached(engine, task, 'input_required')
  await engine.sendEvent(task, { type: 'BREAK' })
  expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { message: 'broken' } })
  isBroken = false
  await engine.retry(task)
  await reached(engine, task, 'input_required')
  await engine.answer(task, true)
  expect((await engine.settled(task)).status).toBe('completed')
})

it('a new attempt takes the answer again that failed the task, without asking', async () => {
  let isBroken = true
  const engine = await openEngine({ executors: { order: machine(asking(() => isBroken)) } })
  const task = await engine.create({ executor: 'order' })
  await reached(engine, task, 'input_required')
  await engine.answer(task, true)
  expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { message: 'broken' } })
  isBroken = false
  await engine.retry(task)
  expect((await engine.settled(task)).status).toBe('completed')
})

it('a promise whose state is left is recorded as withdrawn', async () => {
  const never = fromPromise(() => new Promise(() => {}))
  const definition = setup({ actors: { never } }).createMachine({
    id: 'video',
    initial: 'rendering',
    states: { rendering: { invoke: { src: 'never' }, on: { CANCEL: 'withdrawn' } }, withdrawn: { type: 'final' } },
  })
  const engine = await openEngine({ executors: { video: machine(definition) } })
  const task = await engine.create({ executor: 'video' })
  await engine.sendEvent(task, { type: 'CANCEL' })
  await engine.settled(task)
  expect((await engine.calls(task)).map(({ name, status, error }) => [name, status, error?.code])).toEqual([
    ['never', 'failed', 'WITHDRAWN'],
  ])
})

it('a machine that is paused in the middle of a promise makes it again when it is resumed', async () => {
  const begun = [deferred(), deferred()]
  let made = 0
  const work = fromPromise(
    ({ signal }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        begun[made]?.resolve()
        made += 1
        if (made === 2) resolve(7)
      }),
  )
  const definition = setup({ actors: { work } }).createMachine({
    id: 'order',
    initial: 'working',
    states: { working: { invoke: { src: 'work', onDone: 'done' } }, done: { type: 'final' } },
  })
  const engine = await openEngine({ executors: { order: machine(definition) }, onInterrupt: 'rerun' })
  const task = await engine.create({ executor: 'order' })
  await begun[0]?.promise
  await engine.pause(task)
  await engine.resume(task)
  await begun[1]?.promise
  expect((await engine.settled(task)).status).toBe('completed')
})
