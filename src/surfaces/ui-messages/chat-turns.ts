// A chat as tasks. The task of a turn accepts messages while it is open; a message after it has completed creates the next task, which
// gets the results of the previous ones.
import { createHash } from 'node:crypto'
import { keyPrefixes } from '../../abilities/task/keys.ts'
import type { AbilityTypes, InputOfAbility, OutputOfAbility } from '../../bus/ability-types.ts'
import type { Bus } from '../../bus/bus.ts'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { isSettled, type TaskStatus } from '../../entities/task.ts'
import type { ChatRequest } from './chat-request.ts'

/** Fields of `task:create` for the task of a turn, in addition to those that the chat sets. */
export type TurnTask = Readonly<Record<string, unknown>>

type TaskPage = OutputOfAbility<'task:list'>
type Row = TaskPage['tasks'][number]

/** The task that answers, and the feed position of the last message to it. Streaming from there yields the same response again. */
export interface Answering {
  taskId: string
  after: number
}

/** Number of previous turns whose results the next one gets. */
const maxRemembered = 50
const pageSize = 1_000
/** Limit for repeatedly sending to a task that ends at the same moment. */
const maxTries = 10

export class ChatTurns {
  readonly #bus: Bus
  readonly #caller: Caller
  /**
   * Prefix of the keys of all tasks of the chat, derived from its owner and id; both may contain any characters. Other clients cannot create
   * tasks with such a key.
   */
  readonly #keyPrefix: string

  constructor(bus: Bus, caller: Caller, chatId: string) {
    this.#bus = bus
    this.#caller = caller
    this.#keyPrefix = `${keyPrefixes.chat}${hashOf([caller.owner ?? '', chatId])}:`
  }

  /** The task of the latest turn, if it is still active. */
  async activeTurn(): Promise<Answering | undefined> {
    const last = (await this.#tasks()).at(-1)
    return last !== undefined && isActive(last.status) ? this.#answering(last.id) : undefined
  }

  /** Handles the request: sends the message, or creates the task of a new turn. */
  async send(request: ChatRequest, task: TurnTask): Promise<Answering> {
    for (let tries = 0; tries < maxTries; tries++) {
      const tasks = await this.#tasks()
      const taskId = await this.#sayTo(tasks.at(-1), tasks, request, task)
      // The task ended at the same moment: repeat.
      if (taskId !== undefined) return this.#answering(taskId)
    }
    throw new ErrandError(
      'LIMIT_EXCEEDED',
      `The message could not be sent: the task of the chat ended at the same moment, ${maxTries} times in a row. Send it again.`,
      { tries: maxTries },
    )
  }

  async #answering(taskId: string): Promise<Answering> {
    let before: number | null = Number.MAX_SAFE_INTEGER
    while (before !== null) {
      const page: OutputOfAbility<'event:list'> = await this.#call('event:list', { taskId, before, limit: pageSize })
      const said = page.events.find(({ type, data }) => type === 'message.appended' && data['role'] === 'user')
      if (said !== undefined) return { taskId, after: said.seq }
      before = page.next
    }
    return { taskId, after: 0 }
  }

  async #sayTo(last: Row | undefined, tasks: Row[], request: ChatRequest, task: TurnTask): Promise<string | undefined> {
    const { messageId, text, isAgain } = request
    if (last === undefined) return this.#begin(tasks, request, task)
    // A repeated request is answered by the task that it created.
    if (!isAgain && (await this.#keyOf(last.id)) === this.#turnKey(messageId, 0)) return last.id
    if (isSettled(last.status) && last.status !== 'failed') return this.#begin(tasks, request, task)
    if (isAgain && last.status === 'failed') {
      await this.#call('task:retry', { taskId: last.id })
      return last.id
    }
    try {
      await this.#call('task:send', { taskId: last.id, message: text, retry: true })
    } catch (error) {
      // The task has ended meanwhile and accepts no more messages.
      if (ErrandError.isInstance(error) && error.code === 'INVALID_TRANSITION') return undefined
      throw error
    }
    if (last.status === 'paused') await this.#call('task:resume', { taskId: last.id })
    return last.id
  }

  async #begin(tasks: Row[], { messageId, text, isAgain }: ChatRequest, task: TurnTask): Promise<string> {
    const completed = tasks.filter(({ status }) => status === 'completed').slice(-maxRemembered)
    const input = { ...task, goal: text, tags: ['chat'], blockedBy: completed.map(({ id }) => id) }
    const identity = this.#turnKey(messageId, isAgain ? tasks.length : 0)
    return (await this.#call('task:create', input, identity)).taskId
  }

  async #tasks(): Promise<Row[]> {
    const rows: Row[] = []
    for (let after: number | null = 0; after !== null; ) {
      const page: TaskPage = await this.#call('task:list', { keyPrefix: this.#keyPrefix, after })
      rows.push(...page.tasks)
      after = page.next
    }
    return rows
  }

  /** The key of the turn that a message starts. The same message after other turns starts a new one. */
  #turnKey(messageId: string, turnsBefore: number): string {
    return `${this.#keyPrefix}${hashOf([messageId, turnsBefore])}`
  }

  async #keyOf(taskId: string): Promise<string | null> {
    return (await this.#call('task:get', { taskId })).task.key ?? null
  }

  #call<K extends keyof AbilityTypes>(
    abilityId: K,
    input: InputOfAbility<K>,
    identity?: string,
  ): Promise<OutputOfAbility<K>> {
    return this.#bus.call(abilityId, input, { caller: this.#caller, identity })
  }
}

/** True if the task continues without an action from outside. */
function isActive(status: TaskStatus): boolean {
  return !isSettled(status) && status !== 'input_required' && status !== 'paused'
}

function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
