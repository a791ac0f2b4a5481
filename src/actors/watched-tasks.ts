// Actors for tasks that this engine does not work on, for observers of all tasks: built from rows at first, then
// updated by the feed. The number of actors and the number of buffered events are bounded.
import type { AnyActorRef } from 'xstate'
import type { TaskEvent } from '../entities/event.ts'
import { isSettled, openStatuses, type TaskRecord, type TaskStatus } from '../entities/task.ts'
import { eventBetween } from '../machines/task-edges.ts'
import { restoreSnapshot } from '../machines/task-snapshot.ts'
import { releaseActor, runActorLogic, watchedTaskLogic } from './actor-logic.ts'
import type { EngineHost } from './engine-host.ts'

/** Maximum number of tasks with an actor; the least recently updated is dropped first. */
const maxWatched = 1_000
/** Maximum number of events buffered while rows are read; beyond it, all rows are read again. */
const maxWaiting = 10_000

const doing = 'watch all tasks'

export type WatchedTasksHost = Pick<EngineHost, 'feed' | 'actors' | 'report'>

interface Watched {
  task: AnyActorRef
  status: TaskStatus
  run: { actor: AnyActorRef; number: number } | undefined
}

type Row = Pick<TaskRecord, 'id' | 'name' | 'status' | 'attempt' | 'run'>

export class WatchedTasks {
  readonly #host: WatchedTasksHost
  /** In the order of their last events. */
  readonly #watched = new Map<string, Watched>()
  readonly #endings: Array<() => void>
  #waiting: TaskEvent[] = []
  #isFollowing = false
  #reloadDue = true
  #stopped = false

  constructor(host: WatchedTasksHost) {
    this.#host = host
    this.#endings = [
      host.feed.listen((event) => this.#onEvent(event)),
      host.actors.onTaskStart((taskId) => this.#forget(taskId)),
    ]
    this.#start()
  }

  stop(): void {
    this.#stopped = true
    for (const end of this.#endings) end()
    for (const taskId of this.#watched.keys()) this.#forget(taskId)
  }

  #onEvent(event: TaskEvent): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#waiting = []
      this.#reloadDue = true
    }
    this.#waiting.push(event)
    this.#start()
  }

  #start(): void {
    if (this.#isFollowing || this.#host.feed.stopped) return
    this.#isFollowing = true
    void this.#follow()
      .catch((error: unknown) => this.#host.report(error, { doing }))
      .finally(() => {
        this.#isFollowing = false
        if (!this.#stopped && this.#waiting.length > 0) this.#start()
      })
  }

  async #follow(): Promise<void> {
    while (!this.#stopped && (this.#reloadDue || this.#waiting.length > 0)) {
      if (this.#reloadDue) await this.#reload()
      const events = this.#waiting
      this.#waiting = []
      const rows = await this.#rowsOf(events)
      if (this.#stopped) return
      for (const event of events) this.#apply(event, rows)
    }
  }

  /** Reads the open tasks: working ones first, then the oldest. */
  async #reload(): Promise<void> {
    const { feed, actors } = this.#host
    this.#reloadDue = false
    const found = await feed.read(function* (tx) {
      const working = yield* tx.task.list({ statuses: ['working'] }, maxWatched)
      const statuses = openStatuses.filter((status) => status !== 'working')
      const resting = yield* tx.task.list({ statuses }, Math.max(1, maxWatched - working.length))
      return { rows: [...working, ...resting].slice(0, maxWatched), last: yield* tx.event.last() }
    }, doing)
    if (this.#stopped || found === undefined) return
    const { rows, last } = found
    this.#waiting = this.#waiting.filter(({ seq }) => seq > last)
    for (const taskId of this.#watched.keys()) this.#forget(taskId)
    for (const row of rows) if (!actors.holds(row.id)) this.#add(row, row.runOpen ? row.run : undefined)
  }

  /** The rows of open tasks without an actor: their events do not carry everything that an actor shows. */
  async #rowsOf(events: readonly TaskEvent[]): Promise<ReadonlyMap<string, TaskRecord>> {
    const unknown = new Set(
      events.filter((event) => event.type !== 'task.created' && this.#begins(event)).map(({ taskId }) => taskId),
    )
    const found = new Map<string, TaskRecord>()
    if (unknown.size === 0) return found
    await this.#host.feed.read(function* (tx) {
      for (const id of unknown) {
        const row = yield* tx.task.get(id)
        if (row !== undefined && row.deletedAt === null) found.set(id, row)
      }
    }, doing)
    return found
  }

  #begins({ taskId, type, data }: TaskEvent): boolean {
    if (this.#watched.has(taskId) || this.#host.actors.holds(taskId)) return false
    return type !== 'task.deleted' && !isSettled(data['status'] as TaskStatus)
  }

  #apply(event: TaskEvent, rows: ReadonlyMap<string, TaskRecord>): void {
    const watched = this.#watched.get(event.taskId)
    if (watched === undefined) this.#begin(event, rows.get(event.taskId))
    else this.#update(event, watched)
  }

  #begin(event: TaskEvent, row: TaskRecord | undefined): void {
    if (!this.#begins(event) || (row === undefined && event.type !== 'task.created')) return
    const { name, status, run } = event.data as { name: string; status: TaskStatus; run?: unknown }
    const isRun = event.type === 'task.started' && typeof run === 'number'
    this.#add(
      { id: event.taskId, name, status, attempt: row?.attempt ?? 1, run: isRun ? run : (row?.run ?? 0) },
      isRun ? run : undefined,
    )
  }

  #update({ taskId, type, data }: TaskEvent, watched: Watched): void {
    this.#watched.delete(taskId)
    this.#watched.set(taskId, watched)
    const { status } = data as { status: TaskStatus }
    if (status !== watched.status) this.#move(taskId, watched, status, data)
    if (type === 'task.started' && typeof data['run'] === 'number') this.#addRun(taskId, watched, data['run'])
    if (type === 'run.closed') this.#closeRun(watched)
    else if (status !== 'working') watched.run?.actor.send({ type: 'end' })
    if (isSettled(status) || type === 'task.deleted') this.#forget(taskId)
  }

