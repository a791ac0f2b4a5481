// An engine for the tests of a user: its ledger is in memory, its time is moved by the test, and it may crash.

import type { Duration } from '../core/duration.ts'
import { durationSchema } from '../core/duration-schema.ts'
import { ErrandError } from '../core/errors.ts'
import { parse } from '../core/parse.ts'
import { createEngine } from '../engine/create-engine.ts'
import type { Engine, EngineOptions } from '../engine/engine-api.ts'
import type { CallRecord } from '../entities/call.ts'
import type { DeclaredExecutors, ExecutorMap } from '../entities/executor.ts'
import { isSettled, type TaskId } from '../entities/task.ts'
import { dateSchema } from '../entities/task-fields.ts'
import type { TaskRef } from '../entities/views.ts'
import { openLedger } from '../ledger/open-ledger.ts'
import { EngineLives } from './engine-lives.ts'
import type { DeathPoint } from './mortal-ledger.ts'
import { createSequentialIds } from './sequential-ids.ts'
import { SimulatedClock } from './simulated-clock.ts'

/** What a test engine has of its own. */
const own = ['ledger', 'clock', 'ids', 'bus', 'work'] as const

/** The options of `createEngine`, without the ledger, the clock, the ids and the bus, which a test engine has of its own. */
export interface TestEngineOptions<E extends ExecutorMap = ExecutorMap>
  extends Omit<EngineOptions<E>, (typeof own)[number]> {
  /** When the simulated time begins, as a date or in epoch milliseconds. Default: 2030-01-01T00:00:00Z. */
  startAt?: Date | number
}

/**
 * An engine with a ledger in memory, a clock that stands still until the test moves it, and ids in order (`task-1`). Each method resolves when the
 * engine rests: nothing goes on until time passes or something comes from outside.
 */
export interface TestEngine<E extends ExecutorMap = ExecutorMap> extends AsyncDisposable {
  /** The engine that runs now; another one after `crash`. */
  readonly engine: Engine<E>
  readonly clock: SimulatedClock
  /** Resolves when the engine rests. A function that waits for something else than its engine, such as a server, is waited for. */
  rest(): Promise<void>
  /** Lets time pass: what falls due is done at its own time, also what follows from it. */
  advance(duration: Duration): Promise<void>
  /** Answers the open question of a task, as `engine.answer` does. */
  answer(task: TaskRef, value?: unknown, options?: { question?: string }): Promise<void>
  /** Sends a signal, or the event of a machine, as `engine.signal` does. */
  signal(task: TaskRef, name: string, payload?: unknown): Promise<void>
  /**
   * The result of a task, for which as much time passes as it takes: sleeps, delays between tries and timeouts cost no time.
   * @throws TaskFailedError, TaskCanceledError; ErrandError TIMEOUT when the task does not end by itself, or not `within` a time, by default a
   *   year. The message says what it waits for.
   */
  result<R = unknown>(task: TaskId<R> | { id: TaskId<R> }, options?: { within?: Duration }): Promise<R>
  result<R = unknown>(task: string, options?: { within?: Duration }): Promise<R>
  /**
   * Ends the engine as `kill -9` ends its process, between two writes: nothing more of it reaches the ledger, and its promises never settle.
   * Resolves when the next engine is open on the same ledger. What a function of the executor does after its crash still happens, because the
   * process of the test goes on.
   */
  crash(): Promise<void>
  /** Closes the engine and its ledger. Calls in flight are interrupted: nothing is recorded any more. */
  close(): Promise<void>
}

/**
 * Opens an engine for a test. A test of a week of sleeps takes milliseconds, and a crash is a line of it.
 *
 * @example
 * await using test = await createTestEngine({ executors: { remind } })
 * const task = await test.engine.create({ executor: 'remind' })
 * await test.advance('6d')
 * await test.crash()
 * await test.answer(task, true)
 * expect(await test.result(task)).toBe('reminded')
 *
 * @throws ErrandError UNKNOWN_OPTION for a ledger, a clock, ids or a bus, INVALID_INPUT for another `startAt`, and what `createEngine` throws.
 */
export async function createTestEngine<const E extends ExecutorMap = DeclaredExecutors>(
  options: TestEngineOptions<E> = {},
): Promise<TestEngine<E>> {
  return await MortalTestEngine.open(options)
}

/** The engine of a test, which dies where `kills` says, besides at each `crash`. */
export class MortalTestEngine<E extends ExecutorMap> implements TestEngine<E> {
  readonly clock: SimulatedClock
  readonly #lives: EngineLives<Engine<E>>
  readonly #closeLedger: () => Promise<void>
  #signals = 0

