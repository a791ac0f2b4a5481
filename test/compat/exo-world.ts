// Shared by the tests of Exo's vocabulary: a manager with a bus whose events are recorded, closed with its test, which fails on reported
// errors; signals instead of sleeps.
import { expect, onTestFinished } from 'vitest'
import {
  type Task,
  type TaskEvent,
  TaskEventBus,
  type TaskExecutor,
  TaskManager,
  type TaskManagerOptions,
  TaskScheduler,
  type TaskSchedulerOptions,
  type TaskStatus,
} from '../../src/compat/exo.ts'
import type { Run } from '../../src/entities/executor.ts'
import { deferred, turns, waysTo } from '../engine/world.ts'

/** A manager, a scheduler and the events of the bus. */
export function openExo(options: TaskManagerOptions & { scheduler?: TaskSchedulerOptions } = {}) {
  const { scheduler: schedulerOptions, ...managerOptions } = options
  const reported: unknown[] = []
  const onError = (error: unknown) => reported.push(error)
  const eventBus = options.eventBus ?? new TaskEventBus({ onError })
  const events: TaskEvent[] = []
  const waiting: Array<() => void> = []
  eventBus.subscribe('*', (event) => {
    events.push(event)
    for (const wake of waiting.splice(0)) wake()
  })
  const manager = new TaskManager({ ...(options.engine ? {} : { onError }), ...managerOptions, eventBus })
  onTestFinished(async () => {
    await manager.close()
    expect(reported).toEqual([])
  })
  return {
    manager,
    eventBus,
    events,
    scheduler: new TaskScheduler(manager, schedulerOptions),
    /** The first matching event, as soon as it was emitted. */
    async received(eventType: string, task?: { id: string }): Promise<TaskEvent> {
      for (;;) {
        const found = events.find((each) => each.event_type === eventType && (!task || each.task_id === task.id))
        if (found) return found
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
    },
    /** Types and names of the events of these tasks. */
    eventsOf(...tasks: Array<{ id: string }>): string[] {
      const ids = tasks.map((task) => task.id)
      return events
        .filter((event) => ids.length === 0 || ids.includes(event.task_id))
        .map((event) => `${event.event_type} ${String(event.data.name)}`)
    },
  }
}

export interface HeldWork {
  task: Task
  signal: AbortSignal
  run: Run
  /** Ends the executor. */
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
  aborted: Promise<void>
}

/** An executor whose runs the test ends; a stubborn one does not end when its signal aborts. */
export function hands({ stubborn = false } = {}) {
  const held: HeldWork[] = []
  const waiting: Array<() => void> = []
  const executor: TaskExecutor = (task, signal, run) => {
    const end = deferred<unknown>()
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => {
        if (!stubborn) end.reject(signal.reason)
        resolve()
      }),
    )
    held.push({ task, signal, run, resolve: end.resolve, reject: end.reject, aborted })
    for (const wake of waiting.splice(0)) wake()
    return end.promise
  }
  return {
    executor,
    held,
    /** The n-th run, from 0, as soon as it has begun. */
    async started(index: number): Promise<HeldWork> {
      while (held.length <= index) await new Promise<void>((resolve) => waiting.push(resolve))
      return held[index] as HeldWork
    },
  }
}

/** An executor that records the order of its runs and how many ran at once. */
export function recorder() {
  const order: string[] = []
  const seen = { now: 0, most: 0 }
  const executor: TaskExecutor = async (task) => {
    order.push(task.name)
    seen.most = Math.max(seen.most, ++seen.now)
    // A few turns in which others could start.
    await turns(3)
    seen.now--
    return task.name
  }
  return { order, seen, executor }
}

export async function createIn(manager: TaskManager, status: TaskStatus, name: string = status): Promise<Task> {
  let task = await manager.create(name)
  for (const next of waysTo[status]) task = await manager.update(task.id, { status: next })
  expect(task.status).toBe(status)
  return task
}

export const namesOf = (tasks: readonly { name: string }[]): string[] => tasks.map((task) => task.name)
