// A chat as tasks. The task of a turn accepts messages while it is open; a message after it has completed creates the next task, which
// gets the results of the previous ones.
import { createHash } from 'node:crypto'
import type { AbilityTypes, InputOfAbility, OutputOfAbility } from '../../bus/ability-types.ts'
import type { Bus } from '../../bus/bus.ts'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { isSettled, type TaskStatus } from '../../entities/task.ts'
import { keyPrefixes } from '../../operations/task/keys.ts'
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
    if (last === undefined) return this.#begin([], 0, request, task)
    const own = await this.#tasks(this.#messagePrefix(messageId))
    const isOwn = own.some(({ id }) => id === last.id)
    // A repeated request is answered by the task that it created.
    if (!isAgain && isOwn && (await this.#isOf(last.id, request))) return last.id
    if (isAgain && last.status === 'failed' && (isOwn || own.length === 0)) {
      await this.#call('task:retry', { taskId: last.id })
      return last.id
    }
    // An edited message, or one that is answered again: it replaces its turn and those after it.
    const replaced = own.at(-1)
    if (replaced !== undefined) return this.#begin(await this.#before(replaced), tasks.length, request, task)
    if (isSettled(last.status) && last.status !== 'failed') {
      const previous = last.status === 'completed' ? [last] : []
      return this.#begin([...(await this.#before(last)), ...previous], isAgain ? tasks.length : 0, request, task)
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

  /** @param count of the turns so far if the message has had a turn or may have one with the same text; else 0. */
  async #begin(previous: Row[], count: number, request: ChatRequest, task: TurnTask): Promise<string> {
    const blockedBy = previous.slice(-maxRemembered).map(({ id }) => id)
    const input = { ...task, goal: request.text, tags: ['chat'], blockedBy }
    return (await this.#call('task:create', input, `${this.#turnPrefix(request)}${count}`)).taskId
  }

  /** The completed turns whose results this turn got, oldest first: a replaced turn is not among those of later ones. */
  async #before({ id }: Row): Promise<Row[]> {
    const { dependencies } = await this.#call('task:get', { taskId: id })
    return dependencies.filter(({ status }) => status === 'completed').sort((a, b) => a.seq - b.seq)
  }

  async #tasks(keyPrefix = this.#keyPrefix): Promise<Row[]> {
    const rows: Row[] = []
    for (let after: number | null = 0; after !== null; ) {
      const page: TaskPage = await this.#call('task:list', { keyPrefix, after })
      rows.push(...page.tasks)
      after = page.next
    }
    return rows
  }

  /** The keys of all turns that a message has started. */
  #messagePrefix(messageId: string): string {
    return `${this.#keyPrefix}${hashOf([messageId])}:`
  }

  /** The keys of those with the same text: `useChat` keeps the id of a message that is edited. */
  #turnPrefix({ messageId, text }: ChatRequest): string {
    return `${this.#messagePrefix(messageId)}${hashOf([text])}:`
  }

  async #isOf(taskId: string, request: ChatRequest): Promise<boolean> {
    const { key } = (await this.#call('task:get', { taskId })).task
    return key?.startsWith(this.#turnPrefix(request)) ?? false
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
