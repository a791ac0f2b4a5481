// One session of the REPL: the engine and its abilities as this session calls them, the tasks that it has been about so far, how people
// name tasks, and what a command is.
import type { TaskRow } from '../../abilities/views/task-row.ts'
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import type { Engine } from '../../engine-api.ts'
import type { Task, TaskStatus } from '../../entities/task.ts'
import { misuse } from '../../terminal/arguments.ts'
import type { Printer } from './printer.ts'
import { shownValue } from './shown-value.ts'

/** Who calls in a session. */
export const sessionCaller = { surface: 'repl' } as const
/** As many as one page of rows may hold. */
const maxPageSize = 5_000

/** What is told of events while nobody asks: nothing, what happens to the tasks of this session, or everything. */
export type Loudness = 'quiet' | 'own' | 'all'

/** What a command is: one entry says how it is written, what it does, what TAB offers, and does it. */
export interface ReplVerb {
  /** Without the slash: `cancel TASK [REASON]`. */
  usage: string
  summary: string
  /** Whole words that may stand at the end of what is typed after the verb; those that do not fit are left out by whoever asks. */
  complete?(session: Session, typed: string): Promise<readonly string[]>
  /** Carries it out and prints what came of it. `rest` is all that follows the verb. */
  run(session: Session, rest: string, signal: AbortSignal): Promise<void>
}

export type ReplVerbs = Readonly<Record<string, ReplVerb>>

export class Session {
  readonly engine: Engine
  readonly printer: Printer
  readonly clock: Clock
  /** Somebody sits there, and can interrupt what takes too long. */
  readonly interactive: boolean
  loudness: Loudness = 'own'
  /** The task whose stream is being told: its events need no telling. */
  followed: string | undefined
  /** The task that the session was about last: `$`. */
  last: Task | undefined
  /** Set by `/exit`. */
  over = false
  /** What was told last of the tasks of this session. */
  readonly #own = new Map<string, { number: string; status: TaskStatus }>()
  /** Tasks that a command is changing now: it will say itself what has become of them. */
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

  /** To let go of a stream, by the signal, is no failure: it ends. */
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

  /** A value as people read it. */
  shown(value: unknown, colors = false): string {
    return shownValue(value, { now: this.clock.now(), columns: this.printer.columns, colors })
  }

  /** The session is about this task from now on: what happens to it is told. */
  touch(task: Task): Task {
    this.last = task
    this.#own.set(task.id, { number: `#${task.seq}`, status: task.status })
    return task
  }

  /** Changes a task, and gives it as it is then. */
  async change(task: Task, act: (session: Session, task: Task) => Promise<Task>): Promise<Task> {
    this.#changing.add(task.id)
    try {
      return this.touch(await act(this, task))
    } finally {
      this.#changing.delete(task.id)
    }
  }

  /** Whether a state that a task of this session has come to is news, which it is only once. */
  isChange(taskId: string, status: TaskStatus | undefined): boolean {
    const own = this.#own.get(taskId)
    if (this.#changing.has(taskId) || own?.status === status) return false
    if (own !== undefined && status !== undefined) own.status = status
    return true
  }

  /** How a task of this session is numbered; undefined for any other. */
  numberOf(taskId: string): string | undefined {
    return this.#own.get(taskId)?.number
  }

  /**
   * The task that somebody names: by `$` (the last one), its number with or without `#`, its id or any unique beginning of it, or its
   * name where no other task has the same.
   * @throws ErrandError NOT_FOUND, or INVALID_INPUT { candidates } when several tasks fit.
   */
  async find(ref: string | undefined): Promise<Task> {
    if (ref === undefined || ref === '') throw misuse('Which task? A task is named by its number, its id or its name.')
    const task = ref === '$' ? await this.#lastTask() : await this.#named(ref)
    if (task !== null) return this.touch(task)
    throw new ErrandError(
      'NOT_FOUND',
      `There is no task ${ref}. A task is named by its number, its id (or any unique beginning of it), or its name; /ps all lists them.`,
      { taskId: ref },
    )
  }

  /** Where the feed stands: what comes after it has not happened yet. */
  async position(): Promise<number> {
    return (await this.call<{ seq: number }>('event:list', { before: Number.MAX_SAFE_INTEGER, limit: 1 })).seq
  }

  /** All rows that fit, the oldest first. */
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

  /** A number is nothing but a number: it must not hit a task whose id happens to begin like it. */
  async #named(ref: string): Promise<Task | null> {
    if (!/^#?\d+$/.test(ref)) return await this.#byIdOrName(ref)
    return await this.engine.find(ref.startsWith('#') ? ref : `#${ref}`)
  }

  async #byIdOrName(ref: string): Promise<Task | null> {
    let ambiguity: unknown
    try {
      const task = await this.engine.find(ref)
      if (task !== null) return task
    } catch (error) {
      // It may still be the name of one of them.
      ambiguity = error
    }
    const named = await this.#byName(ref)
    if (named === null && ambiguity !== undefined) throw ambiguity
    return named
  }

  async #byName(name: string): Promise<Task | null> {
    if (name.length > 500 || name.trim() === '') return null
    const named = (await this.rows({ text: name })).filter((row) => row.name === name)
    if (named.length > 1) {
      throw misuse(
        `${named.length} tasks are called ${name}: ${named.map(({ seq }) => `#${seq}`).join(', ')}. Name the one by its number.`,
        { candidates: named.map(({ id }) => id) },
      )
    }
    return named[0] === undefined ? null : await this.engine.get(named[0].id)
  }
}
