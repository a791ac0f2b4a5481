// Random sequences of commands and actions of executors, interleaved at random, against three laws: no task ever leaves the transition table, no
// limit is ever exceeded, no acknowledged command is ever lost. The tests beside it and in test/long play them.
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect } from 'vitest'
import { SimulatedClock } from 'xstate'
import { ErrandError } from '../../src/core/errors.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { TaskEvent } from '../../src/entities/event.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task, TaskRecord, TaskStatus } from '../../src/entities/task.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, Op, Step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { isReady } from '../../src/machines/readiness.ts'
import { eventBetween } from '../../src/machines/task-edges.ts'
import { writeSnapshot } from '../../src/machines/task-snapshot.ts'
import { eventOf } from '../../src/operations/steps/step-context.ts'

export const limit = 3
const limitOfNarrow = 1
const tick = 10

const verbs = ['start', 'pause', 'resume', 'cancel', 'retry', 'complete', 'fail', 'answer', 'delete'] as const
type Verb = (typeof verbs)[number]
const doings = ['return', 'throw', 'ask', 'sleep', 'spawn', 'release'] as const
type Doing = (typeof doings)[number]

type Command =
  | {
      do: 'create'
      executor: 'work' | 'narrow'
      priority: number
      stubborn: boolean
      retry: boolean
      timeout: boolean
      after: boolean
    }
  | { do: 'verb'; verb: Verb; task: number }
  | { do: 'executor'; doing: Doing; task: number }
  | { do: 'tick' }
/** After a command: continue at once, wait for its answer, or wait until the engine has had a few turns. */
type Pace = 'at once' | 'answered' | 'turns'

const task = fc.nat({ max: 4 })
const commandArbitrary: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      executor: fc.constantFrom('work' as const, 'work' as const, 'narrow' as const),
      priority: fc.nat({ max: 2 }),
      stubborn: fc.boolean(),
      retry: fc.boolean(),
      timeout: fc.boolean(),
      after: fc.boolean(),
    }),
  },
  { weight: 7, arbitrary: fc.record({ do: fc.constant('verb' as const), verb: fc.constantFrom(...verbs), task }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('executor' as const), doing: fc.constantFrom(...doings), task }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('tick' as const) }) },
)
const paceArbitrary: fc.Arbitrary<Pace> = fc.constantFrom('at once', 'answered', 'turns')
const sequenceArbitrary = fc.array(fc.tuple(commandArbitrary, paceArbitrary), { minLength: 1, maxLength: 14 })

/** A run as the model holds it. */
interface Handle {
  run: Run
  return(): void
  throw(): void
  aborted: boolean
  over: boolean
}

export type World = Awaited<ReturnType<typeof openWorld>>

export async function openWorld(options: { maxConcurrent?: number; ledger?: Ledger } = {}) {
  const clock = new SimulatedClock()
  clock.set(1_000)
  const reported: unknown[] = []
  const handles = new Map<string, Handle>()
  const broken: string[] = []
  const running = { work: 0, narrow: 0 }
  const inRun = new Set<string>()

  const executor = (name: 'work' | 'narrow') => async (task: ExecutorTask<{ stubborn: boolean } | null>, run: Run) => {
    running[name]++
    if (running.work + running.narrow > limit)
      broken.push(`${running.work + running.narrow} runs, the limit is ${limit}`)
    if (running.narrow > limitOfNarrow) broken.push(`${running.narrow} runs of narrow, its limit is ${limitOfNarrow}`)
    if (inRun.has(task.id)) broken.push(`two runs of ${task.id} at once`)
    inRun.add(task.id)
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const handle: Handle = {
      run,
      return: () => resolve('done'),
      throw: () => reject(new Error('broke')),
      aborted: false,
      over: false,
    }
    handles.set(task.id, handle)
    run.signal.addEventListener('abort', () => {
      handle.aborted = true
      if (!task.input?.stubborn) reject(run.signal.reason as Error)
    })
    const end = (): void => {
      if (handle.over) return
      handle.over = true
      inRun.delete(task.id)
      running[name]--
    }
    run.onSuspend(end)
    try {
      return await promise
    } finally {
      end()
    }
  }
  const engine = await createEngine({
    executors: { work: executor('work'), narrow: executor('narrow') },
    limits: { narrow: limitOfNarrow },
    maxConcurrent: options.maxConcurrent ?? limit,
    clock,
    onError: (error) => reported.push(error),
    ...(options.ledger ? { ledger: options.ledger } : {}),
  })
  return { engine, clock, handles, broken, reported, cursor: 0 }
}

/** The answer to a command. */
interface Answer {
  command: string
  task: string
  acknowledged: boolean
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}

