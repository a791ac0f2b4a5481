// Shared by the tests of the engine: an engine that is closed with its test and that may report nothing, and signals in
// place of sleeping.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { ErrandError, type ErrorCode } from '../../src/core/errors.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine, EngineOptions, ExecutorMap } from '../../src/engine/engine-api.ts'
import type { TaskEvent } from '../../src/entities/event.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task, TaskStatus } from '../../src/entities/task.ts'
import { ledgersAtRest } from '../ledgers-at-rest.ts'

/** An engine in memory. Without an `onError` of the test, any reported error fails the test. */
export async function openEngine<const E extends ExecutorMap = Record<never, never>>(
  options: EngineOptions<E> = {},
): Promise<Engine<E>> {
  const reported: unknown[] = []
  const engine = await createEngine<E>({
    onError: (error, context) => reported.push({ error, context }),
    ...options,
  } as EngineOptions<E>)
  onTestFinished(async () => {
    await engine.close()
    expect(reported).toEqual([])
  })
  return engine
}

/** The updates by which a task that is worked on by hand gets into each state. */
export const waysTo: Record<TaskStatus, TaskStatus[]> = {
  submitted: [],
  working: ['working'],
  paused: ['working', 'paused'],
  input_required: ['working', 'input_required'],
  waiting: ['working', 'waiting'],
  completed: ['working', 'completed'],
  failed: ['working', 'failed'],
  canceled: ['canceled'],
}

/** The path of a ledger that is deleted with its test. */
export function ledgerFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'errand-engine-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'errand.db')
}

export interface Deferred<T = void> {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (error: unknown) => void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: Deferred<T>['resolve'] = () => {}
  let reject: Deferred<T>['reject'] = () => {}
  const promise = new Promise<T>((done, failed) => {
    resolve = done
    reject = failed
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}

/** One run controlled by the test. */
export interface HeldRun {
  task: ExecutorTask
  run: Run
  /** Ends the executor. */
  end: Deferred<unknown>
  /** Resolves when the signal of the run aborts. */
  aborted: Promise<void>
}

/**
 * An executor whose runs are controlled by the test; `runs` has them in order of their start. A stubborn one ignores
 * its signal.
 */
export function puppet({ stubborn = false }: { stubborn?: boolean } = {}) {
  const runs: HeldRun[] = []
  const waiting: Array<() => void> = []
  return {
    runs,
    /** The n-th run of all, from 0, as soon as it has started. */
    async started(index: number): Promise<HeldRun> {
      while (runs.length <= index) await new Promise<void>((resolve) => waiting.push(resolve))
      return runs[index] as HeldRun
    },
    executor: (task: ExecutorTask, run: Run): Promise<unknown> => {
      const end = deferred<unknown>()
      const aborted = new Promise<void>((resolve) =>
        run.signal.addEventListener(
          'abort',
          () => {
            if (!stubborn) end.reject(run.signal.reason)
            resolve()
          },
          { once: true },
        ),
      )
      runs.push({ task, run, end, aborted })
      for (const wake of waiting.splice(0)) wake()
      return end.promise
    },
  }
}

/** An executor that runs the function of the test named in the task's input. */
export function untilAborted(_task: unknown, run: Run): Promise<never> {
  return new Promise((_resolve, reject) =>
    run.signal.addEventListener('abort', () => reject(run.signal.reason), { once: true }),
  )
}

/** Resolves to the task once it is in this state. */
export async function reached(
  engine: Pick<Engine, 'events' | 'get'>,
  task: string | { id: string },
  is: TaskStatus | ((task: Task) => boolean),
): Promise<Task> {
  const id = typeof task === 'string' ? task : task.id
  const fits = typeof is === 'string' ? (each: Task) => each.status === is : is
  for await (const _event of engine.events({ taskId: id })) {
    const now = await engine.get(id)
    if (now !== null && fits(now)) return now
  }
  throw new Error(`${id} never became ${String(is)}`)
}

/** Everything that has happened, to one task or to all. */
export async function history(engine: Pick<Engine, 'events'>, taskId?: string): Promise<TaskEvent[]> {
  const found: TaskEvent[] = []
  const only = taskId === undefined ? {} : { taskId }
  for await (const event of engine.events({ follow: false, ...only })) found.push(event)
  return found
}

export const typesOf = (events: readonly { type: string }[]): string[] => events.map((event) => event.type)

/** The refusal that a promise, or a function, ends with. */
export async function refusalOf(work: Promise<unknown> | (() => unknown), code: ErrorCode): Promise<ErrandError> {
  let outcome: unknown
  try {
    outcome = await (typeof work === 'function' ? work() : work)
  } catch (error) {
    expect(ErrandError.isInstance(error), String(error)).toBe(true)
    expect((error as ErrandError).code, String(error)).toBe(code)
    return error as ErrandError
  }
  throw new Error(`Nothing was refused: got ${JSON.stringify(outcome)}`)
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** Lets everything under way reach its next stable state: a few turns of the event loop, each with its commit. */
export async function turns(count = 10): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await new Promise(setImmediate)
    await ledgersAtRest()
  }
}
