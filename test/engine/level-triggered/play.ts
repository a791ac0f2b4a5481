// One search: random commands are played against two engines, then all faults are removed, held functions settle, time
// passes, and only then is done what tasks require of people.
import fc from 'fast-check'
import { ErrandError } from '../../../src/core/errors.ts'
import type { CreateOptions } from '../../../src/engine/engine-api.ts'
import { isSettled, type TaskRecord } from '../../../src/entities/task.ts'
import { type FaultOfHost, faultCodes, faultKinds, type Host } from './host.ts'
import { outcomePauseMs } from './laws.ts'
import { type Program, programArbitrary } from './program.ts'
import { turns, type World } from './world.ts'

const host = fc.nat({ max: 1 })
const task = fc.nat({ max: 6 })
const verbs = ['pause', 'resume', 'cancel', 'retry', 'answer', 'work by hand', 'update', 'delete'] as const
const rarely = fc.nat({ max: 3 }).map((drawn) => drawn === 3)

const commands = {
  create: fc.record({
    do: fc.constant('create' as const),
    host,
    program: programArbitrary,
    retry: rarely,
    timeout: rarely,
    later: rarely,
  }),
  verb: fc.record({ do: fc.constant('verb' as const), host, task, verb: fc.constantFrom(...verbs) }),
  released: fc.record({ do: fc.constant('release' as const), call: task }),
  time: fc.record({ do: fc.constant('time' as const), ms: fc.constantFrom(50, 150, 450, 1_300) }),
  leap: fc.record({ do: fc.constant('leap' as const), ms: fc.constantFrom(900, 7_000, 60_000) }),
  stop: fc.record({ do: fc.constant('stop' as const), host }),
  start: fc.record({ do: fc.constant('start' as const), host }),
  spoil: fc.record({ do: fc.constant('spoil' as const), host, fault: fc.constantFrom<FaultOfHost[]>(...faultKinds) }),
  mend: fc.record({ do: fc.constant('mend' as const), host }),
}
type Commands = { [K in keyof typeof commands]: (typeof commands)[K] extends fc.Arbitrary<infer C> ? C : never }
export type Command = Commands[keyof Commands]

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: commands.create },
  { weight: 7, arbitrary: commands.verb },
  { weight: 4, arbitrary: commands.released },
  { weight: 6, arbitrary: commands.time },
  { weight: 1, arbitrary: commands.leap },
  { weight: 2, arbitrary: commands.stop },
  { weight: 2, arbitrary: commands.start },
  { weight: 2, arbitrary: commands.spoil },
  { weight: 2, arbitrary: commands.mend },
)

export interface Script {
  /** The commits of one engine only wake the other, as between two processes. */
  apart: boolean
  /** After each: continue at once, or when the engines have had a few turns. */
  commands: ReadonlyArray<readonly [Command, 'at once' | 'turns']>
}

export const scriptArbitrary: fc.Arbitrary<Script> = fc.record({
  apart: fc.boolean(),
  commands: fc.array(fc.tuple(command, fc.constantFrom('at once' as const, 'turns' as const)), {
    minLength: 3,
    maxLength: 20,
    size: 'max',
  }),
})

export async function play(world: World, script: Script): Promise<void> {
  for (const each of world.hosts) each.open()
  await world.settled()
  const answered: Array<Promise<unknown>> = []
  for (const [each, pace] of script.commands) {
    answered.push(issue(world, each))
    if (each.do === 'time') await world.pass(each.ms)
    else if (each.do === 'leap') await world.leap(each.ms)
    else if (pace === 'turns') await turns(3)
    requireSound(world)
  }
  await rest(world)
  await Promise.all(answered)
  await world.laws.checkDelivery()
  await world.laws.checkStatus()
  requireSound(world)
}

function requireSound({ laws }: World): void {
  if (laws.broken.length > 0) throw new Error([...new Set(laws.broken)].join('\n'))
}

/** Until everything has ended. */
async function rest(world: World): Promise<void> {
  const { laws } = world
  for (const each of world.hosts) each.mend()
  world.over = true
  for (const execution of laws.executions) execution.release()
  await world.settled()
  if (!world.hosts.some((each) => each.isOpen)) world.hosts[0].open()
  await world.settled()
  // An engine retries with growing delays after the ledger has refused.
  await world.pass(600)
  await world.leap(outcomePauseMs)
  await world.pass(600)
  for (let round = 0, idle = 0; ; round++) {
    requireSound(world)
    const before = laws.events.length
    await passDueTimes(world)
    requireSound(world)
    const left = await laws.unrest()
    if (left.length === 0) break
    if (round > 40) throw new Error(`It does not come to rest: ${left.join('; ')}`)
    idle = (await workByHand(world)) || laws.events.length > before ? 0 : idle + 1
    if (idle > 2) throw new Error(`It is stuck: ${left.join('; ')}`)
    await world.pass(600)
  }
  await world.leap(6_000)
  await world.pass(600)
  requireSound(world)
}