/** Runs one sequence to its end and checks its history against the three laws. */
async function play(world: World, sequence: ReadonlyArray<readonly [Command, Pace]>): Promise<void> {
  const { engine, clock, handles, broken, reported } = world
  const tasks: Task[] = []
  const answers: Answer[] = []
  const pending: Array<Promise<void>> = []
  let count = 0

  const ask = async (command: string, id: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      const answer = await work()
      answers.push({ command, task: id, acknowledged: answer !== false })
    } catch (error) {
      if (!ErrandError.isInstance(error)) throw error
      expect(['INVALID_TRANSITION', 'INVALID_ANSWER', 'NO_QUESTION', 'NOT_FOUND']).toContain(error.code)
      answers.push({ command, task: id, acknowledged: false })
    }
  }
  const issue = (command: Command): Promise<void> => {
    count++
    switch (command.do) {
      case 'create': {
        const blocker = command.after ? tasks.at(-1) : undefined
        return engine
          .create({
            executor: command.executor,
            input: { stubborn: command.stubborn },
            priority: command.priority,
            ...(command.retry ? { retry: { maxAttempts: 2, backoffMs: tick } } : {}),
            ...(command.timeout ? { timeoutMs: 3 * tick } : {}),
            ...(blocker ? { blockedBy: [blocker.id] } : {}),
          })
          .then(
            (made) => {
              tasks.push(made)
              answers.push({ command: 'create', task: made.id, acknowledged: true })
            },
            (error: unknown) => {
              // The blocker was deleted meanwhile.
              expect((error as ErrandError).code).toBe('NOT_FOUND')
            },
          )
      }
      case 'tick':
        clock.increment(tick)
        return Promise.resolve()
      case 'executor': {
        const target = tasks[command.task]
        const handle = target && handles.get(target.id)
        if (handle && !handle.over) doIt(handle, command.doing, count)
        return Promise.resolve()
      }
      case 'verb': {
        const target = tasks[command.task]
        if (target === undefined) return Promise.resolve()
        const { id } = target
        const reason = `#${count}`
        switch (command.verb) {
          case 'cancel':
            return ask(`cancel ${reason}`, id, () => engine.cancel(id, reason))
          case 'fail':
            return ask(`fail ${reason}`, id, () => engine.fail(id, reason))
          case 'complete':
            return ask(`complete ${reason}`, id, () => engine.complete(id, reason))
          case 'answer':
            return ask(`answer ${reason}`, id, () => engine.answer(id, reason))
          default:
            return ask(command.verb, id, () => engine[command.verb as 'start'](id))
        }
      }
    }
  }

  for (const [command, pace] of sequence) {
    const answered = issue(command)
    pending.push(answered)
    if (pace === 'answered') await answered
    else if (pace === 'turns') await Promise.all([answered, turns(3)])
  }
  await Promise.all(pending)
  await finish(world, tasks)

  const events: TaskEvent[] = []
  for await (const event of engine.events({ after: world.cursor, follow: false })) events.push(event)
  world.cursor = events.at(-1)?.seq ?? world.cursor
  expect(broken).toEqual([])
  expect(reported).toEqual([])
  await checkTable(world, tasks, events)
  checkAnswers(answers, events)
}

function doIt(handle: Handle, doing: Doing, count: number): void {
  const { run } = handle
  switch (doing) {
    case 'return':
      handle.return()
      return
    case 'throw':
      handle.throw()
      return
    case 'ask':
      void run.ask('Go on?', null, { key: `ask ${count}` })
      return
    case 'sleep':
      void run.sleep(tick, { key: `sleep ${count}` })
      return
    case 'spawn':
      void run.spawn({ name: 'child' }, { key: `spawn ${count}` })
      return
    case 'release':
      if (handle.aborted) handle.return()
  }
}

/** Brings the sequence to rest: open tasks are canceled, stubborn executors return. */
async function finish({ engine, handles }: World, tasks: readonly Task[]): Promise<void> {
  for (const { id } of tasks) {
    const now = await engine.get(id)
    if (now !== null && !['completed', 'canceled', 'failed'].includes(now.status))
      await engine.cancel(id, 'the end').catch(() => {})
  }
  // A run admitted a moment ago has not been notified of its end yet.
  for (let turn = 0; engine.status.get().context.slots.used > 0; turn++) {
    // A run that gets no signal, against the third law, must not block the test.
    for (const handle of handles.values()) if (handle.aborted || turn > 100) handle.return()
    await setImmediate()
  }
  handles.clear()
}

/**
 * First law: each event of a task leads along an edge from the status after the previous one, and the row has the same
 * status.
 */
async function checkTable({ engine }: World, tasks: readonly Task[], events: readonly TaskEvent[]): Promise<void> {
  const at = new Map<string, TaskStatus>()
  for (const { taskId, type, data } of events) {
    const before = at.get(taskId)
    const status = data.status as TaskStatus
    if (before === undefined) expect([type, status]).toEqual(['task.created', 'submitted'])
    else if (before !== status && eventBetween(before, status) === undefined)
      throw new Error(`${taskId} went from ${before} to ${status} (${type})`)
    at.set(taskId, status)
  }
  for (const { id } of tasks) {
    const row = await engine.get(id)
    if (row !== null) expect(at.get(id)).toBe(row.status)
  }
}

