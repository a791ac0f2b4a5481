// Follows a round until no task of it goes on, nor waits for an answer that may be given here. Its state comes from the feed; the ledger is read only when the events show no task at
// work, because another process may have changed the round. A wide round is not read more often than a fifth of the time.
import type { Engine } from '../engine/engine-api.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { PlanOutcome } from '../entities/plan-run.ts'
import { isQueuedTask, type Task, type TaskStatus } from '../entities/task.ts'
import { type IdleOptions, isActive, type Runs, waitUntilIdle } from './idle.ts'
import { neededBy, type Plan, type PlanTask } from './plan.ts'
import { type KnownRound, openWork, readRound, tasksOf } from './round.ts'

/** Collects events from before a round is prepared: the ids of its tasks are known only afterwards. */
export class RoundFeed {
  readonly close: () => void
  readonly #waiting: TaskEvent[] = []
  #take: (event: TaskEvent) => void = (event) => this.#waiting.push(event)

  constructor(engine: Engine) {
    this.close = engine.subscribe('*', (event) => this.#take(event))
  }

  /** Passes the collected events to `take`, and then each new one. */
  open(take: (event: TaskEvent) => void): void {
    this.#take = take
    for (const event of this.#waiting.splice(0)) take(event)
  }
}

export interface FollowOptions extends Pick<IdleOptions, 'engine' | 'bell' | 'signal' | 'clock' | 'stopped'> {
  round: string
  feed: RoundFeed
  observer: RoundObserver
  /** Which of the tasks that the round waits for this process runs. Default: all. */
  runs?: Runs
  /** Whether someone may still answer a question of the round here. Then it is followed although no task goes on. Default: never. */
  mayBeAnswered?: ((tasks: readonly Task[]) => Promise<boolean>) | undefined
}

/** Sees a round while it is followed. */
export interface RoundObserver {
  /** An event of any task of the ledger. */
  event(event: TaskEvent): void
  /** The round after it was read. */
  refresh(tasks: readonly Task[]): void
  includes(taskId: string): boolean
  /** True when no task of the round is working, according to its events. */
  readonly looksIdle: boolean
}

/** Which tasks of a round are working, for an observer that shows nothing. */
export class RoundProgress implements RoundObserver {
  readonly #tasks = new Set<string>()
  readonly #working = new Set<string>()

  constructor(known: KnownRound) {
    this.refresh(tasksOf(known))
  }

  event({ taskId, data }: TaskEvent): void {
    const status = data['status']
    if (status !== undefined && this.includes(taskId)) this.#note(taskId, status)
  }

  refresh(tasks: readonly Task[]): void {
    for (const { id, group, status } of tasks) {
      if (group) continue
      this.#tasks.add(id)
      this.#note(id, status)
    }
  }

  includes(taskId: string): boolean {
    return this.#tasks.has(taskId)
  }

  get looksIdle(): boolean {
    return this.#working.size === 0
  }

  #note(taskId: string, status: unknown): void {
    if (status === 'working') this.#working.add(taskId)
    else this.#working.delete(taskId)
  }
}

/** Resolves to the round when no task of it goes on; when the signal aborts, to the round as it was last read, if it was. */
export async function followRound(options: FollowOptions): Promise<KnownRound | undefined> {
  const { engine, round, feed, observer, bell, signal, clock, runs, stopped, mayBeAnswered } = options
  let known: KnownRound | undefined
  feed.open((event) => {
    observer.event(event)
    if (observer.looksIdle) bell.notify()
  })
  await waitUntilIdle({
    engine,
    bell,
    signal,
    clock,
    restPerLook: 4,
    stopped,
    async isActive() {
      if (engine.status.get().context.running.some(({ taskId }) => observer.includes(taskId))) return true
      known = await readRound(engine, round)
      observer.refresh(tasksOf(known))
      return (await isActive(engine, openWork(known), runs)) || ((await mayBeAnswered?.(tasksOf(known))) ?? false)
    },
  })
  return known
}

// The outcome of a round, when no task of it goes on. Pure: the caller passes the tasks.

const standings = {
  completed: 'completed',
  failed: 'broken',
  canceled: 'broken',
  input_required: 'asking',
  paused: 'paused',
  submitted: 'open',
  waiting: 'open',
  working: 'open',
} as const satisfies Record<TaskStatus, keyof PlanOutcome>

/**
 * The outcome of the tasks that had to run. Groups count through their children.
 * @param subtasks open ones that agents have created: listed where they wait for help.
 */
export function roundOutcome(
  plan: Plan,
  known: KnownRound,
  needed: ReadonlySet<string>,
  subtasks: readonly Task[] = [],
): PlanOutcome {
  const outcome: PlanOutcome = {
    status: 'done',
    completed: [],
    broken: [],
    blocked: [],
    asking: [],
    paused: [],
    open: [],
    missing: [],
  }
  for (const planned of plan.byPath.values()) {
    if (planned.group || !needed.has(planned.path)) continue
    const task = known.newest.get(planned.path)?.task
    if (task === undefined) {
      outcome.missing.push(planned.path)
      continue
    }
    const standing = isQueuedTask(task) ? 'open' : standings[task.status]
    const by = standing === 'open' && !isQueuedTask(task) ? brokenBefore(planned, plan, known) : []
    if (by.length > 0) outcome.blocked.push({ task, by })
    else outcome[standing].push(task)
  }
  for (const task of subtasks) {
    const needsHelp = task.status === 'input_required' || task.status === 'paused' || task.ready
    if (needsHelp && !isQueuedTask(task)) outcome[standings[task.status]].push(task)
  }
  outcome.status = statusOf(outcome)
  return outcome
}

/** The failed and canceled tasks that a task comes after, directly or not. */
function brokenBefore(planned: PlanTask, plan: Plan, known: KnownRound): Task[] {
  const taskAt = (path: string) => known.newest.get(path)?.task
  const blockers = planned.comesAfter.map((path) => plan.byPath.get(path) as PlanTask)
  const before = neededBy(blockers, plan.byPath, ({ path }) => taskAt(path)?.status === 'completed')
  return [...before]
    .flatMap((path) => taskAt(path) ?? [])
    .filter(({ status }) => status === 'failed' || status === 'canceled')
}

function statusOf(outcome: PlanOutcome): PlanOutcome['status'] {
  if (outcome.broken.length + outcome.blocked.length + outcome.missing.length > 0) return 'failed'
  if (outcome.asking.length + outcome.paused.length + outcome.open.length > 0) return 'open'
  return 'done'
}