/** Fires all timers, one after the other; nothing else happens meanwhile. */
async function passDueTimes(world: World): Promise<void> {
  for (let turn = 0; turn < 60; turn++) {
    const due = await world.read(function* (tx) {
      return yield* tx.task.nextDue({ instanceId: '', executors: ['work'] })
    })
    if (due === undefined) return
    const leftMs = due - world.clock.now()
    if (leftMs > 500) await world.leap(leftMs - 300)
    await world.pass(900)
    requireSound(world)
  }
}

/** Does what tasks require of people. False when there is nothing to do. */
async function workByHand(world: World): Promise<boolean> {
  const rows = await tasksOf(world)
  const open = world.hosts.find((each) => each.isOpen) as Host
  let done = false
  for (const row of rows) {
    if (isSettled(row.status) || row.deletedAt !== null) continue
    if (row.status === 'paused' && row.held) done = await commandTask(world, open, row.id, 'resume').then(() => true)
    else if (row.status === 'input_required') done = await commandTask(world, open, row.id, 'answer').then(() => true)
    else if (row.executor === null) done = await commandTask(world, open, row.id, 'work by hand').then(() => true)
  }
  return done
}

async function tasksOf(world: World): Promise<TaskRecord[]> {
  return world.read((tx) => tx.task.list({}, 1_000))
}

/** Refusals by rule, and those that faults explain. Anything else is a failure of the search. */
const refusals = new Set(['INVALID_TRANSITION', 'NO_QUESTION', 'NOT_FOUND', 'ENGINE_CLOSED'])

async function issue(world: World, each: Command): Promise<void> {
  switch (each.do) {
    case 'create':
      return create(world, each)
    case 'verb': {
      const ids = [...new Set(world.laws.events.map((event) => event.taskId))]
      const id = ids[each.task % Math.max(1, ids.length)]
      return id === undefined ? undefined : commandTask(world, world.hosts[each.host as 0 | 1], id, each.verb)
    }
    case 'release': {
      const held = world.laws.executions.filter((execution) => !execution.settled)
      return held[each.call % Math.max(1, held.length)]?.release()
    }
    case 'stop':
      return world.hosts[each.host as 0 | 1].close()
    case 'start':
      return world.hosts[each.host as 0 | 1].open()
    case 'spoil':
      return world.hosts[each.host as 0 | 1].spoil(each.fault)
    case 'mend':
      return world.hosts[each.host as 0 | 1].mend()
    case 'time':
    case 'leap':
  }
}

async function create(
  world: World,
  { host: number, program, retry, timeout, later }: Commands['create'],
): Promise<void> {
  const { opening } = world.hosts[number as 0 | 1]
  const options = {
    executor: 'work',
    input: { program: program as Program },
    ...(retry ? { retry: { maxAttempts: 2, backoffMs: 300 } } : {}),
    ...(timeout ? { timeoutMs: 700 } : {}),
    ...(later ? { notBefore: world.clock.now() + 800 } : {}),
  }
  await refusable(world, () => opening?.engine.create(options as unknown as CreateOptions & { executor?: undefined }))
}

async function commandTask(world: World, { opening }: Host, id: string, verb: (typeof verbs)[number]): Promise<void> {
  if (opening === undefined) return
  const { engine } = opening
  switch (verb) {
    case 'answer': {
      // The question about an interrupted call and that of a program accept the same answer.
      const asked = await world.read((tx) => tx.call.open(id))
      const question = asked.find((entry) => entry.kind === 'ask')?.id
      return refusable(world, () => engine.answer(id, 'rerun', question === undefined ? {} : { question }))
    }
    case 'work by hand':
      await refusable(world, () => engine.start(id))
      return refusable(world, () => engine.complete(id, 'by hand'))
    case 'update':
      return refusable(world, () => engine.update(id, { priority: world.laws.events.length % 3 }))
    case 'cancel':
      return refusable(world, () => engine.cancel(id, 'on request'))
    default:
      return refusable(world, () => engine[verb](id))
  }
}

async function refusable(world: World, work: () => Promise<unknown> | undefined): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!ErrandError.isInstance(error)) world.laws.complain(`refused with ${String(error)}`)
    else if (!refusals.has(error.code) && !faultCodes.has(error.code)) world.laws.complain(`refused: ${error.message}`)
  }
}
