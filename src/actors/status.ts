// The read model of an engine: how many tasks are in each state, what is queued, what runs here. Its store takes the
// events of the feed, so it includes other processes. Counting starts at the first read: an unused model costs nothing.
import { createStore } from '@xstate/store'
import type { Clock } from '../core/clock.ts'
import { guarded } from '../core/guarded.ts'
import { requireFunction } from '../core/parse.ts'
import { type EventType, eventTypes, type TaskEvent } from '../entities/event.ts'
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
  readonly #store = createStatus()
  readonly #view: StatusStore = {
    get: () => this.#store.getSnapshot(),
    getSnapshot: () => this.#store.getSnapshot(),
    subscribe: (listener) => this.#store.subscribe(this.#guarded(listener)),
    select: (selector, equal) => {
      const selected = this.#store.select(requireFunction(selector, 'the selector of status'), equal)
      return { get: () => selected.get(), subscribe: (listener) => selected.subscribe(this.#guarded(listener)) }
    },
  }
  #slots: () => Partial<EngineStatus> = () => ({})
  #following = false
  /** The event up to which the tasks are counted. */
  #countedTo = Number.POSITIVE_INFINITY
  /** Events published during each count that is under way. */
  readonly #meanwhile = new Set<TaskEvent[]>()
  #recount: unknown

  constructor(feed: Feed, clock: Clock, report: Report) {
    this.#feed = feed
    this.#clock = clock
    this.#report = report
  }

  /** Returns the store; the first call starts counting. */
  store(): StatusStore {
    if (!this.#following) {
      this.#following = true
      this.slotsChanged()
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
    if (this.#following) this.#store.trigger.slots({ slots: this.#slots() })
  }

  /** Counts all tasks anew. */
  async count(): Promise<void> {
    if (!this.#following || this.#feed.stopped) return
    const meanwhile: TaskEvent[] = []
    this.#meanwhile.add(meanwhile)
    try {
      const read = await this.#feed.read(function* (tx) {
        const tasks = yield* tx.task.countByStatus()
        const { ready: queued, claimable } = yield* tx.task.countQueued()
        return { found: { counted: true, tasks, queued, claimable }, at: yield* tx.event.last() }
      }, 'count the tasks')
      if (read === undefined) return
      this.#countedTo = read.at
      // A read may return after the feed has published later events: these are added to the count.
      this.#store.trigger.counted({ found: read.found, later: meanwhile.filter(({ seq }) => seq > read.at) })
    } finally {
      this.#meanwhile.delete(meanwhile)
    }
  }

  stop(): void {
    this.#clock.clearTimeout(this.#recount)
  }

  #follow(event: TaskEvent): void {
    for (const events of this.#meanwhile) events.push(event)
    // Their tasks are not counted.
    const isCounted = event.data['system'] !== true
    if (event.seq > this.#countedTo && isCounted) this.#store.send(event as never)
    else this.#store.trigger.counted({ found: { lastEvent: event } })
    this.#recount ??= this.#clock.setTimeout(() => {
      this.#recount = undefined
      void this.#countQueue()
    }, countEveryMs)
  }

  async #countQueue(): Promise<void> {
    const queue = await this.#feed.read((tx) => tx.task.countQueued(), 'count the queue')
    const { queued, claimable } = this.#store.getSnapshot().context
    if (queue === undefined || (queue.ready === queued && queue.claimable === claimable)) return
    this.#store.trigger.counted({ found: { queued: queue.ready, claimable: queue.claimable } })
  }
}

type Sent = Record<EventType, TaskEvent> & {
  /** What a count has found, and the events after it that were published meanwhile. */
  counted: { found: Partial<EngineStatus>; later?: readonly TaskEvent[] }
  slots: { slots: Partial<EngineStatus> }
}

const createStatus = () =>
  createStore<EngineStatus, Sent, Record<never, never>>({
    context: {
      counted: false,
      tasks: Object.fromEntries(taskStatuses.map((status) => [status, 0])) as Record<TaskStatus, number>,
      queued: 0,
      claimable: 0,
      working: false,
      slots: { used: 0, free: 0, maxConcurrent: 0 },
      running: [],
      lastEvent: null,
    },
    on: {
      ...followed,
      counted: (status, { found, later = [] }) =>
        later.reduce((sum, event) => followed[event.type](sum, event), { ...status, ...found }),
      slots: (status, { slots }) => ({ ...status, ...slots }),
    },
  })

/** The status after an event, by the type of that. */
const followed = Object.fromEntries(
  eventTypes.map((type) => [type, (status: EngineStatus, event: TaskEvent) => moved(status, event)]),
) as Record<EventType, (status: EngineStatus, event: TaskEvent) => EngineStatus>
followed['task.created'] = (status, event) => moved(status, event, undefined, event.data.status)
followed['task.deleted'] = (status, event) => moved(status, event, event.data.status)
for (const each of taskStatuses) {
  for (const name of acceptedEvents(each)) {
    // Not the `status` of the event: it is that of the row, which may be further on.
    const to = nextStatus(each, name)
    followed[publishedAs[name]] = (status, event) => moved(status, event, event.data.from ?? to, to)
  }
}

/** A task has left a state and entered another. It is created from none and deleted to none. */
function moved(status: EngineStatus, event: TaskEvent, from?: unknown, to?: unknown): EngineStatus {
  if (from === to) return { ...status, lastEvent: event }
  const tasks = { ...status.tasks }
  if (from !== undefined) tasks[from as TaskStatus]--
  if (to !== undefined) tasks[to as TaskStatus]++
  return { ...status, tasks, lastEvent: event }
}
