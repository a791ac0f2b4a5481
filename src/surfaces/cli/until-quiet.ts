// Following tasks until nothing goes on with them any more, and their streams until all is told. Nothing is polled: the feed says
// when to look again.
import type { Engine, StreamItem } from '../../api.ts'
import type { TaskEvent } from '../../entities/event.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { ErrandError } from '../../errors.ts'
import { Bell } from './bell.ts'
import { goesOn } from './going-on.ts'
import { lastPosition } from './stream-position.ts'

/** Waits for the end of what goes on with tasks. */
export class QuietWatch {
  readonly #engine: Engine
  readonly #signal: AbortSignal
  readonly #bell = new Bell()
  readonly #stop: () => void

  /** `onEvent` is told of every event before anything is concluded from it. */
  constructor(engine: Engine, signal: AbortSignal, onEvent: (event: TaskEvent) => void = () => {}) {
    this.#engine = engine
    this.#signal = signal
    const unsubscribe = engine.subscribe('*', (event) => {
      onEvent(event)
      this.#bell.ring()
    })
    const watching = engine.status.subscribe(() => this.#bell.ring())
    this.#stop = () => {
      unsubscribe()
      watching.unsubscribe()
    }
  }

  /**
   * Resolves when nothing goes on with these tasks, or when the user wants to stop. `isAwaited`: somebody here is about to set them
   * going again.
   */
  async quiet(taskIds: () => readonly string[], isAwaited: () => Promise<boolean> = async () => false): Promise<void> {
    while (!this.#signal.aborted) {
      const goingOn = await this.#goesOn(taskIds())
      if (!goingOn && !(await isAwaited()) && !this.#bell.heard) return
      await this.#bell.rung(this.#signal)
    }
  }

  end(): void {
    this.#stop()
  }

  async #goesOn(taskIds: readonly string[]): Promise<boolean> {
    if (!this.#engine.status.get().context.working) {
      throw new ErrandError('ENGINE_CLOSED', 'The engine has stopped in the middle of the work. What is durable stays.')
    }
    const tasks = await Promise.all(taskIds.map((id) => this.#engine.get(id)))
    const open = tasks.filter((task) => task !== null && !isSettled(task.status)) as Task[]
    return await goesOn(this.#engine, open)
  }
}

/** The stream of a task, told as it comes. */
export class FollowedStream {
  readonly taskId: string
  readonly #engine: Engine
  readonly #stop = new AbortController()
  readonly #over: Promise<void>
  #position: number
  #ended = false
  #failure: unknown
  #moved: () => void = () => {}

  constructor(engine: Engine, taskId: string, after: number, take: (item: StreamItem) => void) {
    this.taskId = taskId
    this.#engine = engine
    this.#position = after
    this.#over = this.#follow(after, take)
  }

  /** It has told of the end of its task. */
  get ended(): boolean {
    return this.#ended
  }

  /** Resolves when all is told that the ledger has of the task by now. */
  async caughtUp(): Promise<void> {
    const last = await lastPosition(this.#engine, this.taskId)
    while (!this.#ended && this.#position < last) {
      await new Promise<void>((resolve) => {
        this.#moved = resolve
      })
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Stops it where it is. */
  async end(): Promise<void> {
    this.#stop.abort()
    await this.#over
  }

  async #follow(after: number, take: (item: StreamItem) => void): Promise<void> {
    try {
      for await (const item of this.#engine.stream(this.taskId, { after, signal: this.#stop.signal })) {
        take(item)
        this.#position = item.seq
        this.#moved()
      }
    } catch (error) {
      // Told to whoever waits for it; a stream that nobody waits for any more may end with its engine.
      this.#failure = error
    }
    this.#ended = true
    this.#moved()
  }
}
