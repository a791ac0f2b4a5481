// One sequence from its first command to rest. The laws are checked at every step, after every awaited command, when
// the engines have nothing left to do, and when everything has been brought to its end.

import { ErrandError } from '../../../src/core/errors.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { SharedLimits } from '../../../src/entities/limits.ts'
import { isSettled, type TaskRecord } from '../../../src/entities/task.ts'
import { suspectFrom } from '../../../src/machines/crashes.ts'
import { type Command, type Pace, Player, passTime } from './commands.ts'
import { initialLimits, leaseMs, turns, type World } from './world.ts'

/** Longer than any timer that a task may wait for; shorter than a lease. */
const piece = 300

export type Sequence = ReadonlyArray<readonly [Command, Pace]>

export async function play(world: World, sequence: Sequence): Promise<void> {
  world.audit.begin()
  const player = new Player(world)
  const pending: Array<Promise<void>> = []
  for (const [command, pace] of sequence) {
    const answered = player.play(command)
    pending.push(answered)
    if (pace === 'answered') await answered
    else if (pace === 'turns') await Promise.all([answered, turns(3)])
    else answered.catch(() => {})
    requireSound(world)
  }
  await reopenBoth(world)
  await Promise.all(pending)
  await quiet(world, leaseMs + piece)
  await world.inspect('quiet')
  await requireNothingLeftReady(world)
  await finishRuns(world)
  await world.inspect('all runs finished')
  await requireExplained(world)
  requireSound(world)
  await end(world)
  await world.inspect('the end')
  await requireRest(world)
  requireSound(world)
}

function requireSound({ audit }: World): void {
  if (audit.broken.length > 0) throw new Error([...new Set(audit.broken)].join('\n'))
}

/** Both engines are up again. */
async function reopenBoth(world: World): Promise<void> {
  for (let turn = 0; world.hosts.some((host) => host.awake === undefined); turn++) {
    if (turn > 200) throw new Error('An engine does not come back')
    for (const host of world.hosts) host.wake()
    released(world)
    await passTime(world, piece)
  }
}

function released(world: World): void {
  for (const puppet of world.puppets) if (puppet.aborted && !puppet.over) puppet.return()
}

/** Until nothing happens any more, though leases, timers and time-outs have had their time. */
async function quiet(world: World, forMs: number): Promise<void> {
  let still = 0
  for (let turn = 0; still < forMs; turn++) {
    if (turn > 500) throw new Error('The engines do not come to rest')
    const before = world.audit.cursor
    released(world)
    await passTime(world, piece)
    still = world.audit.cursor === before ? still + piece : 0
  }
}

/** The engine's default. */
const maxCrashes = 3

/** Nothing is ready while there is room for it. */
async function requireNothingLeftReady(world: World): Promise<void> {
  await world.view.read(function* (tx) {
    const shared = (yield* tx.setting.get('limits')) as SharedLimits | undefined
    const open = yield* tx.run.countOpen()
    const total = [...open.values()].reduce((sum, runs) => sum + runs, 0)
    for (const id of world.audit.ids) {
      const row = (yield* tx.task.get(id)) as TaskRecord
      if (!row.ready) continue
      const executor = row.executor as string
      if (total >= (shared?.maxConcurrent ?? Number.POSITIVE_INFINITY)) continue
      if ((open.get(executor) ?? 0) >= (shared?.limits[executor] ?? Number.POSITIVE_INFINITY)) continue
      if (row.lane !== '') {
        const parent = yield* tx.task.get(row.lane)
        if ((yield* tx.task.openInLane(row.lane)) >= (parent?.policy.concurrency as number)) continue
      }
      for (const host of world.hosts) {
        const mine = yield* tx.run.openOf(host.engine?.instanceId as string)
        let narrow = 0
        let crashes = 0
        for (const run of mine) {
          const task = yield* tx.task.get(run.taskId)
          if (task?.executor === 'narrow') narrow++
          crashes = Math.max(crashes, task?.crashes ?? 0)
        }
        if (mine.length >= host.limits.maxConcurrent) continue
        // One suspect of crashes at a time, and alone once it has seen as many as are allowed.
        if (crashes >= maxCrashes || (row.crashes >= maxCrashes && mine.length > 0)) continue
        if (row.crashes >= suspectFrom(maxCrashes) && crashes >= suspectFrom(maxCrashes)) continue
        if (executor === 'narrow' && narrow >= host.limits.narrow) continue
        world.audit.broken.push(`${id} is ready, and engine ${host.number} has a slot for it and is idle`)
      }
    }
  })
}