  #move(taskId: string, watched: Watched, status: TaskStatus, data: TaskEvent['data']): void {
    const type = eventBetween(watched.status, status)
    const update = Object.fromEntries(
      ['name', 'attempt', 'run'].flatMap((key) => (key in data ? [[key, data[key]]] : [])),
    )
    if (type === undefined) {
      // The path between the two states is unknown: the actor is created anew in the new state.
      const { context } = watched.task.getSnapshot() as { context: Omit<Row, 'id' | 'status'> }
      this.#release(taskId, watched)
      watched.task = this.#taskActor({ ...context, ...update, id: taskId, status })
    } else watched.task.send({ type, ...update })
    watched.status = status
  }

  #add(row: Row, run: number | undefined): void {
    const watched: Watched = { task: this.#taskActor(row), status: row.status, run: undefined }
    this.#watched.set(row.id, watched)
    if (run !== undefined) this.#addRun(row.id, watched, run)
    const oldest = this.#watched.size > maxWatched ? this.#watched.keys().next().value : undefined
    if (oldest !== undefined) this.#forget(oldest)
  }

  #taskActor(row: Row): AnyActorRef {
    return this.#host.actors.addOther(watchedTaskLogic, row.id, { snapshot: restoreSnapshot(row) })
  }

  #addRun(taskId: string, watched: Watched, number: number): void {
    this.#closeRun(watched)
    const actor = this.#host.actors.addOther(runActorLogic, `run:${taskId}#${number}`, {
      input: { taskId, run: number },
    })
    watched.run = { actor, number }
  }

  #closeRun(watched: Watched): void {
    const { run } = watched
    if (run === undefined) return
    run.actor.send({ type: 'close' })
    this.#host.actors.removeOther(run.actor.id)
    watched.run = undefined
  }

  #release(taskId: string, watched: Watched): void {
    releaseActor(watched.task)
    this.#host.actors.removeOther(taskId)
  }

  #forget(taskId: string): void {
    const watched = this.#watched.get(taskId)
    if (watched === undefined) return
    this.#watched.delete(taskId)
    this.#closeRun(watched)
    this.#release(taskId, watched)
  }
}
