// The read model of one engine: how many tasks are in which state, what waits, what runs here. It follows the feed, so it also
// tells of what other processes do; it is counted when somebody first looks, so it costs nothing while nobody does.
import { createStore } from '@xstate/store'
import type { EngineStatus, RunningTask, StatusStore } from '../api/views.ts'
import type { Clock } from '../core/clock.ts'
import { requireFunction } from '../core/parse.ts'
import type { TaskEvent } from '../entities/event.ts'
import { type TaskStatus, taskStatuses } from '../entities/task.ts'
import { acceptedEvents, publishedAs, taskTransitions } from '../machines/task-machine.ts'
import type { Feed } from './feed.ts'
import type { Report } from './report.ts'

/** The queue is counted anew at most so often: it changes with every event. */
const countEveryMs = 50

export class StatusModel {
  readonly #feed: Feed
  readonly #clock: Clock
  readonly #report: Report
  readonly #store
  readonly #view: StatusStore
  #running: () => RunningTask[] = () => []
  #following = false
  #counted = 0
  /** What the feed tells while tasks are being counted, for each count that is on its way. */
  readonly #meanwhile = new Set<TaskEvent[]>()
  #recount: unknown

  constructor(feed: Feed, clock: Clock, report: Report) {
    this.#feed = feed
    this.#clock = clock
    this.#report = report
    const initial: EngineStatus = {
      counted: false,
      tasks: Object.fromEntries(taskStatuses.map((status) => [status, 0])) as Record<TaskStatus, number>,
      queued: 0,
      claimable: 0,
      working: false,
      slots: { used: 0, free: 0, maxConcurrent: 0 },
      running: [],
      lastEvent: null,
    }
    const store = createStore({
      context: initial,
      on: { changed: (context, event: { change: Partial<EngineStatus> }) => ({ ...context, ...event.change }) },
    })
    this.#store = store
    this.#view = {
      get: () => store.getSnapshot(),
      getSnapshot: () => store.getSnapshot(),
      subscribe: (listener) => store.subscribe(this.#guarded(listener)),
      select: (selector, equal) => {
        const selected = store.select(requireFunction(selector, 'the selector of status'), equal)
        return { get: () => selected.get(), subscribe: (listener) => selected.subscribe(this.#guarded(listener)) }
      },
    }
  }

  /** The store; from the first look on it counts. */
  look(): StatusStore {
    if (!this.#following) {
      this.#following = true
      this.#change({ running: this.#running() })
      this.#feed.listen((event) => this.#follow(event))
      void this.count()
    }
    return this.#view
  }

  /** A watcher that throws is reported: the store would throw it again in a timer, and take the process down. */
  #guarded<T>(given: (value: T) => void): (value: T) => void {
    const listener = requireFunction(given, 'the listener of status')
    return (value) => {
      try {
        listener(value)
      } catch (error) {
        this.#report(error, { doing: 'tell a watcher' })
      }
    }
  }

  /** What the supervisor has to tell; the list of what runs is made only for somebody who looks. */
  slots(used: number, maxConcurrent: number, working: boolean, running: () => RunningTask[]): void {
    this.#running = running
    const slots = { used, free: working ? Math.max(0, maxConcurrent - used) : 0, maxConcurrent }
    this.#change({ slots, working, ...(this.#following ? { running: running() } : {}) })
  }

  /** Counts all tasks anew. */
  async count(): Promise<void> {
    if (!this.#following || this.#feed.stopped) return
    const meanwhile: TaskEvent[] = []
    this.#meanwhile.add(meanwhile)
    try {
      const found = await this.#feed.read(function* (tx) {
        return {
          tasks: yield* tx.task.countByStatus(),
          queue: yield* tx.task.countQueued(),
          at: yield* tx.event.last(),
        }
      }, 'count the tasks')
      if (found === undefined) return
      this.#counted = found.at
      // A database that answers later has counted less than the feed has told by then.
      const later = meanwhile.filter((event) => event.seq > found.at)
      const tasks = later.reduce((sum, event) => counted(sum, event) ?? sum, found.tasks)
      this.#change({ counted: true, tasks, queued: found.queue.ready, claimable: found.queue.claimable })
    } finally {
      this.#meanwhile.delete(meanwhile)
    }
  }

  stop(): void {
    this.#clock.clearTimeout(this.#recount)
  }

  #follow(event: TaskEvent): void {
    for (const heard of this.#meanwhile) heard.push(event)
    const change: Partial<EngineStatus> = { lastEvent: event }
    if (event.seq > this.#counted && this.#store.getSnapshot().context.counted) {
      const tasks = counted(this.#store.getSnapshot().context.tasks, event)
      if (tasks !== undefined) change.tasks = tasks
    }
    this.#change(change)
    this.#recount ??= this.#clock.setTimeout(() => {
      this.#recount = undefined
      void this.#countQueue()
    }, countEveryMs)
  }

  async #countQueue(): Promise<void> {
    const queue = await this.#feed.read((tx) => tx.task.countQueued(), 'count the queue')
    if (queue === undefined) return
    const { ready, claimable } = queue
    const { queued, claimable: before } = this.#store.getSnapshot().context
    if (ready !== queued || claimable !== before) this.#change({ queued: ready, claimable })
  }

  #change(change: Partial<EngineStatus>): void {
    this.#store.trigger.changed({ change })
  }
}

/** The states after an event, or undefined when it changed none. */
function counted(tasks: Record<TaskStatus, number>, { type, data }: TaskEvent): Record<TaskStatus, number> | undefined {
  const status = data.status as TaskStatus
  if (type === 'task.created') return { ...tasks, [status]: tasks[status] + 1 }
  if (type === 'task.deleted') return { ...tasks, [status]: tasks[status] - 1 }
  const to = entered.get(type)
  const from = data.from as TaskStatus | undefined
  if (to === undefined || from === undefined || from === to) return undefined
  return { ...tasks, [from]: tasks[from] - 1, [to]: tasks[to] + 1 }
}

/** The state that an event tells of entering. Told by its type: `status` is that of the row, which may be further on. */
const entered: ReadonlyMap<string, TaskStatus> = new Map(
  taskStatuses.flatMap((from) =>
    acceptedEvents(from).map((event) => [publishedAs[event], taskTransitions[from][event] as TaskStatus] as const),
  ),
)