/** Ends every run, and answers every question, until none is left. */
async function finishRuns(world: World): Promise<void> {
  for (let turn = 0; ; turn++) {
    if (turn > 100) throw new Error('The runs do not come to an end')
    await quiet(world, piece)
    const before = world.audit.cursor
    for (const puppet of world.puppets) if (!puppet.over) puppet.return()
    for (const row of world.audit.rows.values()) {
      if (row.status === 'input_required' && row.deletedAt === null) await answerAll(world.engine(turn % 2), row.id)
    }
    await turns(3)
    if (world.audit.cursor === before) return
  }
}

async function answerAll(engine: Engine | undefined, id: string): Promise<void> {
  const task = await engine?.get(id)
  for (const question of task?.questions ?? []) {
    try {
      await engine?.answer(id, 'go on', { question: question.id })
    } catch (error) {
      // An answer, or a wait that ended beside it, may set it to work: it asks again what is still open.
      if (!ErrandError.isInstance(error) || error.code !== 'INVALID_TRANSITION') throw error
    }
  }
}

/** What is left is settled, or waits, and `why` explains for what. */
async function requireExplained(world: World): Promise<void> {
  const complain = (row: TaskRecord, what: string): void => {
    world.audit.broken.push(`${row.id} is stuck: ${row.status}, ${what}`)
  }
  for (const row of world.audit.rows.values()) {
    if (isSettled(row.status) || row.deletedAt !== null) continue
    const why = await world.engine(0)?.why(row.id)
    if (why === undefined) throw new Error('No engine is awake')
    const others = why.tasks.map((id) => world.audit.rows.get(id))
    switch (why.reason) {
      case 'held':
      case 'claim':
        break
      case 'blocked':
      case 'children':
        if (others.length === 0 || others.some((other) => other === undefined || other.status === 'completed'))
          complain(row, why.message)
        break
      case 'running':
        if (row.executor !== null) complain(row, why.message)
        break
      case 'executor':
        if (!row.group) complain(row, why.message)
        break
      case 'answer':
        if (row.openBlockers === 0) complain(row, why.message)
        break
      default:
        complain(row, `${why.reason}: ${why.message}`)
    }
  }
}

/** Cancels everything and resets the limits. */
async function end(world: World): Promise<void> {
  const engine = world.engine(0)
  if (engine === undefined) throw new Error('No engine is awake')
  for (const row of world.audit.rows.values())
    if (!isSettled(row.status) && row.deletedAt === null) await engine.cancel(row.id, 'the end').catch(() => {})
  await quiet(world, piece)
  await engine.setSharedLimits({ maxConcurrent: null, limits: { narrow: null } })
  for (const host of world.hosts) {
    host.limits = { ...initialLimits }
    await host.awake?.setLimits({
      maxConcurrent: initialLimits.maxConcurrent,
      limits: { narrow: initialLimits.narrow } as never,
    })
  }
}

/** No run is open, and no executor has been forgotten. */
async function requireRest(world: World): Promise<void> {
  for (const row of world.audit.rows.values()) {
    if (!isSettled(row.status)) world.audit.broken.push(`${row.id} is ${row.status} at the end`)
    if (row.runOpen) world.audit.broken.push(`${row.id} has an open run at the end`)
  }
  await turns(2)
  for (const puppet of world.puppets)
    if (!puppet.over && !puppet.aborted)
      world.audit.broken.push(`run ${puppet.run.number} of ${puppet.taskId} was not aborted`)
  world.puppets = []
  world.asked.clear()
}
