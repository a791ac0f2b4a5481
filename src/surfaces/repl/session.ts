// One session of the REPL: calls of the engine and its abilities, the tasks that the session has used, and how users name tasks.

import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { Task, TaskStatus } from '../../entities/task.ts'
import type { TaskRow } from '../../operations/views/task-row.ts'
import { misuse } from '../terminal/arguments.ts'
import { namedTask } from '../terminal/named-task.ts'
import { namingTask } from '../terminal/terminal-errors.ts'
import type { Printer } from './printer.ts'
import { shownValue } from './shown-value.ts'

/** The caller of all abilities in a session. */
export const sessionCaller = { surface: 'repl' } as const
/** The maximum of `task:list`. */
const maxPageSize = 5_000

/** Which events are printed at the prompt: none, those of the tasks of this session, or all. */
export type Loudness = 'quiet' | 'own' | 'all'

/** The definition of a command: its usage, its summary, its completion, and its function. */
export interface ReplVerb {
  /** Without the slash: `cancel TASK [REASON]`. */
  usage: string
  summary: string
  /** Candidates for the last word of what is typed after the verb; the caller removes those that do not match. */
  complete?(session: Session, typed: string): Promise<readonly string[]>
  /** Runs the command and prints its output. `rest` is the text after the verb. */
  run(session: Session, rest: string, signal: AbortSignal): Promise<void>
}

export type ReplVerbs = Readonly<Record<string, ReplVerb>>

export class Session {
  readonly engine: Engine
  readonly printer: Printer
  readonly clock: Clock
  /** Whether a user is at the terminal, who can interrupt a long wait. */
  readonly interactive: boolean
  loudness: Loudness = 'own'
  /** The task whose stream is being printed, so that its events are not. */
  followed: string | undefined
  /** The task that the session used last: `$`. */
  last: Task | undefined
  /** Set by `/exit`. */
  over = false
  /** The tasks of this session, with their last printed state. */
  readonly #own = new Map<string, { status: TaskStatus }>()
  /** Tasks that a command is changing now, which prints their new state itself. */
  readonly #changing = new Set<string>()

  constructor({ engine, printer, clock, interactive }: Pick<Session, 'engine' | 'printer' | 'clock' | 'interactive'>) {
    this.engine = engine
    this.printer = printer
    this.clock = clock
    this.interactive = interactive
  }

  async call<T>(abilityId: string, input: unknown = {}, signal?: AbortSignal): Promise<T> {
    return (await this.engine.bus.call(abilityId, input, { caller: sessionCaller, signal })) as T
  }

  /** Ends without an error when the signal aborts. */
  async *stream<T>(abilityId: string, input: unknown, signal?: AbortSignal): AsyncGenerator<T, void, undefined> {
    try {
      yield* this.engine.bus.stream(abilityId, input, { caller: sessionCaller, signal }) as AsyncGenerator<
        T,
        void,
        undefined
      >
    } catch (error) {
      if (!signal?.aborted) throw error
    }
  }

  /** A value, formatted for people. */
  shown(value: unknown, colors = false): string {
    return shownValue(value, { now: this.clock.now(), columns: this.printer.columns, colors })
  }

  /** Adds a task to the session, so that its changes are printed. */
  touch(task: Task): Task {
    this.last = task
    this.#own.set(task.id, { status: task.status })
    return task
  }

  /** Changes a task, and returns the changed one, or what became of it. A refusal names it by its number. */
  async change<T extends Task | string = Task>(
    task: Task,
    act: (session: Session, task: Task) => Promise<T>,
  ): Promise<T> {
    this.#changing.add(task.id)
    try {
      const changed = await namingTask(task, () => act(this, task))
      if (typeof changed !== 'string') this.touch(changed)
      return changed
    } finally {
      this.#changing.delete(task.id)
    }
  }

  /** Whether a state of a task has not been printed yet; remembers it. */
  isChange(taskId: string, status: TaskStatus | undefined): boolean {
    const own = this.#own.get(taskId)
    if (this.#changing.has(taskId) || own?.status === status) return false
    if (own !== undefined && status !== undefined) own.status = status
    return true
  }

  /** Whether the session has used the task. */
  owns(taskId: string): boolean {
    return this.#own.has(taskId)
  }

  /**
   * Finds a task by `$` (the last one), its number with or without `#`, its id or any unique prefix of it, or its name if it is
   * unique.
   * @throws ErrandError NOT_FOUND, or INVALID_INPUT { candidates } when several tasks fit.
   */
  async find(ref: string | undefined): Promise<Task> {
    if (ref === undefined || ref === '') throw misuse('The task is missing. Name it by its number, its id or its name.')
    const task = ref === '$' ? await this.#lastTask() : await this.#named(ref)
    if (task !== null) return this.touch(task)
    throw new ErrandError(
      'NOT_FOUND',
      `There is no task ${ref}. Name a task by its number, its id (or any unique prefix of it), or its name; /ps all lists them.`,
      { taskId: ref },
    )
  }

  /** The position of the latest event in the feed. */
  async position(): Promise<number> {
    return (await this.call<{ seq: number }>('event:list', { before: Number.MAX_SAFE_INTEGER, limit: 1 })).seq
  }

  /** All rows that match the filter, oldest first. */
  async rows(filter: Record<string, unknown> = {}): Promise<TaskRow[]> {
    const rows: TaskRow[] = []
    let after: number | null = 0
    while (after !== null) {
      const page: { tasks: TaskRow[]; next: number | null } = await this.call('task:list', {
        ...filter,
        after,
        limit: maxPageSize,
      })
      rows.push(...page.tasks)
      after = page.next
    }
    return rows
  }

  async #lastTask(): Promise<Task | null> {
    return this.last === undefined ? null : await this.engine.get(this.last.id)
  }

  /** A number is never taken as the prefix of an id. */
  async #named(ref: string): Promise<Task | null> {
    if (!/^#?\d+$/.test(ref)) return await namedTask(this.engine, ref)
    return await this.engine.find(ref.startsWith('#') ? ref : `#${ref}`)
  }
}
