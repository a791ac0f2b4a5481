// A chat as tasks: each turn is worked on by one, which takes messages as long as it is open; what is said after it has completed
// begins another, which is given what the ones before it came to.
import { createHash } from 'node:crypto'
import { keyPrefixes } from '../../abilities/task/keys.ts'
import type { AbilityTypes, InputOfAbility, OutputOfAbility } from '../../bus/ability-types.ts'
import type { Bus } from '../../bus/bus.ts'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { isSettled, type TaskStatus } from '../../entities/task.ts'
import type { ChatRequest } from './chat-request.ts'

/** What a turn may be created with, beside what makes it one of the chat: fields of `task:create`. */
export type TurnTask = Readonly<Record<string, unknown>>

type TaskPage = OutputOfAbility<'task:list'>
type Row = TaskPage['tasks'][number]

/** The task that answers, and the position of the last thing that somebody said to it: told from there on, it is the same message. */
export interface Answering {
  taskId: string
  after: number
}

/** Results of so many turns are given to the next one. */
const maxRemembered = 50
const pageSize = 1_000
/** A task that ends again and again in the very moment in which it is told something is not one to talk to. */
const maxTries = 10

export class ChatTurns {
  readonly #bus: Bus
  readonly #caller: Caller
  /**
   * How the keys of all tasks of the chat begin, and no others: made of its owner and its id, whatever letters these have. Nobody else
   * can give a task such a key.
   */
  readonly #keyPrefix: string

  constructor(bus: Bus, caller: Caller, chatId: string) {
    this.#bus = bus
    this.#caller = caller
    this.#keyPrefix = `${keyPrefixes.chat}${hashOf([caller.owner ?? '', chatId])}:`
  }

  /** By the task of the latest turn, if something goes on with it. */
  async goingOn(): Promise<Answering | undefined> {
    const last = (await this.#tasks()).at(-1)
    return last !== undefined && isActive(last.status) ? this.#answering(last.id) : undefined
  }

  /** Does what was asked. */
  async say(request: ChatRequest, task: TurnTask): Promise<Answering> {
    for (let tries = 0; tries < maxTries; tries++) {
      const tasks = await this.#tasks()
      const taskId = await this.#sayTo(tasks.at(-1), tasks, request, task)
      // It ended in the very moment: look again.
      if (taskId !== undefined) return this.#answering(taskId)
    }
    throw new ErrandError(
      'LIMIT_EXCEEDED',
      `The message could not be said: ${maxTries} times in a row the task of the chat ended just then. Say it again.`,
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
    // The same request again: what it began answers it.
    if (!isAgain && (await this.#keyOf(last.id)) === this.#turnKey(messageId, 0)) return last.id
    if (isSettled(last.status) && last.status !== 'failed') return this.#begin(tasks, request, task)
    if (isAgain && last.status === 'failed') {
      await this.#call('task:retry', { taskId: last.id })
      return last.id
    }
    try {
      await this.#call('task:send', { taskId: last.id, message: text, retry: true })
    } catch (error) {
      // It has ended meanwhile, and takes no more messages.
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

  /** Of the turn that a message began; one that is said again after other turns begins another. */
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

/** Nobody has to set it going. */
function isActive(status: TaskStatus): boolean {
  return !isSettled(status) && status !== 'input_required' && status !== 'paused'
}

function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
