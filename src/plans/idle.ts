// Whether anything still goes on with some tasks, or all is quiet until somebody comes; and the wait until it is. A task that waits for others goes on as
// long as one of those does: an agent waits for the subtasks it has given away, and these may wait for a person.

import { type Clock, systemClock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import type { Notifier } from '../core/notifier.ts'
import { rest } from '../core/signals.ts'
import type { Engine, Why } from '../engine-api.ts'
import { isQueuedTask, isSettled, type Task } from '../entities/task.ts'

/** Whether this process runs a task when it is ready. */
type Runs = (task: Task) => Promise<boolean>

/**
 * @param tasks open ones that this process runs; groups count through what they hold.
 * @param runs of the tasks that those wait for. One that this process does not run goes on only while another engine works on it.
 */
export async function isActive(
  engine: Engine,
  tasks: readonly Task[],
  runs: Runs = async () => true,
): Promise<boolean> {
  return await anyActive({ engine, runs, seen: new Set() }, tasks)
}

interface Look {
  engine: Engine
  runs: Runs
  /** Ids of the tasks that were looked at already. */
  seen: Set<string>
}

async function anyActive(look: Look, tasks: readonly Task[]): Promise<boolean> {
  if (tasks.some((task) => !task.group && isProgressing(task, undefined))) return true
  for (const task of tasks) {
    if (look.seen.has(task.id)) continue
    look.seen.add(task.id)
    if (await restsOnWork(look, task)) return true
  }
  return false
}

async function restsOnWork(look: Look, task: Task): Promise<boolean> {
  const { engine } = look
  if (task.group) return await anyAwaitedActive(look, openOf(await engine.children(task.id)))
  if (!isUnclear(task)) return await anyAwaitedActive(look, await openTasks(engine, task.blockedBy))
  const why = await engine.why(task.id)
  if (isProgressing(task, why)) return true
  return why.reason === 'children' && (await anyAwaitedActive(look, await openTasks(engine, why.tasks)))
}

async function anyAwaitedActive(look: Look, tasks: readonly Task[]): Promise<boolean> {
  const own: Task[] = []
  for (const task of tasks) {
    if (task.group || (await look.runs(task))) own.push(task)
    else if (task.status === 'working') return true
  }
  return await anyActive(look, own)
}

/** Those of these tasks that are there and have not settled. */
export async function openTasks(engine: Engine, ids: readonly string[]): Promise<Task[]> {
  return openOf(await Promise.all(ids.map((id) => engine.get(id))))
}

/** What agents have given away and is still open, of these tasks and all below them. */
export async function openSubtasks(engine: Engine, tasks: readonly Task[]): Promise<Task[]> {
  const agents = openOf(tasks).filter((task) => task.executor === 'agent')
  const below = await Promise.all(agents.map((task) => engine.subtree(task.id)))
  return openOf(below.flat())
}

function openOf(tasks: ReadonlyArray<Task | null>): Task[] {
  return tasks.filter((task) => task !== null && !isSettled(task.status)) as Task[]
}

/** Reasons that pass without anybody's help. */
const passing: ReadonlyArray<Why['reason']> = ['running', 'slot', 'lane', 'limit', 'timer', 'closing']

/** A run of it is open, or it will have one without anybody's help: it is ready, on a timer, or closing. */
export function isProgressing(task: Task, why: Pick<Why, 'reason' | 'at'> | undefined): boolean {
  // Only `why` knows whether there is a model for an agent.
  const lacksModel = why === undefined ? task.executor === 'agent' : why.reason === 'model'
  if (task.status === 'working' || (isQueuedTask(task) && !lacksModel)) return true
  if (task.questions.some((question) => question.dueAt !== null)) return true
  if (why === undefined) return false
  const waitsUntil = why.reason === 'answer' || why.reason === 'children' ? why.at : null
  return passing.includes(why.reason) || waitsUntil !== null
}

/** An open task that does not tell by itself what it rests for: only `why` knows whether it goes on without help. */
function isUnclear({ status, blockedBy, questions, notBefore }: Task): boolean {
  // Nothing but other tasks can set a blocked one going, and those are looked at themselves.
  if (status === 'submitted') return blockedBy.length === 0
  if (status === 'input_required') return questions.length === 0 || notBefore !== null
  return status === 'paused' || status === 'waiting'
}

export interface IdleOptions {
  engine: Engine
  /** Rung by whoever knows a reason to look again. */
  bell: Notifier
  /** Aborts when the user wants to stop. */
  signal: AbortSignal
  /** Looks whether anything goes on. */
  isActive: () => Promise<boolean>
  /** What is said when the engine has stopped meanwhile. */
  stopped?: string
  /** After a look at least so many times its own length passes until the next one, but never more than a second. Default 0. */
  restPerLook?: number
  clock?: Clock | undefined
}

const maxRestMs = 1_000
const engineStopped = 'The engine has stopped in the middle of the work. What is durable stays.'

/** Resolves when all is quiet, or at once when the user wants to stop. Nothing is polled: the bell says when to look again. */
export async function waitUntilIdle(options: IdleOptions): Promise<void> {
  const { engine, bell, signal, isActive, stopped = engineStopped, restPerLook = 0, clock = systemClock } = options
  const watching = engine.status.subscribe(() => bell.notify())
  try {
    while (!signal.aborted) {
      if (!engine.status.get().context.working) throw new ErrandError('ENGINE_CLOSED', stopped)
      const begunAt = clock.now()
      const quiet = !(await isActive())
      // A look takes its time: it may have missed what happened meanwhile.
      if (quiet && !bell.isNotified) return
      const restMs = Math.min((clock.now() - begunAt) * restPerLook, maxRestMs)
      await bell.wait(signal)
      await rest(clock, restMs, signal)
    }
  } finally {
    watching.unsubscribe()
  }
}
