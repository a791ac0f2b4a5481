// A family of which a purge has removed a part: nothing of it lives again, nothing outside changes, and an engine finishes the purge.
import { expect, it } from 'vitest'
import { finishPurge } from '../../src/actors/purge-families.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import { type Ledger, step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../src/testing/index.ts'
import { openManager } from '../compat/agent-os/world.ts'
import { eventRow } from '../ledger/factories.ts'
import { surface } from '../operations/world.ts'
import { collect, history, openEngine, reached, refusalOf, turns } from './world.ts'

const start = Date.UTC(2030, 0, 1)
const leaves = 300

/** A ledger on which a purge is cut off when it has removed the events of some tasks, and then some of these tasks. */
function cutOff(inner: Ledger): Ledger {
  let removals = 0
  return delegateLedger(inner, {
    async step(each) {
      if (each.name === 'remove purged rows' && ++removals > 2) throw new Error('cut off')
      return inner.step(each)
    },
  })
}

/** Lets an engine work until nothing more is being purged. */
async function finish({ ledger, clock }: World): Promise<void> {
  await openEngine({ ledger, clock })
  while ((await ledger.read((tx) => tx.purge.begun(1))).length > 0) {
    clock.increment(1_000)
    await turns()
  }
}

/**
 * A failed group, a failed task below it that came after an open gate, and a failed group with many canceled leaves. A purge has removed some
 * leaves.
 */
async function halfPurged() {
  const ledger = await openLedger(':memory:')
  const clock = new SimulatedClock(start)
  const engine = await openEngine({
    ledger: cutOff(ledger),
    clock,
    executors: { waits: (task: ExecutorTask<string[]>, run: Run) => run.wait(task.input) },
  })
  const open = await engine.create({ name: 'open' })
  const gate = await engine.create({ name: 'gate' })
  const leafSpecs = Object.fromEntries(Array.from({ length: leaves }, (_, nth) => [`leaf${nth}`, { name: 'leaf' }]))
  const root = await engine.create({
    name: 'root',
    key: 'family',
    tasks: {
      late: { key: 'late', blockedBy: [gate.id], deadline: start + 1_000 },
      inner: { tasks: leafSpecs },
    },
  })
  const [late, inner] = (await engine.children(root)) as [Task, Task]
  const made = await engine.children(inner)
  clock.increment(1_000)
  await reached(engine, late, 'failed')
  await Promise.all(made.map(({ id }) => engine.cancel(id)))
  await reached(engine, root, 'failed')
  clock.increment(1)
  await expect(engine.purge({ before: clock.now() })).rejects.toThrow('cut off')
  const outside = await openEngine({ ledger, clock, work: false })
  const through = (await history(outside)).at(-1)?.seq as number
  const call = surface(outside as never)
  return { ledger, clock, engine, outside: outside as unknown as Engine, call, open, gate, root, late, inner, through }
}

type World = Awaited<ReturnType<typeof halfPurged>>

it('a reader sees a family shrink from its leaves up while it is purged', async () => {
  const { outside, root, inner, late } = await halfPurged()
  const { tasks } = await outside.list({ limit: 1_000 })
  expect(tasks.map(({ name }) => name).filter((name) => name !== 'leaf')).toEqual([
    'open',
    'gate',
    'root',
    'late',
    'inner',
  ])
  const left = await outside.children(inner)
  expect(left.length).toBeGreaterThan(0)
  expect(left.length).toBeLessThan(leaves)
  expect(await outside.get(late)).toMatchObject({ status: 'failed', parentId: root.id })
})

const asAgentOs = async ({ ledger, clock }: World) => (await openManager({ ledger, clock, work: false })).call
const saved = ({ late: { id } }: World) => ({ id, status: 'failed', updatedAt: start + 5_000 })
const savedCall = ({ late: { id } }: World) => {
  return { id: 'call-x', taskId: id, abilityName: 'x:y', parameters: '{}', status: 'completed' }
}

it.each<[way: string, attempt: (world: World) => Promise<unknown>]>([
  ['a retry of its root', ({ outside, root }) => outside.retry(root)],
  ['a retry of a task in it', ({ outside, late }) => outside.retry(late)],
  ['an update of a status', ({ outside, late }) => outside.update(late, { status: 'submitted' })],
  ['an update of a name', ({ outside, late }) => outside.update(late, { name: 'renamed' })],
  ['a message that retries', ({ outside, late }) => outside.send(late, 'again', { retry: true })],
  ['a child of its root', ({ outside, root }) => outside.create({ name: 'child', parentId: root.id })],
  [
    'a tree below a task in it',
    ({ outside, late }) => outside.create({ name: 'a', parentId: late.id, tasks: { b: {} } }),
  ],
  ['a new task after one in it', ({ outside, late }) => outside.create({ name: 'after', blockedBy: [late.id] })],
  ['a dependency on a task in it', ({ outside, open, late }) => outside.block(open, late)],
  ['a dependency of a task in it', ({ outside, open, late }) => outside.block(late, open)],
  ['a claim', ({ outside, late }) => outside.claim(late, { owner: 'ann' })],
  ['a note', ({ call, late }) => call('task:note', { taskId: late.id, text: 'a note' })],
  ['a field of a board', ({ call, late }) => call('board:update', { id: late.id, activeForm: 'waiting' })],
  ['an objective', ({ call, late }) => call('objective:add', { taskId: late.id, descriptions: ['more'] })],
  ['a member of a team', ({ call, late }) => call('agent:join', { taskId: late.id, agentId: 'ann' })],
  ['a consolidation', ({ call, late }) => call('mem:consolidate', { level: 'task', taskId: late.id })],
  ['a call of another program', async (world) => (await asAgentOs(world))('ldg:call:save', { call: savedCall(world) })],
  ['a save of another program', async (world) => (await asAgentOs(world))('ldg:task:save', { task: saved(world) })],
  ['a deletion that makes its children roots', ({ outside, root }) => outside.delete(root)],
])('%s is refused with PURGED in a family that is being purged', async (_way, attempt) => {
  const world = await halfPurged()
  const { outside, open, root, late, through } = world
  const before = await Promise.all([open, root, late].map(({ id }) => outside.get(id)))
  const { message } = await refusalOf(attempt(world), 'PURGED')
  expect(message).toMatch(/a purge is removing its family\. Create a new task/)
  expect(await Promise.all([open, root, late].map(({ id }) => outside.get(id)))).toEqual(before)
  expect((await history(outside)).at(-1)?.seq).toBe(through)
})

