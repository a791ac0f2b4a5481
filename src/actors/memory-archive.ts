// What agents leave to memory: a task that has ended is saved and archived, one that is let go at shutdown is saved. Memory is
// optional and off the critical path: nothing it does, or fails to do, changes a task (conformance S1-067…S1-071).

import { isExecutor } from '../api/executor.ts'
import { untilAborted } from '../core/signals.ts'
import { type ChatMessage, chatOf } from '../entities/chat-message.ts'
import { conversationOf } from '../entities/conversation.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import type { EngineHost } from './engine-host.ts'

/** A task as memory gets it. */
interface Remembered {
  task: object
  /** The whole conversation. */
  context: ChatMessage[]
}

export interface MemoryArchiveHost extends EngineHost {
  /** Whether `mem:save` or `mem:archive` is there and wants what has ended: the engine's own only where it was told so. */
  wants(abilityId: string): boolean
  /** A task in the words of the memory that gets it. */
  readTask(tx: Reads, task: TaskRecord): Op<object>
}

/** A memory that does not answer is not waited for any longer, in milliseconds. */
const maxSaveMs = 30_000

export class MemoryArchive {
  readonly #host: MemoryArchiveHost
  /** One after the other, in the order in which the tasks ended. */
  #work: Promise<void> = Promise.resolve()
  #unlisten: (() => void) | undefined
  readonly #giveUp = new AbortController()

  constructor(host: MemoryArchiveHost) {
    this.#host = host
  }

  start(): void {
    this.#unlisten = this.#host.feed.listen((event) => this.#onEvent(event))
  }

  /** Tasks that were at work when the engine was told to close. */
  saveActive(taskIds: readonly string[]): void {
    if (this.#hasMemory)
      for (const taskId of taskIds) this.#enqueue(taskId, 'save an active task', (remembered) => this.#save(remembered))
  }

  /** Resolves when all is saved, or after so long. Nothing is begun any more. */
  async close(timeoutMs: number): Promise<void> {
    this.#unlisten?.()
    const { clock } = this.#host
    const timer = clock.setTimeout(() => this.#giveUp.abort(new Error('the engine is closing')), timeoutMs)
    await this.#work
    clock.clearTimeout(timer)
  }

  /** Of several engines on a ledger the one that wrote the end archives it. */
  #onEvent({ type, taskId, instanceId, data }: TaskEvent): void {
    if (instanceId !== this.#host.instanceId || !this.#hasMemory) return
    if (type === 'task.completed')
      this.#enqueue(taskId, 'archive a task', (remembered) => this.#archive(taskId, remembered))
    else if (type === 'task.failed' && data['willRetry'] === false && this.#host.archiveFailed) {
      const { message } = data['error'] as { message: string }
      this.#enqueue(taskId, 'save a failed task', (remembered) => this.#save(remembered, message))
    }
  }

  get #hasMemory(): boolean {
    const { wants } = this.#host
    return wants('mem:save') || wants('mem:archive')
  }

  #enqueue(taskId: string, doing: string, work: (remembered: Remembered) => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (this.#giveUp.signal.aborted) return
      try {
        const remembered = await this.#read(taskId)
        if (remembered !== undefined) await work(remembered)
      } catch (error) {
        this.#host.report(error, { taskId, doing })
      }
    })
  }

  /** Undefined for a task that no agent works on. */
  #read(taskId: string): Promise<Remembered | undefined> {
    const { ledger, executors, readTask } = this.#host
    return ledger.read(function* (tx) {
      const record = yield* tx.task.get(taskId)
      const executor = executors.get(record?.executor ?? '')
      if (record === undefined || !isExecutor(executor) || executor.agent === undefined) return undefined
      const conversation = conversationOf(yield* tx.message.list(taskId), yield* tx.call.list(taskId, ['call']))
      return { task: yield* readTask(tx, record), context: chatOf(conversation) }
    })
  }

  async #archive(taskId: string, remembered: Remembered): Promise<void> {
    await this.#save(remembered)
    await this.#call('mem:archive', { taskId, context: remembered.context })
  }

  async #save({ task }: Remembered, error?: string): Promise<void> {
    await this.#call('mem:save', { task, ...(error === undefined ? {} : { error }) })
  }

  async #call(abilityId: string, input: unknown): Promise<void> {
    const { bus, clock, wants } = this.#host
    if (!wants(abilityId)) return
    const late = new AbortController()
    const timer = clock.setTimeout(() => late.abort(new Error(`${abilityId} did not answer`)), maxSaveMs)
    const signal = AbortSignal.any([late.signal, this.#giveUp.signal])
    try {
      await untilAborted(bus.call(abilityId, input, { caller: { surface: 'engine' }, signal }), signal)
    } finally {
      clock.clearTimeout(timer)
    }
  }
}
