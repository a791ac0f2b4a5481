// Activates the tasks on which this engine does not work, for observers of all tasks: those that are open at first, then each that is created
// or moves. Their actors follow the events like all others (live-actors.ts). The numbers of actors and of buffered events are bounded.
import type { TaskEvent } from '../entities/event.ts'
import { isSettled, openStatuses, type TaskRecord, type TaskStatus } from '../entities/task.ts'
import type { EngineHost } from './engine-host.ts'

/** Maximum of events that wait for a read; beyond it, all rows are read again. */
const maxWaiting = 10_000

const doing = 'watch all tasks'

export type WatchedTasksHost = Pick<EngineHost, 'feed' | 'actors' | 'status' | 'report'>

export class WatchedTasks {
  readonly #host: WatchedTasksHost
  readonly #onLeftOut: (count: number) => void
  readonly #unlisten: () => void
  /** Ends the count of those that are left out; undefined while no observer asks for it. */
  #uncount: (() => void) | undefined
  #maxTasks: number
  /** Open tasks without an actor, as `onLeftOut` was last called with. */
  #leftOut = 0
  /** Events of tasks without an actor. */
  #waiting: TaskEvent[] = []
  #isFollowing = false
  #reloadDue = true
  #stopped = false

  constructor(host: WatchedTasksHost, maxTasks: number, onLeftOut: (count: number) => void) {
    this.#host = host
    this.#maxTasks = maxTasks
    this.#onLeftOut = onLeftOut
    host.actors.keepResting(maxTasks)
    this.#unlisten = host.feed.listen((event) => this.#onEvent(event))
    this.#start()
  }

  /** Another observer wants to see so many. */
  widen(maxTasks: number): void {
    if (maxTasks <= this.#maxTasks) return
    this.#maxTasks = maxTasks
    this.#reloadDue = true
    this.#host.actors.keepResting(maxTasks)
    this.#start()
  }

  /** From now on an observer is notified of how many are left out: all open tasks are counted. */
  count(): void {
    if (this.#uncount !== undefined) return
    const counting = this.#host.status.store().subscribe(() => this.#countLeftOut())
    this.#uncount = () => counting.unsubscribe()
    this.#countLeftOut()
  }

  stop(): void {
    this.#stopped = true
    this.#unlisten()
    this.#uncount?.()
    this.#host.actors.keepResting(0)
  }

  #onEvent(event: TaskEvent): void {
    this.#host.actors.follow(event)
    this.#host.actors.dropOldest()
    if (!this.#begins(event)) return
    if (event.type === 'task.created') {
      this.#activateNew(event)
      return
    }
    if (this.#waiting.length >= maxWaiting) {
      this.#waiting = []
      this.#reloadDue = true
    }
    this.#waiting.push(event)
    this.#start()
  }

  /** Its event says all that an actor shows: so the actor sees every state of the task. */
  #activateNew({ taskId, seq, data }: TaskEvent): void {
    const { name, status } = data as { name: string; status: TaskStatus }
    this.#host.actors.activate(status, { taskId, name, attempt: 1, run: 0 }, seq, true)
    this.#host.actors.dropOldest()
  }

  #countLeftOut(): void {
    if (this.#uncount === undefined) return
    const { counted, tasks } = this.#host.status.store().get().context
    if (!counted || this.#stopped) return
    const open = openStatuses.reduce((sum, status) => sum + tasks[status], 0)
    const count = Math.max(0, open - this.#host.actors.openCount)
    if (count === this.#leftOut) return
    this.#leftOut = count
    this.#onLeftOut(count)
  }

  #begins({ taskId, type, data }: TaskEvent): boolean {
    if (this.#host.actors.has(taskId)) return false
    return type !== 'task.deleted' && !isSettled(data['status'] as TaskStatus)
  }

  #start(): void {
    if (this.#isFollowing || this.#host.feed.stopped) return
    this.#isFollowing = true
    void this.#follow()
      .catch((error: unknown) => this.#host.report(error, { doing }))
      .finally(() => {
        this.#isFollowing = false
        if (!this.#stopped && (this.#reloadDue || this.#waiting.length > 0)) this.#start()
      })
  }

  async #follow(): Promise<void> {
    while (!this.#stopped && (this.#reloadDue || this.#waiting.length > 0)) {
      if (this.#reloadDue) await this.#reload()
      const events = this.#waiting
      this.#waiting = []
      await this.#activateThoseOf(events)
      this.#host.actors.dropOldest()
      this.#countLeftOut()
    }
  }

  /** Reads the open tasks: working ones first, then the newest. */
  async #reload(): Promise<void> {
    const { feed } = this.#host
    const limit = this.#maxTasks
    this.#reloadDue = false
    const found = await feed.read(function* (tx) {
      const working = yield* tx.task.list({ statuses: ['working'] }, limit)
      const statuses = openStatuses.filter((status) => status !== 'working')
      const resting = yield* tx.task.newest({ statuses }, Math.max(1, limit - working.length), 0)
      const rows = [...working, ...resting.toReversed()].slice(-limit)
      return { rows, last: yield* tx.event.last() }
    }, doing)
    if (this.#stopped || found === undefined) return
    const { rows, last } = found
    this.#waiting = this.#waiting.filter(({ seq }) => seq > last)
    for (const row of rows) this.#activate(row, last)
  }

  /** Reads the rows of tasks that have moved: their events do not carry everything that an actor shows. */
  async #activateThoseOf(events: readonly TaskEvent[]): Promise<void> {
    const ids = new Set(events.filter((event) => this.#begins(event)).map(({ taskId }) => taskId))
    if (ids.size === 0) return
    const found = await this.#host.feed.read(function* (tx) {
      const rows: TaskRecord[] = []
      for (const id of ids) {
        const row = yield* tx.task.get(id)
        if (row !== undefined && row.deletedAt === null && !isSettled(row.status)) rows.push(row)
      }
      return { rows, last: yield* tx.event.last() }
    }, doing)
    if (this.#stopped || found === undefined) return
    for (const row of found.rows) this.#activate(row, found.last)
  }

  #activate(row: TaskRecord, last: number): void {
    const { actors } = this.#host
    if (actors.has(row.id)) return
    actors.activateStored(row, last)
    if (row.runOpen) actors.showRun(row.id, row.run)
  }
}
