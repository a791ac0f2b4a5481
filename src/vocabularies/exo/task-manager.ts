// Exo's TaskManager: creating, reading and changing tasks. Each method is one request to the engine behind it.
import { z } from 'zod'
import { type Executor, isExecutor } from '../../api/executor.ts'
import { updateSchema } from '../../api/options.ts'
import { defined } from '../../core/defined.ts'
import { ErrandError } from '../../core/errors.ts'
import { kindOf, parse, requireText } from '../../core/parse.ts'
import type { Engine, EngineOptions } from '../../engine-api.ts'
import { type Task as EngineTask, taskStatuses } from '../../entities/task.ts'
import { askEngine, Backing, backManager, type TaskManagerOptions, withEngine } from './backing.ts'
import { workOf } from './exo-executor.ts'
import { listAll, promptKey, promptOf, type Task, type TaskStatus, toStored, viewOf } from './task.ts'
import { withExoErrors, withExoErrorsSync } from './task-error.ts'
import type { TaskEventBus } from './task-event-bus.ts'

const functionSchema = <F>(expected: string) => z.custom<F>((value) => typeof value === 'function', expected)

const objectWith = <T>(methods: string[], expected: string) =>
  z.custom<T>((value) => methods.every((method) => typeof (value as never)?.[method] === 'function'), expected)

const managerOptionsSchema = z
  .strictObject({
    eventBus: objectWith<TaskEventBus>(['emit'], 'expected a TaskEventBus').optional(),
    engine: objectWith<Engine>(['create', 'update', 'subscribe'], 'expected what createEngine resolves to').optional(),
    executor: z
      .custom<Executor>((value) => isExecutor(value) && workOf.has(value), 'expected what createExoExecutor returns')
      .optional(),
    ledger: z.union([z.string().min(1), z.custom<object>((value) => kindOf(value) === 'object')]).optional(),
    autoComplete: z.boolean().optional(),
    onError: functionSchema<NonNullable<EngineOptions['onError']>>('expected a function (error, context)').optional(),
  })
  .refine(
    ({ engine, ledger }) => !engine || ledger === undefined,
    'an engine has its ledger already: give one of the two',
  )
  .refine(({ engine, executor }) => engine || !executor, 'an executor is for an engine that you give as well')

export interface CreateTaskOptions {
  description?: string
  /** Higher runs first. Default 0. */
  priority?: number
  parentId?: string | null
  metadata?: Record<string, unknown>
}

export interface UpdateTaskOptions {
  /** Walks the one edge that leads there, or is refused. */
  status?: TaskStatus
  name?: string
  description?: string
  priority?: number
  /** Replaces what was there. */
  metadata?: Record<string, unknown>
}

const { name, description, priority, metadata, status } = updateSchema.shape
const createTaskSchema = z.strictObject({ description, priority, metadata, parentId: z.string().nullable().optional() })
const updateTaskSchema = z.strictObject({ status, name, description, priority, metadata })
const listTasksSchema = z.strictObject({ status: z.enum(taskStatuses).optional() })

/**
 * Creates, reads and changes tasks. A task that no scheduler has picked is worked on by hand, by `update({ status })`.
 *
 * @example
 * await using manager = new TaskManager({ ledger: 'tasks.db' })
 * const task = await manager.create('Research competitors', { priority: 5 })
 * await manager.update(task.id, { status: TaskStatus.WORKING })
 */
export class TaskManager {
  readonly #backing: Backing

