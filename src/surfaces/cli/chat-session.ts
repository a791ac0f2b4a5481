// A conversation with an engine. `engine.handle` decides what each line is for; the session reports what was done, and then follows the
// streams of the tasks that the line concerned.

import type { Handled } from '../../agents/routing/handle.ts'
import { ErrandError } from '../../core/errors.ts'
import { Notifier } from '../../core/notifier.ts'
import type { Engine, StreamItem } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'
import { isActive, openTasks, waitUntilIdle } from '../../plans/idle.ts'
import { AnswerStream, type Listener } from '../terminal/answer-stream.ts'
import { modelFailure } from '../terminal/event-fields.ts'
import { stateLabel, taskLabel } from '../terminal/task-labels.ts'
import { cleanLine, cleanText } from '../terminal/terminal-text.ts'
import { type FollowedStream, followStream, lastUserPosition } from './stream-position.ts'

export interface ChatOptions {
  /** Whether a line may be a request (pause, cancel, list, …) rather than a message. */
  intent: boolean
  /** Receives the text of agents, and notes. */
  listener: Listener
  /** Receives values instead, for programs. */
  json?: ((value: unknown) => void) | undefined
  signal: AbortSignal
}

export class ChatSession {
  readonly #engine: Engine
  readonly #options: ChatOptions
  readonly #followed = new Map<string, { stream: FollowedStream; answers: AnswerStream }>()
  /** Rung by every event. */
  readonly #bell = new Notifier()
  readonly #unsubscribe: () => void
  /** The task whose text was shown last; the text of another one begins with its name. */
  #latestTaskId: string | undefined

  constructor(engine: Engine, options: ChatOptions) {
    this.#engine = engine
    this.#options = options
    this.#unsubscribe = engine.subscribe('*', (event) => {
      if (event.type === 'model.failed') this.#followed.get(event.taskId)?.answers.note(modelFailure(event))
      this.#bell.notify()
    })
  }

  /** Resolves when the line has been carried out; answers follow later. Refusals are reported to the listener, not thrown. */
  async say(line: string): Promise<void> {
    const { intent, json, listener, signal } = this.#options
    let handled: Handled
    try {
      handled = await this.#engine.handle(line, { intent, signal })
    } catch (error) {
      if (signal.aborted) return
      if (!ErrandError.isInstance(error) || error.code === 'ENGINE_CLOSED') throw error
      if (json) json({ type: 'refused', line, error: error.toJSON() })
      else listener.note(error.message)
      return
    }
    if (json) json({ type: 'handled', line, ...handledJson(handled) })
    else for (const text of handledText(handled)) listener.note(text)
    await this.#follow(handled)
  }

  /** Resolves when no task of the conversation is active and everything has been shown, or when the signal aborts. */
  async quiet(): Promise<void> {
    const { signal } = this.#options
    const [engine, bell] = [this.#engine, this.#bell]
    await waitUntilIdle({ engine, bell, signal, isActive: async () => await isActive(engine, await this.open()) })
    if (signal.aborted) return
    for (const { stream, answers } of this.#followed.values()) {
      await stream.caughtUp()
      answers.end()
    }
    this.#forgetEnded()
  }

  /** The open tasks of this conversation. */
  async open(): Promise<Task[]> {
    return await openTasks(this.#engine, [...this.#followed.keys()])
  }

  async end(): Promise<void> {
    this.#unsubscribe()
    await Promise.all([...this.#followed.values()].map(({ stream }) => stream.end()))
  }

  async #follow({ did, task }: Handled): Promise<void> {
    if (task === null || !['sent', 'created', 'resumed'].includes(did)) return
    // The note about the line has named the task.
    this.#latestTaskId = task.id
    this.#forgetEnded()
    if (this.#followed.has(task.id)) return
    // Shows what follows the message that was just sent; for a new task, what follows its goal.
    const after = await lastUserPosition(this.#engine, task.id)
    const answers = new AnswerStream(this.#listenerFor(task), { showsAll: false })
    const take = (item: StreamItem) => (this.#options.json ? this.#options.json(item) : answers.take(item))
    this.#followed.set(task.id, { answers, stream: followStream(this.#engine, task.id, after, take) })
  }

  #forgetEnded(): void {
    for (const [id, { stream }] of this.#followed) if (stream.ended) this.#followed.delete(id)
  }

  #listenerFor(task: Task): Listener {
    const { listener } = this.#options
    const introduce = () => {
      if (this.#latestTaskId !== undefined && this.#latestTaskId !== task.id) listener.note(`${taskLabel(task)}:`)
      this.#latestTaskId = task.id
    }
    return {
      text(piece) {
        introduce()
        listener.text(piece)
      },
      note(text) {
        introduce()
        listener.note(text)
      },
    }
  }
}

/** Lines that report what was done. */
function handledText({ did, task, tasks = [], reason }: Handled): string[] {
  const label = task === null ? '' : taskLabel(task)
  const because = reason === undefined ? '' : `: ${cleanLine(reason)}`
  switch (did) {
    case 'created':
      return [`new task ${label} (@${task?.id ?? ''})`]
    case 'sent':
      return [`to ${label}`]
    case 'paused':
    case 'resumed':
    case 'canceled':
    case 'updated':
      return [`${label} ${did}`]
    case 'listed':
      return tasks.length === 0
        ? ['no tasks']
        : tasks.map((each) => `${taskLabel(each)} ${stateLabel(each)} (@${each.id})`)
    case 'status':
      return task === null ? [] : [`${label} is ${stateLabel(task)}`, ...resultLines(task)]
    case 'nothing':
      return [`nothing was done${because}`]
  }
}

function resultLines({ result }: Task): string[] {
  return typeof result === 'string' ? cleanText(result).split('\n') : []
}

function handledJson({ task, tasks, ...handled }: Handled): Record<string, unknown> {
  return { ...handled, taskId: task?.id ?? null, taskIds: tasks?.map(({ id }) => id) }
}
