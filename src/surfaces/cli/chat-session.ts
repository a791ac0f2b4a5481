// A conversation with an engine: each line goes where `engine.handle` sends it, what was done is said, and whatever the agents of the
// tasks it touched say from then on is told.

import { ErrandError } from '../../core/errors.ts'
import { Notifier } from '../../core/notifier.ts'
import type { Engine, StreamItem } from '../../engine-api.ts'
import type { Task } from '../../entities/task.ts'
import { isActive, openTasks, waitUntilIdle } from '../../plans/idle.ts'
import type { Handled } from '../../routing/handle.ts'
import { AnswerStream, type Listener } from '../../terminal/answer-stream.ts'
import { modelFailure } from '../../terminal/event-fields.ts'
import { stateLabel, taskLabel } from '../../terminal/task-labels.ts'
import { cleanLine, cleanText } from '../../terminal/terminal-text.ts'
import { type FollowedStream, followStream, lastToldPosition } from './stream-position.ts'

export interface ChatOptions {
  /** Whether a line may be a wish (pause, cancel, list, …) rather than a message. */
  intent: boolean
  /** What agents say, and notes. */
  listener: Listener
  /** In place of words: values, for programs. */
  json?: ((value: unknown) => void) | undefined
  signal: AbortSignal
}

export class ChatSession {
  readonly #engine: Engine
  readonly #options: ChatOptions
  readonly #followed = new Map<string, { stream: FollowedStream; told: AnswerStream }>()
  /** Rung by every event. */
  readonly #bell = new Notifier()
  readonly #unsubscribe: () => void
  /** Who spoke last: another one is introduced. */
  #speaker: string | undefined

  constructor(engine: Engine, options: ChatOptions) {
    this.#engine = engine
    this.#options = options
    this.#unsubscribe = engine.subscribe('*', (event) => {
      if (event.type === 'model.failed') this.#followed.get(event.taskId)?.told.note(modelFailure(event))
      this.#bell.notify()
    })
  }

  /** Resolves when it is known what the line was for, and done; the answers follow. Refusals are told, not thrown. */
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
    else for (const words of handledText(handled)) listener.note(words)
    await this.#follow(handled)
  }

  /** Resolves when nothing goes on with what was talked about, and all of it has been told; or when the user wants to stop. */
  async quiet(): Promise<void> {
    const { signal } = this.#options
    const [engine, bell] = [this.#engine, this.#bell]
    await waitUntilIdle({ engine, bell, signal, isActive: async () => await isActive(engine, await this.open()) })
    if (signal.aborted) return
    for (const { stream, told } of this.#followed.values()) {
      await stream.caughtUp()
      told.end()
    }
    this.#forgetEnded()
  }

  /** Open tasks that this conversation was about. */
  async open(): Promise<Task[]> {
    return await openTasks(this.#engine, [...this.#followed.keys()])
  }

  async end(): Promise<void> {
    this.#unsubscribe()
    await Promise.all([...this.#followed.values()].map(({ stream }) => stream.end()))
  }

  async #follow({ did, task }: Handled): Promise<void> {
    if (task === null || !['sent', 'created', 'resumed'].includes(did)) return
    // It has just been named.
    this.#speaker = task.id
    this.#forgetEnded()
    if (this.#followed.has(task.id)) return
    // From what was just said to it on; of a new task that is its goal.
    const after = await lastToldPosition(this.#engine, task.id)
    const told = new AnswerStream(this.#voiceOf(task), { showsAll: false })
    const take = (item: StreamItem) => (this.#options.json ? this.#options.json(item) : told.take(item))
    this.#followed.set(task.id, { told, stream: followStream(this.#engine, task.id, after, take) })
  }

  #forgetEnded(): void {
    for (const [id, { stream }] of this.#followed) if (stream.ended) this.#followed.delete(id)
  }

  #voiceOf(task: Task): Listener {
    const { listener } = this.#options
    const introduce = () => {
      if (this.#speaker !== undefined && this.#speaker !== task.id) listener.note(`${taskLabel(task)}:`)
      this.#speaker = task.id
    }
    return {
      text(piece) {
        introduce()
        listener.text(piece)
      },
      note(words) {
        introduce()
        listener.note(words)
      },
    }
  }
}

/** What was done, for people. */
export function handledText({ did, task, tasks = [], reason }: Handled): string[] {
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
