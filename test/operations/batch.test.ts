// `engine.batch` and `task:batch`: one action for all tasks that a filter finds.
import { expect, it } from 'vitest'
import { Failure } from '../../src/core/errors.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { openEngine, reached, refusalOf } from '../engine/world.ts'

/** An engine whose tasks fail with the code that is their input, until `state.fails` is false. */
async function failing() {
  const state = { fails: true }
  const engine = await openEngine({
    executors: {
      work: ({ input }: { input: unknown }) => {
        if (state.fails) throw new Failure('down', { code: String(input) })
        return 'done'
      },
    },
  })
  const create = async (code: string, more: object = {}) => {
    const task = await engine.create({ executor: 'work', input: code, ...more })
    await reached(engine, task, 'failed')
    return task.id
  }
  return { engine, state, create }
}

const statuses = async (engine: Engine) => (await engine.list()).tasks.map(({ status, attempt }) => [status, attempt])

it('retries the failed tasks that a filter finds, and leaves the others', async () => {
  const { engine, state, create } = await failing()
  await create('DOWN', { tags: ['a', 'b'], metadata: { customer: 7 } })
  await create('DOWN', { tags: ['a'] })
  await create('REFUSED', { tags: ['a', 'b'], metadata: { customer: 7 } })
  state.fails = false
  const filter = { code: 'DOWN', tags: ['a', 'b'], metadata: { customer: 7 } }
  expect(await engine.batch('retry', filter, { dryRun: true })).toMatchObject({ done: 1, total: 1, refusedCount: 0 })
  expect(await statuses(engine)).toEqual([
    ['failed', 1],
    ['failed', 1],
    ['failed', 1],
  ])
  expect(await engine.batch('retry', filter)).toMatchObject({ done: 1, total: 1, refused: [], stopped: false })
  await engine.idle()
  expect(await statuses(engine)).toEqual([
    ['completed', 2],
    ['failed', 1],
    ['failed', 1],
  ])
})

it('the bound of one batch keeps a task that has failed again out of the next', async () => {
  const { engine, create } = await failing()
  const ids = [await create('DOWN'), await create('DOWN')]
  const { before, done } = await engine.batch('retry', { ids: [ids[0] as string] })
  expect(done).toBe(1)
  await engine.idle()
  expect(await engine.batch('retry', { before })).toMatchObject({ done: 1, total: 1, before })
  await engine.idle()
  expect(await statuses(engine)).toEqual([
    ['failed', 2],
    ['failed', 2],
  ])
})

it('a task that a change of the same batch has reached before counts as changed', async () => {
  const { engine, state } = await failing()
  const group = await engine.create({ name: 'g', tasks: { a: { executor: 'work' }, b: { executor: 'work' } } })
  await reached(engine, group, 'failed')
  await engine.idle()
  state.fails = false
  expect(await engine.batch('retry', {})).toMatchObject({ done: 3, refusedCount: 0 })
  await engine.idle()
  expect((await engine.list()).tasks.map(({ attempt, status }) => [status, attempt])).toEqual([
    ['completed', 2],
    ['completed', 2],
    ['completed', 2],
  ])
})

it('returns the refused ones with their reasons, and changes the others', async () => {
  const { engine } = await failing()
  const { id } = await engine.create({ name: 'claimed' })
  await engine.claim(id, { owner: 'ann' })
  const child = await engine.create({ name: 'child', parentId: id })
  await engine.create({ name: 'free' })
  expect(await engine.batch('delete', {}, { children: 'refuse' })).toMatchObject({
    done: 2,
    refusedCount: 1,
    refused: [{ taskId: id, seq: 1, name: 'claimed', code: 'HAS_CHILDREN' }],
  })
  expect(await engine.get(child.id)).toBeNull()
})

it('pauses, resumes and cancels those in whose state that has an effect', async () => {
  const { engine } = await failing()
  for (const name of ['one', 'two', 'three']) await engine.create({ name })
  for (const ref of ['#1', '#2']) await engine.start((await engine.find(ref)) as never)
  expect(await engine.batch('pause', {})).toMatchObject({ done: 2 })
  expect(await engine.batch('resume', { text: 'one' })).toMatchObject({ done: 1 })
  expect(await engine.batch('cancel', { status: 'submitted' }, { reason: 'not needed' })).toMatchObject({ done: 1 })
  expect((await engine.list()).tasks.map(({ status, statusReason }) => [status, statusReason])).toEqual([
    ['working', null],
    ['paused', null],
    ['canceled', 'not needed'],
  ])
})

it('reports its progress, and stops between two parts when its signal aborts', async () => {
  const { engine } = await failing()
  await engine.create(Array.from({ length: 500 }, (_, index) => ({ name: `t${index}` })))
  const stop = new AbortController()
  const seen: unknown[] = []
  const result = await engine.batch(
    'cancel',
    {},
    {
      signal: stop.signal,
      onProgress(progress) {
        seen.push(progress)
        stop.abort()
      },
    },
  )
  expect(result).toMatchObject({ done: 200, total: 500, stopped: true })
  expect(seen).toEqual([{ done: 200, refused: 0, total: 500 }])
  expect(await engine.batch('cancel', { before: result.before })).toMatchObject({ done: 300, total: 300 })
})

it('refuses unknown filters and options without effect before it changes anything', async () => {
  const { engine } = await failing()
  await engine.create({ name: 'one' })
  await refusalOf(() => engine.batch('cancel', { state: 'failed' } as never), 'INVALID_INPUT')
  await refusalOf(() => engine.batch('cancel', {}, { children: 'cascade' }), 'INVALID_INPUT')
  await refusalOf(() => engine.batch('cancel', {}, { dry: true } as never), 'UNKNOWN_OPTION')
  await refusalOf(() => engine.batch('start' as never, {}), 'INVALID_INPUT')
  expect(await statuses(engine)).toEqual([['submitted', 1]])
})

it('for a caller with a task it changes only what is below that task', async () => {
  const { engine } = await failing()
  const parent = await engine.create({ name: 'parent', tasks: { a: { name: 'a' } }, autoStart: false })
  await engine.create({ name: 'other' })
  const caller = { surface: 'run', taskId: parent.id, run: 1 }
  const input = { action: 'cancel', filter: {} } as const
  expect(await engine.bus.call('task:batch', input, { caller })).toMatchObject({ done: 1, total: 1, next: null })
  expect((await engine.find('#3'))?.status).toBe('submitted')
  const model = { surface: 'model', taskId: parent.id }
  await refusalOf(() => engine.bus.call('task:batch', input, { caller: model }), 'FORBIDDEN')
})
