// What memory does while an engine works, beside the runs: it receives the tasks that settle, and completes agents and teams whose tasks have
// ended.
import type { EngineHost } from '../actors/engine-host.ts'
import type { MemoryWork } from '../actors/lifecycle-parts.ts'
import { untilAborted } from '../core/signals.ts'
import { type ChatMessage, chatOf } from '../entities/chat-message.ts'
import { conversationOf } from '../entities/conversation.ts'
import type { TaskEvent } from '../entities/event.ts'
import { isExecutor } from '../entities/executor.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { joinTeam } from './team/enter-team.ts'
import { TeamReconciler, type TeamWork } from './team/team-reconciler.ts'

export type MemoryWorkParts = Pick<MemoryArchiveHost, 'accepts' | 'readTask'> & TeamWork

export function createMemoryWork(host: EngineHost, parts: MemoryWorkParts): MemoryWork {
  const archive = new MemoryArchive({ ...host, ...parts })
  const reconciler = new TeamReconciler({ ...host, ...parts })
  return {
    start() {
      archive.start()
      reconciler.start()
    },
    async close(timeoutMs, active) {
      archive.saveActive(active)
      await Promise.all([archive.close(timeoutMs), reconciler.close(timeoutMs)])
    },
    async membershipOf({ id, run, policy: { team } }) {
      await reconciler.accountFor(team?.taskId)
      if (team === undefined || team.agentId === null) return undefined
      const found = await host.read((tx) => tx.team.stintOfWorker(id))
      const stint = found ?? (await host.step(joinTeam({ taskId: id, run }, host.stepContext())))
      return stint && { taskId: stint.taskId, agentId: stint.agentId }
    },
  }
}

// What agents leave to memory: a settled task is saved and archived, a task released at shutdown is saved. Memory is
// optional and off the critical path: nothing it does, or fails to do, changes a task.

/** A task as memory receives it. */
interface Remembered {
  task: object
  /** The whole conversation. */
  context: ChatMessage[]
}

interface MemoryArchiveHost extends EngineHost {
  /**
   * Whether `mem:save` or `mem:archive` is registered and accepts settled tasks; the engine's own only when configured
   * to.
   */
  accepts(abilityId: string): boolean
  /** A task in the vocabulary of the memory that receives it. */
  readTask(tx: Reads, task: TaskRecord): Op<object>
}

/** Milliseconds after which a memory that does not answer is given up. */
const maxSaveMs = 30_000

class MemoryArchive {
  readonly #host: MemoryArchiveHost
  /** One task after the other, in the order in which they ended. */
  #work: Promise<void> = Promise.resolve()
  #unlisten: (() => void) | undefined
  readonly #giveUp = new AbortController()

  constructor(host: MemoryArchiveHost) {
    this.#host = host
  }

  start(): void {
    this.#unlisten = this.#host.feed.listen((event) => this.#onEvent(event))
  }

  /** Saves the tasks that were working when the engine began to close. */
  saveActive(taskIds: readonly string[]): void {
    if (this.#hasMemory)
      for (const taskId of taskIds) this.#enqueue(taskId, 'save an active task', (remembered) => this.#save(remembered))
  }

  /** Resolves when everything is saved, or after the timeout. Starts nothing new. */
  async close(timeoutMs: number): Promise<void> {
    this.#unlisten?.()
    const { clock } = this.#host
    const timer = clock.setTimeout(() => this.#giveUp.abort(new Error('the engine is closing')), timeoutMs)
    await this.#work
    clock.clearTimeout(timer)
  }

  /** Of several engines on a ledger, the one that wrote the end archives the task. */
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
    const { accepts } = this.#host
    return accepts('mem:save') || accepts('mem:archive')
  }

  #enqueue(taskId: string, doing: string, work: (remembered: Remembered) => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (this.#giveUp.signal.aborted) return
      try {
        const remembered = await untilAborted(this.#read(taskId, doing), this.#giveUp.signal)
        if (remembered !== undefined) await work(remembered)
      } catch (error) {
        this.#host.report(error, { taskId, doing })
      }
    })
  }

  /** Undefined for a task whose executor is not an agent. */
  #read(taskId: string, doing: string): Promise<Remembered | undefined> {
    const { feed, executors, readTask } = this.#host
    return feed.read(function* (tx) {
      const record = yield* tx.task.get(taskId)
      const executor = executors.get(record?.executor ?? '')
      if (record === undefined || !isExecutor(executor) || executor.agent === undefined) return undefined
      const conversation = conversationOf(yield* tx.message.list(taskId), yield* tx.call.list(taskId, ['call']))
      return { task: yield* readTask(tx, record), context: chatOf(conversation) }
    }, doing)
  }

  async #archive(taskId: string, remembered: Remembered): Promise<void> {
    await this.#save(remembered)
    await this.#call('mem:archive', { taskId, context: remembered.context })
  }

  async #save({ task }: Remembered, error?: string): Promise<void> {
    await this.#call('mem:save', { task, ...(error === undefined ? {} : { error }) })
  }

  async #call(abilityId: string, input: unknown): Promise<void> {
    const { bus, clock, accepts } = this.#host
    if (!accepts(abilityId)) return
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