  private constructor(clock: SimulatedClock, lives: EngineLives<Engine<E>>, closeLedger: () => Promise<void>) {
    this.clock = clock
    this.#lives = lives
    this.#closeLedger = closeLedger
  }

  static async open<E extends ExecutorMap>(
    given: TestEngineOptions<E>,
    kills: (point: DeathPoint) => boolean = () => false,
  ): Promise<MortalTestEngine<E>> {
    for (const name of own) {
      if (!Object.hasOwn(given, name)) continue
      throw new ErrandError(
        'UNKNOWN_OPTION',
        `A test engine has its own ${name}. Without it, use createEngine with a SimulatedClock.`,
        { option: name },
      )
    }
    const { startAt, ...options } = given
    const clock = new SimulatedClock(startAt === undefined ? undefined : parse(dateSchema, startAt, 'startAt'))
    const ids = createSequentialIds()
    const ledger = await openLedger(':memory:')
    const lives = new EngineLives<Engine<E>>({
      clock,
      kills,
      ledger: async () => ledger,
      open: (ledger, clock) => createEngine<E>({ ...options, ledger, clock, ids }),
    })
    try {
      await lives.life
    } catch (error) {
      await ledger.close()
      throw error
    }
    return new MortalTestEngine(clock, lives, () => ledger.close())
  }

  get engine(): Engine<E> {
    const life = this.#lives.now
    if (life !== undefined) return life.engine
    throw new ErrandError('ENGINE_CLOSED', 'The engine has crashed, and the next one is not open yet: await crash().')
  }

  rest(): Promise<void> {
    return this.clock.rest()
  }

  advance(duration: Duration): Promise<void> {
    return this.clock.advance(duration)
  }

  async answer(task: TaskRef, value?: unknown, options: { question?: string } = {}): Promise<void> {
    await this.rest()
    /** The question that an engine may have answered before it died. */
    let asked: string | undefined
    await this.#lives.act(async (engine) => {
      const questions = (await engine.get(task))?.questions ?? []
      if (asked !== undefined && !questions.some(({ id }) => id === asked)) return
      asked = options.question ?? (questions.length === 1 ? questions[0]?.id : undefined)
      await engine.answer(task, value, options)
    })
    await this.rest()
  }

  async signal(task: TaskRef, name: string, payload?: unknown): Promise<void> {
    await this.rest()
    const id = `signal-${++this.#signals}`
    await this.#lives.act((engine) => engine.signal(task, name, payload, { id }))
    await this.rest()
  }

  async result<R = unknown>(
    task: TaskId<R> | { id: TaskId<R> } | string,
    { within = '52w' }: { within?: Duration } = {},
  ): Promise<R> {
    await this.pass(task as TaskRef, within)
    return await this.#lives.act(async (engine) => {
      const found = await engine.get(task as TaskRef)
      // `result` refuses a task that does not exist.
      if (found === null || isSettled(found.status)) return await engine.result<R>(task as TaskId<R>)
      const { message } = await engine.why(found)
      throw new ErrandError('TIMEOUT', `The task does not end by itself, or not within ${within}. ${message}`, {
        taskId: found.id,
        status: found.status,
      })
    })
  }

  /** Lets time pass until the task has ended, nothing falls due any more, or the time is over. */
  async pass(task: TaskRef, within: Duration = '52w'): Promise<void> {
    const until = this.clock.now() + parse(durationSchema(), within, 'within')
    for (;;) {
      await this.rest()
      const found = await this.#lives.act((engine) => engine.get(task))
      const ms = this.clock.untilNext
      if (found === null || isSettled(found.status) || ms === undefined || this.clock.now() + ms > until) return
      await this.advance(ms)
    }
  }

  /** Asks the engine that runs, or the next one if it dies before it answers. */
  ask<T>(question: (engine: Engine<E>) => Promise<T>): Promise<T> {
    return this.#lives.act(question)
  }

  /** What a task has requested so far, and what came of it. */
  async journal(taskId: string): Promise<CallRecord[]> {
    const { mortal } = await this.#lives.life
    return await mortal.ledger.read((tx) => tx.call.list(taskId))
  }

  crash(): Promise<void> {
    return this.#lives.die()
  }

  async close(): Promise<void> {
    try {
      await this.#lives.end()
    } finally {
      await this.#closeLedger()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