it('a run that waits for a task that is being purged fails with PURGED', async () => {
  const { engine, late } = await halfPurged()
  const waiter = await engine.create({ executor: 'waits', input: [late.id] })
  expect(await engine.settled(waiter)).toMatchObject({ status: 'failed', error: { code: 'PURGED' } })
})

it('the keys of a family are free as soon as its purge begins', async () => {
  const { outside, root, late } = await halfPurged()
  const again = await outside.create({ name: 'again', key: 'family', tasks: { late: { key: 'late' } } })
  expect(again.id).not.toBe(root.id)
  expect((await outside.children(again)).map(({ key }) => key)).toEqual(['late'])
  expect(await outside.get(late)).toMatchObject({ key: null })
})

it('a task that settles changes no task that came after it and is being purged', async () => {
  const { outside, gate, root, late, inner } = await halfPurged()
  const before = await Promise.all([root, inner].map(({ id }) => outside.get(id)))
  await outside.start(gate)
  expect(await outside.complete(gate)).toMatchObject({ status: 'completed' })
  expect(await outside.get(late)).toMatchObject({ status: 'failed' })
  expect(await Promise.all([root, inner].map(({ id }) => outside.get(id)))).toEqual(before)
  const settled = (await history(outside)).filter(({ type }) => type === 'task.completed')
  expect(settled.map(({ taskId }) => taskId)).toEqual([gate.id])
})

it('a cursor before events of a family is too old as soon as its purge begins', async () => {
  const { outside, open, through } = await halfPurged()
  const follow = (after: number) => collect(outside.events({ after, follow: false }))
  const [first] = await history(outside, open.id)
  await refusalOf(follow(first?.seq as number), 'CURSOR_TOO_OLD')
  expect(await follow(through)).toEqual([])
  expect((await follow(0))[0]).toEqual(first)
})

it('a cursor before an event that a family got while it was purged is too old when that event is removed', async () => {
  const world = await halfPurged()
  const { ledger, outside, late, through } = world
  await ledger.step(step('add an event', (tx) => tx.event.append(eventRow({ taskId: late.id }))))
  const follow = () => collect(outside.events({ after: through, follow: false }))
  expect(await follow()).toHaveLength(1)
  await finish(world)
  await refusalOf(follow(), 'CURSOR_TOO_OLD')
})

it('an engine that starts to work finishes a purge that was cut off, and changes no open task', async () => {
  const world = await halfPurged()
  const { outside, open, gate } = world
  const before = await Promise.all([open, gate].map(({ id }) => outside.get(id)))
  await finish(world)
  const { tasks } = await outside.list({ limit: 1_000 })
  expect(tasks.map(({ id }) => id)).toEqual([open.id, gate.id])
  expect(await Promise.all([open, gate].map(({ id }) => outside.get(id)))).toEqual(before)
  expect(new Set((await history(outside)).map(({ taskId }) => taskId))).toEqual(new Set([open.id, gate.id]))
})

it('a purge that was cut off is finished by the next purge, which counts no family twice', async () => {
  const { clock, outside, open, gate } = await halfPurged()
  const nothing = { families: 0, tasks: 0, events: 0 }
  expect(await outside.purge({ before: clock.now() })).toEqual({ ...nothing, finishedEarlier: true })
  expect(await outside.purge({ before: clock.now() })).toEqual(nothing)
  const { tasks } = await outside.list({ limit: 1_000 })
  expect(tasks.map(({ id }) => id)).toEqual([open.id, gate.id])
})

it('a purge does not begin with a family that another engine has begun to purge meanwhile', async () => {
  const inner = await openLedger(':memory:')
  const clock = new SimulatedClock(start)
  const other = await openEngine({ ledger: cutOff(inner), clock, work: false })
  const ledger = delegateLedger(inner, {
    async step(each) {
      if (each.name === 'purge') await expect(other.purge({ before: clock.now() })).rejects.toThrow('cut off')
      return inner.step(each)
    },
  })
  const engine = await openEngine({ ledger, clock, work: false })
  const root = await engine.create({ name: 'root' })
  await engine.create(Array.from({ length: leaves }, () => ({ name: 'leaf', parentId: root.id })))
  await engine.cancel(root)
  clock.increment(1)
  expect(await engine.purge({ before: clock.now() })).toEqual({ families: 0, tasks: 0, events: 0 })
  expect((await engine.list({ limit: 1 })).total).toBe(0)
})

it('two engines that finish the same purge remove everything of it', async () => {
  const { ledger, clock, outside, open, gate } = await halfPurged()
  const host = { clock, read: ledger.read.bind(ledger), step: ledger.step.bind(ledger), mayGoOn: () => true }
  expect(await Promise.all([finishPurge(host), finishPurge(host)])).toEqual([true, true])
  const { tasks } = await outside.list({ limit: 1_000 })
  expect(tasks.map(({ id }) => id)).toEqual([open.id, gate.id])
})
