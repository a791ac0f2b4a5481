// Machines of users: the heap of those at rest, and the cost of an event.
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { type AnyActor, assign, createActor, setup } from 'xstate'
import { floorDurability, openBare } from '../floors/bare-database.ts'
import { settledHeap } from '../runner/heap.ts'
import { loadEntry } from '../runner/package.ts'
import { defineRow, type World } from '../runner/row.ts'

/** What the last commits have left to do is done then. */
const restMs = 300

interface Size {
  machines: number
  events: number
}

/** One after another to one machine, or one to each machine at once. */
interface Given extends Size {
  together: boolean
}

const lamp = setup({
  types: { context: {} as { lit: number }, events: {} as { type: 'TURN' } },
  delays: { aDay: 86_400_000 },
}).createMachine({
  id: 'lamp',
  context: { lit: 0 },
  initial: 'off',
  states: {
    off: { on: { TURN: { target: 'on', actions: assign({ lit: ({ context }) => context.lit + 1 }) } } },
    on: { on: { TURN: 'off' }, after: { aDay: 'off' } },
  },
})

async function measureErrand({ machines, events, together }: Given, world: World) {
  const { createEngine } = await world.errand()
  const { machine } = await loadEntry<typeof import('errand/machine')>(world.packageRoot, 'errand/machine')
  const engine = await createEngine({
    ledger: join(world.folder, 'ledger.db'),
    maxConcurrent: 100,
    executors: { lamp: machine(lamp) },
  })
  let resting = 0
  let moves = 0
  let wake = (): void => {}
  engine.subscribe('*', ({ type }) => {
    if (type === 'task.waiting') resting++
    if (type === 'machine.moved') moves++
    wake()
  })
  const until = async (isOver: () => boolean): Promise<void> => {
    while (!isOver()) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const create = async (count: number) => {
    const wanted = resting + count
    for (let n = 0; n < count; n += 500) {
      const size = Math.min(500, count - n)
      await engine.create(Array.from({ length: size }, () => ({ executor: 'lamp' as const })))
      await until(() => resting >= wanted - count + n + size)
    }
    await delay(restMs)
  }
  await create(Math.min(1_000, machines))
  const before = settledHeap()
  await create(machines)
  const heap = (settledHeap() - before) / machines
  const targets = (await engine.list({ limit: events })).tasks.map(({ id }) => id)
  moves = 0
  const commits = async () => (await engine.bus.call('engine:metrics', {})).commits.count
  const commitsBefore = await commits()
  const cpu = process.cpuUsage()
  const began = performance.now()
  if (together) {
    await Promise.all(targets.map((id) => engine.sendEvent(id, { type: 'TURN' })))
    await until(() => moves >= targets.length)
  } else {
    for (let sent = 1; sent <= events; sent++) {
      await engine.sendEvent(targets[0] as string, { type: 'TURN' })
      await until(() => moves >= sent)
    }
  }
  const elapsed = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  const perEvent = ((await commits()) - commitsBefore) / events
  await engine.close()
  return { rate: (events / elapsed) * 1_000, cpu: (user + system) / events, commits: perEvent, heap }
}

/** What people do without a durable engine: the actors stay in memory, and each saves its snapshot after an event, which forgets the delay. */
async function measureActors({ machines, events, together }: Given, { folder }: World) {
  const bare = openBare(folder, 'create table machine (id integer primary key, snapshot text)')
  const save = bare.database.prepare('insert or replace into machine values (?, ?)')
  const before = settledHeap()
  const actors = Array.from({ length: machines }, (_each, id) => {
    const actor: AnyActor = createActor(lamp)
    actor.start()
    bare.writeNow(() => void save.run(id, JSON.stringify(actor.getPersistedSnapshot())))
    return actor
  })
  const heap = (settledHeap() - before) / machines
  const commitsBefore = bare.commits
  const cpu = process.cpuUsage()
  const began = performance.now()
  for (let sent = 0; sent < events; sent++) {
    const id = together ? sent : 0
    const actor = actors[id] as AnyActor
    actor.send({ type: 'TURN' })
    bare.writeNow(() => void save.run(id, JSON.stringify(actor.getPersistedSnapshot())))
  }
  const elapsed = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  const commits = (bare.commits - commitsBefore) / events
  for (const actor of actors) actor.stop()
  bare.close()
  return { rate: (events / elapsed) * 1_000, cpu: (user + system) / events, commits, heap }
}

const inTurn = 'one after another'
const atOnce = 'at once'

export const machines = defineRow<Size, Given>({
  name: 'machines',
  title: 'Machines of users',
  method:
    'Machines of two states and a delay of a day, at rest. Then events: one after another to one machine, each when the one before has been handled, or one to each of ' +
    'many machines at once. The other side is an XState actor in memory that saves its snapshot to SQLite after each event; its delays are lost at a restart.',
  figures: {
    rate: { label: 'events', unit: '/s', better: 'more' },
    cpu: { label: 'CPU', unit: 'µs an event', better: 'less' },
    commits: { label: 'commits', unit: 'an event', better: 'less' },
    heap: { label: 'heap', unit: 'bytes a machine', better: 'less' },
  },
  sizes: {
    full: { machines: 10_000, events: 1_000 },
    quick: { machines: 10_000, events: 300 },
    tiny: { machines: 10, events: 5 },
  },
  rounds: { full: 3, quick: 1, tiny: 1 },
  cases: (size) => [
    { name: inTurn, given: { ...size, together: false } },
    { name: atOnce, given: { ...size, together: true } },
  ],
  sides: {
    errand: { durability: floorDurability, measure: measureErrand },
    'XState actor': { durability: floorDurability, measure: measureActors },
  },
  goals: [
    { figure: 'heap', case: inTurn, as: 'value', atMost: 100 },
    { figure: 'commits', case: inTurn, as: 'value', atMost: 2 },
  ],
})
