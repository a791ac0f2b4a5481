// Shared by the tests of runs: an engine with one executor, a way to wait for events of the ledger, and a death within
// the process: a dead engine gets no events, writes nothing, and its lock is released.
import { onTestFinished } from 'vitest'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine, EngineOptions, ExecutorMap } from '../../src/engine/engine-api.ts'
import type { EventType, TaskEvent } from '../../src/entities/event.ts'
import type { AnyExecutor, Executor, ExecutorTask, Run } from '../../src/entities/executor.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, LedgerObserver, Step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'

export type WorkFunction = (task: ExecutorTask, run: Run) => unknown
export type WorkEngine = Engine<{ work: AnyExecutor; other: AnyExecutor }>

export interface World {
  engine: WorkEngine
  ledger: Ledger
  /** Errors without a caller to throw to. */
  errors: unknown[]
  /** Calls the listener for each of them. */
  onError(listener: () => void): void
  /** Resolves to the first event of that type of a task, past ones included. */
  eventOf(taskId: string, type: EventType, matches?: (event: TaskEvent) => boolean): Promise<TaskEvent>
  /** A second engine on the same ledger. */
  another(options?: Partial<EngineOptions<ExecutorMap>>): Promise<World>
  /** The engine is dead from now on: it acts on nothing, and nothing of it is written. */
  die(): void
  /** Its lock is released, so that others take it for dead, but it lives: like a hung machine that wakes up. */
  loseLock(): void
}

/** An engine in memory, or on the given ledger, whose executor `work` is this function. */
export async function createWorld(
  work: WorkFunction | Executor,
  options: Partial<EngineOptions<ExecutorMap>> = {},
  shared?: Ledger,
): Promise<World> {
  const inner = shared ?? (await openLedger(':memory:'))
  const mortal = createMortal(inner)
  const errors: unknown[] = []
  let onReported: () => void = () => {}
  const engine = (await createEngine({
    executors: { work, other: async () => 'other' },
    shutdownTimeoutMs: 100,
    onError: (error: unknown) => {
      errors.push(error)
      onReported()
    },
    ...options,
    ledger: mortal.ledger,
  } as never)) as unknown as WorkEngine
  onTestFinished(async () => {
    if (!mortal.isDead()) await engine.close()
    if (shared === undefined) await inner.close()
  })
  return {
    engine,
    ledger: inner,
    errors,
    onError: (listener) => {
      onReported = listener
    },
    eventOf: (taskId, type, matches = () => true) => eventOf(engine, taskId, type, matches),
    another: (more = {}) => createWorld(work, { ...options, ...more }, inner),
    die: mortal.die,
    loseLock: mortal.loseLock,
  }
}

async function eventOf(
  engine: WorkEngine,
  taskId: string,
  type: EventType,
  matches: (event: TaskEvent) => boolean,
): Promise<TaskEvent> {
  for await (const event of engine.events({ taskId })) if (event.type === type && matches(event)) return event
  throw new Error(`The feed ended before ${type} of ${taskId}`)
}

function createMortal(inner: Ledger) {
  let dead = false
  const instances: string[] = []
  const stops: Array<() => void> = []
  const never = () => new Promise<never>(() => {})
  const loseLock = () => {
    for (const id of instances) inner.unregister(id, { asDead: true })
  }
  const ledger = delegateLedger(inner, {
    step: <R>(step: Step<R>) => (dead ? never() : inner.step(step)),
    read: (query) => (dead ? never() : inner.read(query)),
    async register(id) {
      instances.push(id)
      await inner.register(id)
    },
    observe(observer: LedgerObserver, options) {
      const stop = inner.observe(observer, options)
      stops.push(stop)
      return stop
    },
    close: async () => {},
  })
  return {
    ledger,
    loseLock,
    isDead: () => dead,
    die() {
      dead = true
      loseLock()
      for (const stop of stops) stop()
    },
  }
}

/** A promise with its resolvers under names of the tests. */
export function gate<T = void>() {
  return Promise.withResolvers<T>()
}

/** The error code of a rejected promise. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'resolved',
    (error: { code?: unknown }) => error.code,
  )
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