  /** @throws TaskError UNKNOWN_OPTION, INVALID_INPUT. */
  constructor(options: TaskManagerOptions = {}) {
    this.#backing = withExoErrorsSync(() => new Backing(parse(managerOptionsSchema, options, 'new TaskManager')))
    backManager(this, this.#backing)
  }

  /** @throws TaskNotFoundError for an unknown parent; nothing is stored then. TaskError INVALID_INPUT, PARENT_CLOSED. */
  create(taskName: string, options: CreateTaskOptions = {}): Promise<Task> {
    return this.#ask(async (engine) => {
      const { parentId, metadata: given, ...rest } = parse(createTaskSchema, options, 'create')
      const { autoComplete } = this.#backing
      return engine.create({
        name: requireText(taskName, 'the name'),
        ...defined(rest),
        autoStart: true,
        parentId: parentId ?? undefined,
        metadata: given && toStored(given),
        autoComplete,
      })
    })
  }

  /** Null for an unknown id, and for a task that was deleted. */
  get(id: string): Promise<Task | null> {
    return withEngine(this.#backing, async (engine) => {
      const task = await engine.get(id)
      return task && viewOf(task)
    })
  }

  /**
   * New values, a new status, or both: all of it or nothing.
   * @throws TaskNotFoundError, InvalidTransitionError; TaskError HAS_EXECUTOR where only the run of a task may decide.
   */
  update(id: string, patch: UpdateTaskOptions): Promise<Task> {
    return this.#ask(async (engine) => {
      const { metadata: given, ...rest } = parse(updateTaskSchema, patch, 'update')
      const current = given !== undefined || rest.status === 'working' ? await engine.get(id) : null
      const wanted = defined({ ...rest, metadata: given && { ...toStored(given), ...promptOf(current) } })
      if (rest.status !== 'working' || current?.status !== 'input_required') return engine.update(id, wanted)
      // The engine's own update gives no answer, and this edge is taken by one.
      const { status: _status, ...fields } = wanted
      if (Object.keys(fields).length > 0) await engine.update(id, fields)
      return engine.answer(id, null)
    })
  }

  /** True if there was such a task. It is canceled first if it is live; its children become roots. */
  delete(id: string): Promise<boolean> {
    return withEngine(this.#backing, (engine) => engine.delete(id))
  }

  /** All tasks, or all in one state: by priority, the highest first, then the oldest first. */
  list(options: { status?: TaskStatus } = {}): Promise<Task[]> {
    return withExoErrors(async () => {
      const filter = parse(listTasksSchema, options, 'list')
      const engine = await this.#backing.engine()
      return (await listAll(engine, filter)).map(viewOf)
    })
  }

  /** Direct children only, sorted like `list`. @throws TaskNotFoundError for an unknown parent. */
  getChildren(id: string): Promise<Task[]> {
    return withEngine(this.#backing, async (engine) => (await engine.children(id)).map(viewOf))
  }

  /** All descendants without the root, flat, sorted like `list`. @throws TaskNotFoundError for an unknown root. */
  getSubtree(id: string): Promise<Task[]> {
    return withEngine(this.#backing, async (engine) => (await engine.subtree(id)).map(viewOf))
  }

  /**
   * WORKING → INPUT_REQUIRED; `prompt` is what the task shows meanwhile.
   *
   * A run of this manager ends by it, as if its executor had said `run.ask(prompt)`; with these words the next run gets the
   * answer. Resolves to the task as it is then: still WORKING if this very question was answered before.
   * @throws TaskNotFoundError, InvalidTransitionError; TaskError HAS_EXECUTOR when another process runs it.
   */
  requireInput(id: string, prompt: string): Promise<Task> {
    return this.#ask(async (engine) => {
      const text = requireText(prompt, 'the prompt')
      const run = this.#backing.worker.runs.get(id)
      if (run && !run.signal.aborted) {
        await run.ask(text).catch(ignoreEndOfRun)
        return (await engine.get(id)) as EngineTask
      }
      const current = await engine.get(id)
      return engine.update(id, { status: 'input_required', metadata: { ...current?.metadata, [promptKey]: text } })
    })
  }

  /**
   * INPUT_REQUIRED → WORKING: at once by hand, as soon as a slot is free for a task with an executor.
   * `data` is JSON; left out, it is null.
   * @throws TaskNotFoundError, InvalidTransitionError; TaskError INVALID_ANSWER, or NO_QUESTION when several are open.
   */
  provideInput(id: string, data: unknown = null): Promise<Task> {
    return this.#ask((engine) => engine.answer(id, data))
  }

  /** Closes an engine of its own, whose runs are let go; a given engine stays open. */
  close(): Promise<void> {
    return withExoErrors(() => this.#backing.close())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #ask(work: (engine: Engine) => Promise<EngineTask>): Promise<Task> {
    return askEngine(this.#backing, work)
  }
}

function ignoreEndOfRun(error: unknown): void {
  if (!ErrandError.isInstance(error) || error.code !== 'RUN_ENDED') throw error
}
