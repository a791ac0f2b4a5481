// Decides whether some tasks go on without help, and waits until none does. A task that waits for others goes on as long as one of those
// does: an agent waits for its subtasks, and these may wait for a person.

import { type Clock, systemClock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import type { Notifier } from '../core/notifier.ts'
import { sleep } from '../core/signals.ts'
import type { Engine, Why } from '../engine/engine-api.ts'
import { isQueuedTask, isSettled, type Task } from '../entities/task.ts'

/** Whether this process runs a task when it is ready. */
export type Runs = (task: Task) => Promise<boolean>

/**
 * Whether any of these tasks goes on without help.
 *
 * @param tasks open ones that this process runs; groups count through their tasks.
 * @param runs for the tasks that those wait for. One that this process does not run goes on only while another engine works on it.
 */
export async function isActive(
  engine: Engine,
  tasks: readonly Task[],
  runs: Runs = async () => true,
): Promise<boolean> {
  return await anyActive({ engine, runs, seen: new Set() }, tasks)
}

interface Search {
  engine: Engine
  runs: Runs
  /** Ids of the tasks that were already checked. */
  seen: Set<string>
}

async function anyActive(search: Search, tasks: readonly Task[]): Promise<boolean> {
  if (tasks.some((task) => !task.group && isProgressing(task, undefined))) return true
  for (const task of tasks) {
    if (search.seen.has(task.id)) continue
    search.seen.add(task.id)
    if (await waitsForActive(search, task)) return true
  }
  return false
}

async function waitsForActive(search: Search, task: Task): Promise<boolean> {
  const { engine } = search
  if (task.group) return await anyAwaitedActive(search, openOf(await engine.children(task.id)))
  if (!isUnclear(task)) return await anyAwaitedActive(search, await openTasks(engine, task.blockedBy))
  const why = await engine.why(task.id)
  if (isProgressing(task, why)) return true
  return why.reason === 'children' && (await anyAwaitedActive(search, await openTasks(engine, why.tasks)))
}

async function anyAwaitedActive(search: Search, tasks: readonly Task[]): Promise<boolean> {
  const own: Task[] = []
  for (const task of tasks) {
    if (task.group || (await search.runs(task))) own.push(task)
    else if (task.status === 'working') return true
  }
  return await anyActive(search, own)
}

/** The tasks of these ids that exist and have not settled. */
export async function openTasks(engine: Engine, ids: readonly string[]): Promise<Task[]> {
  return openOf(await Promise.all(ids.map((id) => engine.get(id))))
}

/** The open subtasks that agents among these tasks have created, at any depth. */
export async function openSubtasks(engine: Engine, tasks: readonly Task[]): Promise<Task[]> {
  const agents = openOf(tasks).filter((task) => task.executor === 'agent')
  const below = await Promise.all(agents.map((task) => engine.subtree(task.id)))
  return openOf(below.flat())
}

function openOf(tasks: ReadonlyArray<Task | null>): Task[] {
  return tasks.filter((task) => task !== null && !isSettled(task.status)) as Task[]
}

/** Reasons that pass without help. */
const passing: ReadonlyArray<Why['reason']> = ['running', 'slot', 'lane', 'limit', 'timer', 'closing']

/** True when a run of the task is open, or will be without help: the task is ready, on a timer, or closing. */
export function isProgressing(task: Task, why: Pick<Why, 'reason' | 'at'> | undefined): boolean {
  // Only `why` says whether there is a model for an agent.
  const lacksModel = why === undefined ? task.executor === 'agent' : why.reason === 'model'
  if (task.status === 'working' || (isQueuedTask(task) && !lacksModel)) return true
  if (task.questions.some((question) => question.dueAt !== null)) return true
  if (why === undefined) return false
  const waitsUntil = why.reason === 'answer' || why.reason === 'children' ? why.at : null
  return passing.includes(why.reason) || waitsUntil !== null
}

/** True for an open task whose row does not show whether it goes on without help: `why` says it. */
function isUnclear({ status, blockedBy, questions, notBefore }: Task): boolean {
  // A blocked task goes on when its blockers do, and those are checked themselves.
  if (status === 'submitted') return blockedBy.length === 0
  if (status === 'input_required') return questions.length === 0 || notBefore !== null
  return status === 'paused' || status === 'waiting'
}

export interface IdleOptions {
  engine: Engine
  /** Rung when there is a reason to check again. */
  bell: Notifier
  /** Ends the wait. */
  signal: AbortSignal
  /** Checks whether a task goes on. */
  isActive: () => Promise<boolean>
  /** Message of the ENGINE_CLOSED error for an engine that stops working; null: the engine need not work. */
  stopped?: string | null | undefined
  /** Rest after a check, as a multiple of its duration, at most a second. Default 0. */
  restPerLook?: number
  clock?: Clock | undefined
}

const maxRestMs = 1_000
const engineStopped = 'The engine has stopped in the middle of the work. Everything in the ledger is kept.'

/** Resolves when no task goes on, or when the signal aborts. It does not poll: the bell starts each further check. */
export async function waitUntilIdle(options: IdleOptions): Promise<void> {
  const { engine, bell, signal, isActive, stopped = engineStopped, restPerLook = 0, clock = systemClock } = options
  const watching = engine.status.subscribe(() => bell.notify())
  try {
    while (!signal.aborted) {
      if (stopped !== null && !engine.status.get().context.working) throw new ErrandError('ENGINE_CLOSED', stopped)
      const begunAt = clock.now()
      const quiet = !(await isActive())
      // The check takes time: it may have missed what happened meanwhile.
      if (quiet && !bell.isNotified) return
      const restMs = Math.min((clock.now() - begunAt) * restPerLook, maxRestMs)
      await bell.wait(signal)
      await sleep(clock, restMs, signal)
    }
  } finally {
    watching.unsubscribe()
  }
}
