// What the tests of runs need: an engine with one executor, a way to wait for what the ledger tells, and a death that can be
// had in process: a dead engine hears nothing any more, writes nothing, and its lock is gone.
import { onTestFinished } from 'vitest'
import type { AnyExecutor, Executor, ExecutorTask, Run } from '../../src/api/executor.ts'
import { createEngine } from '../../src/create-engine.ts'
import type { Engine, EngineOptions, Executors } from '../../src/engine-api.ts'
import type { EventType, TaskEvent } from '../../src/entities/event.ts'
import type { Ledger, LedgerObserver, Step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'

export type WorkFunction = (task: ExecutorTask, run: Run) => unknown
export type WorkEngine = Engine<{ work: AnyExecutor; other: AnyExecutor }>

export interface World {
  engine: WorkEngine
  ledger: Ledger
  /** What had no caller to be thrown at. */
  errors: unknown[]
  /** Hears of each of them. */
  onError(listener: () => void): void
  /** Resolves with the first event of that type of a task, also one that has been. */
  told(taskId: string, type: EventType, matches?: (event: TaskEvent) => boolean): Promise<TaskEvent>
  /** A second engine on the same ledger. */
  another(options?: Partial<EngineOptions<Executors>>): Promise<World>
  /** The engine is dead from now on: it acts on nothing and nothing it asks for is written. */
  die(): void
  /** Its lock is gone, so that others take it for dead, but it lives: what a hung machine looks like when it wakes up. */
  loseLock(): void
}

/** An engine in memory, or on the given ledger, whose executor `work` is this function. */
export async function createWorld(
  work: WorkFunction | Executor,
  options: Partial<EngineOptions<Executors>> = {},
  shared?: Ledger,
): Promise<World> {
  const inner = shared ?? (await openLedger(':memory:'))
  const mortal = createMortal(inner)
  const errors: unknown[] = []
  let heard: () => void = () => {}
  const engine = (await createEngine({
    executors: { work, other: async () => 'other' },
    shutdownTimeoutMs: 100,
    onError: (error: unknown) => {
      errors.push(error)
      heard()
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
      heard = listener
    },
    told: (taskId, type, matches = () => true) => told(engine, taskId, type, matches),
    another: (more = {}) => createWorld(work, { ...options, ...more }, inner),
    die: mortal.die,
    loseLock: mortal.loseLock,
  }
}

async function told(
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
  const ledger: Ledger = {
    name: inner.name,
    step: <R>(step: Step<R>) => (dead ? never() : inner.step(step)),
    read: (query) => (dead ? never() : inner.read(query)),
    async register(id) {
      instances.push(id)
      await inner.register(id)
    },
    isAlive: (id) => inner.isAlive(id),
    unregister: (id) => inner.unregister(id),
    observe(observer: LedgerObserver, options) {
      const stop = inner.observe(observer, options)
      stops.push(stop)
      return stop
    },
    close: async () => {},
  }
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

/** A promise and its ends, told apart by name in the tests. */
export function gate<T = void>() {
  return Promise.withResolvers<T>()
}

/** The code of what a promise rejects with. */
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