/** Third law: every acknowledged command is in the ledger, and no refused one. */
function checkAnswers(answers: readonly Answer[], events: readonly TaskEvent[]): void {
  const counted = (id: string, fits: (event: TaskEvent) => boolean): number =>
    events.filter((event) => event.taskId === id && fits(event)).length
  for (const { command, task: id, acknowledged } of answers) {
    const [verb, reason] = command.split(' ')
    const traces: Record<string, (event: TaskEvent) => boolean> = {
      create: (event) => event.type === 'task.created',
      cancel: (event) => event.type === 'task.canceled' && event.data.reason === reason,
      fail: (event) => event.type === 'task.failed' && (event.data.error as { message: string }).message === reason,
      answer: (event) => event.type === 'task.answered' && event.data.answer === reason,
      delete: (event) => event.type === 'task.deleted',
    }
    const trace = traces[verb as string]
    if (trace && (acknowledged || reason !== undefined) && counted(id, trace) !== (acknowledged ? 1 : 0))
      throw new Error(`${command} of ${id} was ${acknowledged ? 'acknowledged and lost' : 'refused and done'}`)
  }
  for (const [verb, type] of [
    ['pause', 'task.paused'],
    ['resume', 'task.resumed'],
    ['retry', 'task.retried'],
    ['complete', 'task.completed'],
  ] as const) {
    for (const id of new Set(answers.map((answer) => answer.task))) {
      const said = answers.filter(
        (answer) => answer.acknowledged && answer.task === id && answer.command.startsWith(verb),
      ).length
      const byVerb = verb === 'retry' || verb === 'complete'
      const done = counted(id, (event) => event.type === type && (!byVerb || event.data.by === 'verb'))
      if (said !== done) throw new Error(`${verb} of ${id}: acknowledged ${said} times, done ${done} times`)
    }
  }
}

/** Plays sequences in one world after the other: a fresh one every so often, and after each failure. */
export function property(open: () => Promise<World>, worlds: { current?: World | undefined }) {
  let played = 0
  const discard = async (): Promise<void> => {
    const world = worlds.current
    worlds.current = undefined
    if (!world) return
    for (const handle of world.handles.values()) handle.return()
    const closed = world.engine.close()
    // A clock that stands still would give up no run.
    for (let turn = 0; turn < 50; turn++) {
      world.clock.increment(1_000)
      await setImmediate()
    }
    await closed
  }
  return fc.asyncProperty(sequenceArbitrary, async (sequence) => {
    if (played++ % 200 === 0) await discard()
    worlds.current ??= await open()
    try {
      await play(worlds.current, sequence)
    } catch (error) {
      await discard()
      throw error
    }
  })
}

// ── planted faults, through the port ──

async function withStep(name: string, replace: (step: never) => Step): Promise<World> {
  const ledger = await openLedger(':memory:')
  const faulty = delegateLedger(ledger, {
    step: <R>(step: Step<R>) => ledger.step(step.name === name ? (replace(step as never) as Step<R>) : step),
  })
  return openWorld({ ledger: faulty })
}

function pausesTheSubmitted(step: Step): Step {
  return {
    ...step,
    *decide(tx) {
      let task: TaskRecord | undefined
      const get = function* (id: string): Op<TaskRecord | undefined> {
        task = yield* tx.task.get(id)
        return task
      }
      try {
        return yield* step.decide({ ...tx, task: { ...tx.task, get } })
      } catch (error) {
        if (task?.status !== 'submitted') throw error
      }
      const held: TaskRecord = { ...task, status: 'paused', held: true }
      const paused = { ...held, ready: isReady(held), snapshot: writeSnapshot(held) }
      yield* tx.task.save(paused)
      yield* tx.event.append(eventOf({ at: 1, instanceId: 'planted' }, 'task.paused', paused, { from: 'submitted' }))
      return undefined
    },
  }
}

/** Acknowledges the step and does nothing. */
function forgets(step: Step): Step {
  return { ...step, *decide() {} }
}

/** A world whose ledger, or whose limit, has a fault, and the complaint that must find it. */
export const plantedFaults = {
  'an edge that the table does not have': {
    open: () => withStep('pause', pausesTheSubmitted),
    complaint: /went from submitted to paused/,
  },
  'a command that is acknowledged and not written': {
    open: () => withStep('fail', forgets),
    complaint: /acknowledged and lost/,
  },
  'a slot too many': { open: () => openWorld({ maxConcurrent: limit + 1 }), complaint: /4 runs, the limit is 3/ },
}

/** Plays sequences until the fault is found; its complaint. */
export async function findingOf(fault: keyof typeof plantedFaults): Promise<string> {
  const planted: { current?: World | undefined } = {}
  const { open } = plantedFaults[fault]
  const details = await fc.check(property(open, planted), { numRuns: 2_000, endOnFailure: true, seed: 1 })
  await planted.current?.engine.close()
  expect(details.failed).toBe(true)
  return String(details.errorInstance)
}
