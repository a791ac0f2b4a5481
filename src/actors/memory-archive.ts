// What agents leave to memory: a task that has ended is saved and archived, one that is let go at shutdown is saved. Memory is
// optional and off the critical path: nothing it does, or fails to do, changes a task (conformance S1-067…S1-071).
import type { Bus } from '../bus/bus.ts'
import type { Clock } from '../clock.ts'
import type { TaskEvent } from '../entities/event.ts'
import { type AnyExecutor, isExecutor } from '../executor.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { untilAborted } from '../signals.ts'
import type { Feed } from './feed.ts'

/** A task as memory gets it. */
export interface Portrait {
  task: Record<string, unknown>
  /** The whole conversation, as chat messages. */
  context: unknown[]
}

export interface MemoryArchiveOptions {
  bus: Bus
  feed: Feed
  ledger: Ledger
  clock: Clock
  instanceId: string
  executors: ReadonlyMap<string, AnyExecutor>
  /** Whether failed tasks are saved too. */
  archiveFailed: boolean
  /** Whether `mem:save` or `mem:archive` is there and wants what has ended: the engine's own only where it was told so. */
  wants(abilityId: string): boolean
  portrait(taskId: string): Promise<Portrait | undefined>
  report(error: unknown, context: Record<string, unknown>): void
}

/** A memory that does not answer is not waited for any longer, in milliseconds. */
const longestSaveMs = 30_000

export class MemoryArchive {
  readonly #options: MemoryArchiveOptions
  /** One after the other, in the order in which the tasks ended. */
  #work: Promise<void> = Promise.resolve()
  #unlisten: (() => void) | undefined
  readonly #giveUp = new AbortController()

  constructor(options: MemoryArchiveOptions) {
    this.#options = options
  }

  start(): void {
    this.#unlisten = this.#options.feed.listen((event) => this.#onEvent(event))
  }

  /** Tasks that were at work when the engine was told to close. */
  saveActive(taskIds: readonly string[]): void {
    if (this.#hasMemory)
      for (const taskId of taskIds) this.#enqueue(taskId, 'save an active task', (portrait) => this.#save(portrait))
  }

  /** Resolves when all is saved, or after so long. Nothing is begun any more. */
  async close(timeoutMs: number): Promise<void> {
    this.#unlisten?.()
    const { clock } = this.#options
    const timer = clock.setTimeout(() => this.#giveUp.abort(new Error('the engine is closing')), timeoutMs)
    await this.#work
    clock.clearTimeout(timer)
  }

  /** Of several engines on a ledger the one that wrote the end archives it. */
  #onEvent({ type, taskId, instanceId, data }: TaskEvent): void {
    if (instanceId !== this.#options.instanceId || !this.#hasMemory) return
    if (type === 'task.completed')
      this.#enqueue(taskId, 'archive a task', (portrait) => this.#archive(taskId, portrait))
    else if (type === 'task.failed' && data['willRetry'] === false && this.#options.archiveFailed) {
      const { message } = data['error'] as { message: string }
      this.#enqueue(taskId, 'save a failed task', (portrait) => this.#save(portrait, message))
    }
  }

  get #hasMemory(): boolean {
    const { wants } = this.#options
    return wants('mem:save') || wants('mem:archive')
  }

  #enqueue(taskId: string, doing: string, work: (portrait: Portrait) => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (this.#giveUp.signal.aborted) return
      try {
        if (!(await this.#isAgents(taskId))) return
        const portrait = await this.#options.portrait(taskId)
        if (portrait !== undefined) await work(portrait)
      } catch (error) {
        this.#options.report(error, { taskId, doing })
      }
    })
  }

  async #isAgents(taskId: string): Promise<boolean> {
    const task = await this.#options.ledger.read((tx) => tx.task.get(taskId))
    const executor = task?.executor == null ? undefined : this.#options.executors.get(task.executor)
    return isExecutor(executor) && executor.agent !== undefined
  }

  async #archive(taskId: string, portrait: Portrait): Promise<void> {
    await this.#save(portrait)
    await this.#call('mem:archive', { taskId, context: portrait.context })
  }

  async #save({ task }: Portrait, error?: string): Promise<void> {
    await this.#call('mem:save', { task, ...(error === undefined ? {} : { error }) })
  }

  async #call(abilityId: string, input: unknown): Promise<void> {
    const { bus, clock, wants } = this.#options
    if (!wants(abilityId)) return
    const late = new AbortController()
    const timer = clock.setTimeout(() => late.abort(new Error(`${abilityId} did not answer`)), longestSaveMs)
    const signal = AbortSignal.any([late.signal, this.#giveUp.signal])
    try {
      await untilAborted(bus.call(abilityId, input, { caller: { surface: 'engine' }, signal }), signal)
    } finally {
      clock.clearTimeout(timer)
    }
  }
}
