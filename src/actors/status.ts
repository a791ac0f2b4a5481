// The read model of an engine: how many tasks are in each state, what is queued, what runs here. It follows the feed
// and so includes the work of other processes. Counting starts at the first read, so an unused model costs nothing.
import { createStore } from '@xstate/store'
import type { Clock } from '../core/clock.ts'
import { guarded } from '../core/guarded.ts'
import { requireFunction } from '../core/parse.ts'
import type { TaskEvent } from '../entities/event.ts'
import { type TaskStatus, taskStatuses } from '../entities/task.ts'
import type { EngineStatus, StatusStore } from '../entities/views.ts'
import { acceptedEvents, nextStatus } from '../machines/task-edges.ts'
import { publishedAs } from '../machines/task-table.ts'
import type { Feed } from './feed.ts'
import type { Report } from './report.ts'

/** Minimum interval between two counts of the queue, which changes with every event. */
const countEveryMs = 50

export class StatusModel {
  readonly #feed: Feed
  readonly #clock: Clock
  readonly #report: Report
  readonly #store
  readonly #view: StatusStore
  #slots: () => Partial<EngineStatus> = () => ({})
  #following = false
  #counted = 0
  /** Events published during each count that is under way. */
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

  /** Returns the store; the first call starts counting. */
  store(): StatusStore {
    if (!this.#following) {
      this.#following = true
      this.#change(this.#slots())
      this.#feed.listen((event) => this.#follow(event))
      void this.count()
    }
    return this.#view
  }

  /** Reports a listener that fails: the store would throw its error again in a timer and crash the process. */
  #guarded<T>(given: (value: T) => void): (value: T) => void {
    const listener = requireFunction(given, 'the listener of status')
    return (value) => {
      guarded(
        () => listener(value),
        (error) => this.#report(error, { doing: 'notify a status listener' }),
      )
    }
  }

  /** Sets what reads the slots and the running tasks; it is called only once the model is in use. */
  readSlotsFrom(read: () => Pick<EngineStatus, 'slots' | 'working' | 'running'>): void {
    this.#slots = read
  }

  /** Updates the slots. */
  slotsChanged(): void {
    if (this.#following) this.#change(this.#slots())
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
      // A read may return after the feed has published later events: these are added to the count.
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
    for (const events of this.#meanwhile) events.push(event)
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

/** The counts after an event, or undefined when it changed none. */
function counted(tasks: Record<TaskStatus, number>, { type, data }: TaskEvent): Record<TaskStatus, number> | undefined {
  const status = data.status as TaskStatus
  if (type === 'task.created') return { ...tasks, [status]: tasks[status] + 1 }
  if (type === 'task.deleted') return { ...tasks, [status]: tasks[status] - 1 }
  const to = entered.get(type)
  const from = data.from as TaskStatus | undefined
  if (to === undefined || from === undefined || from === to) return undefined
  return { ...tasks, [from]: tasks[from] - 1, [to]: tasks[to] + 1 }
}

/**
 * The state that each event type enters. Taken from the type, because `status` is that of the row, which may be further
 * on.
 */
const entered: ReadonlyMap<string, TaskStatus> = new Map(
  taskStatuses.flatMap((from) =>
    acceptedEvents(from).map((event) => [publishedAs[event], nextStatus(from, event) as TaskStatus] as const),
  ),
)
