// What an engine that only reads says of the tasks of an engine that has died: at once, and only if the death is proved.

import { expect, it } from 'vitest'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Life } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { openEngine as openWorldsEngine, puppet } from '../engine/world.ts'
import { serve } from '../surfaces/http/world.ts'
import { createOne, createPlace, openEngine, startEngine } from './child.ts'

/** A group whose only task has begun in another process. */
async function running() {
  const place = createPlace()
  const worker = startEngine(place, { leave: 'never', follow: true })
  await worker.lineWhere((line) => 'ready' in line)
  const reader = await openEngine(place, { work: false })
  const group = await createOne(reader, {
    name: 'plan',
    tasks: { first: { executor: 'idle' }, later: { executor: 'leaf', after: 'first' } },
  })
  await worker.lineWhere((line) => 'idling' in line)
  const [task, later] = await reader.children(group.id)
  return { place, worker, reader, group, task: task!, later: later! }
}

it('when the only engine has died, why, get, list, subtree and graph say at once that its task is interrupted', async () => {
  const { worker, reader, group, task, later } = await running()
  expect(await reader.why(task)).toMatchObject({ reason: 'running', message: '#2 first is running (run 1).' })
  expect(await reader.get(task)).toMatchObject({ status: 'working', statusReason: null })
  await worker.kill()

  const continues =
    'It continues when an engine that has the executor idle works on this ledger (on the command line: `errand serve`).'
  const ended = '#2 first was running (run 1), but the process of its engine has ended.'
  expect(await reader.why(task)).toEqual({
    taskId: task.id,
    status: 'working',
    reason: 'lost',
    message: `${ended} ${continues}`,
    tasks: [],
    at: null,
  })
  expect(await reader.why(group.id)).toMatchObject({
    reason: 'lost',
    message: `#1 plan is a group, and none of its tasks runs now. ${ended} ${continues}`,
    tasks: [task.id],
  })
  expect(await reader.why(later)).toMatchObject({ reason: 'blocked' })

  const interrupted = { id: task.id, status: 'working', statusReason: 'interrupted' }
  expect(await reader.get(task)).toMatchObject(interrupted)
  expect((await reader.list({ status: ['working'] })).tasks).toMatchObject([
    { id: group.id, statusReason: null },
    interrupted,
  ])
  expect((await reader.subtree(group.id))[0]).toMatchObject(interrupted)
  expect((await reader.graph()).order[0]).toMatchObject(interrupted)
})

it('the routes of a server that does not work show the task of a dead engine as interrupted', async () => {
  const { worker, reader, task, later } = await running()
  const { ask } = serve(reader as never)
  const before = (await ask('GET', '/tasks')).body
  await worker.kill()
  const interrupted = { id: task.id, status: 'working', statusReason: 'interrupted' }
  expect((await ask('GET', '/tasks')).body.tasks[1]).toMatchObject(interrupted)
  expect((await ask('GET', `/tasks/${task.id}`)).body.task).toMatchObject(interrupted)
  expect((await ask('GET', `/tasks/${later.id}`)).body.dependencies).toMatchObject([interrupted])
  expect((await ask('GET', `/tasks/${task.id}/why`)).body).toMatchObject({ reason: 'lost' })
  // The past shows no deaths, which happen at no position of the feed.
  const past = (await ask('GET', `/tasks?at=${before.seq}`)).body
  expect(past.tasks[1]).toMatchObject({ status: 'working', statusReason: null })
})

it('a task of a dead engine runs again, and is interrupted no longer, when another engine has taken it over', async () => {
  const { place, worker, reader, task } = await running()
  await worker.kill()
  expect(await reader.why(task)).toMatchObject({ reason: 'lost' })
  const next = startEngine(place, { leave: 'never' })
  await next.lineWhere((line) => line['idling'] === task.id && line['run'] === 2)
  expect(await reader.why(task)).toMatchObject({ reason: 'running', message: '#2 first is running (run 2).' })
  expect(await reader.get(task)).toMatchObject({ status: 'working', statusReason: null })
})

it.each<Life>(['alive', 'silent', 'unknown'])(
  'the task of an engine whose life is %s counts as running, because its death is not proved',
  async (life) => {
    let judged: Life = life
    const inner = await openLedger(':memory:')
    const hands = puppet()
    const worker = await openWorldsEngine({ ledger: inner, executors: { work: hands.executor } })
    const seen = delegateLedger(inner, { isAlive: async () => judged, close: async () => {} })
    const reader = await openWorldsEngine({ ledger: seen, work: false })
    const { id } = await worker.create({ name: 'a', executor: 'work' })
    const { end } = await hands.started(0)
    expect(await reader.why(id)).toMatchObject({ reason: 'running', message: '#1 a is running (run 1).' })
    expect(await reader.get(id)).toMatchObject({ status: 'working', statusReason: null })
    judged = 'dead'
    expect(await reader.why(id)).toMatchObject({ reason: 'lost' })
    end.resolve(null)
    await worker.settled(id)
  },
)

it('a group names the tasks of a dead engine beside those that still run', async () => {
  const inner = await openLedger(':memory:')
  const [lives, dies] = [puppet(), puppet()]
  await openWorldsEngine({ ledger: inner, executors: { lives: lives.executor } })
  const two = await openWorldsEngine({ ledger: inner, executors: { dies: dies.executor } })
  const seen = delegateLedger(inner, {
    isAlive: async (id) => (id === two.instanceId ? 'dead' : 'alive'),
    close: async () => {},
  })
  const reader = await openWorldsEngine({ ledger: seen, work: false })
  const tasks = { a: { executor: 'lives' }, b: { executor: 'dies' }, c: { executor: 'dies' }, d: { name: 'by hand' } }
  const group = await createOne(reader as never, { name: 'plan', tasks })
  const held = [await lives.started(0), await dies.started(0), await dies.started(1)]
  const { reason, message } = await reader.why(group.id)
  expect(reason).toBe('running')
  expect(message).toBe(
    '#1 plan is a group and ends with its last task: #2 a is running, 3 more to come. #3 b, #4 c were running, but the process of their engine has ended. They continue when an engine that has the executor dies works on this ledger (on the command line: `errand serve`).',
  )
  for (const { end } of held) end.resolve(null)
  await Promise.all(held.map(({ task }) => reader.settled(task.id)))
})

it('engines that work, and reads of tasks that are in no run, do not ask whether others live', async () => {
  const inner = await openLedger(':memory:')
  const asked: string[] = []
  const isAlive = async (id: string): Promise<Life> => {
    asked.push(id)
    return 'alive'
  }
  const ledger = delegateLedger(inner, { isAlive, close: async () => {} })
  const hands = puppet()
  const worker = await openWorldsEngine({ ledger: inner, executors: { work: hands.executor } })
  const [reader, working] = [
    await openWorldsEngine({ ledger, work: false }),
    await openWorldsEngine({ ledger, executors: {} }),
  ]
  asked.length = 0
  const free = await reader.create({ name: 'by hand' })
  await reader.start(free)
  const { id } = await worker.create({ executor: 'work' })
  const { end } = await hands.started(0)
  await reader.get(free)
  await working.get(id)
  await working.why(id)
  await working.list()
  expect(asked).toEqual([])
  await reader.list()
  expect(asked).toEqual([worker.instanceId, working.instanceId])
  end.resolve(null)
  await worker.settled(id)
})
