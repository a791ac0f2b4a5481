// Exo's TaskManager: creates, reads and changes tasks. Each method is one request to its engine.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { parse, requireText } from '../../core/parse.ts'
import { untilAborted } from '../../core/signals.ts'
import { typeName } from '../../core/type-name.ts'
import type { Engine, EngineOptions } from '../../engine/engine-api.ts'
import { type Executor, isExecutor } from '../../entities/executor.ts'
import { updateSchema } from '../../entities/options.ts'
import { type Task as EngineTask, taskStatuses } from '../../entities/task.ts'
import { Backing, backManager, callEngine, type TaskManagerOptions, withEngine } from './backing.ts'
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
    ledger: z.union([z.string().min(1), z.custom<object>((value) => typeName(value) === 'object')]).optional(),
    autoComplete: z.boolean().optional(),
    onError: functionSchema<NonNullable<EngineOptions['onError']>>('expected a function (error, context)').optional(),
  })
  .refine(
    ({ engine, ledger }) => !engine || ledger === undefined,
    'pass either `engine` or `ledger`: an engine has its own ledger',
  )
  .refine(({ engine, executor }) => engine || !executor, 'pass `executor` only together with `engine`')

export interface CreateTaskOptions {
  description?: string
  /** Higher runs first. Default 0. */
  priority?: number
  parentId?: string | null
  metadata?: Record<string, unknown>
}

export interface UpdateTaskOptions {
  /** Takes the one edge that leads to this status, or is refused. */
  status?: TaskStatus
  name?: string
  description?: string
  priority?: number
  /** Replaces the previous metadata. */
  metadata?: Record<string, unknown>
}

const { name, description, priority, metadata, status } = updateSchema().shape
const createTaskSchema = z.strictObject({ description, priority, metadata, parentId: z.string().nullable().optional() })
const updateTaskSchema = z.strictObject({ status, name, description, priority, metadata })
const listTasksSchema = z.strictObject({ status: z.enum(taskStatuses).optional() })

/**
 * Creates, reads and changes tasks. A task that no scheduler has picked is worked on by hand, with `update({ status })`.
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

  /** @throws TaskNotFoundError for an unknown parent; TaskError INVALID_INPUT, PARENT_CLOSED. Nothing is stored then. */
  create(taskName: string, options: CreateTaskOptions = {}): Promise<Task> {
    return this.#call(async (engine) => {
      const { parentId, metadata: given, ...rest } = parse(createTaskSchema, options, 'create')
      const { autoComplete } = this.#backing
      return engine.create({
        name: requireText(taskName, 'the name'),
        ...omitUndefined(rest),
        autoStart: true,
        parentId: parentId ?? undefined,
        metadata: given && toStored(given),
        autoComplete,
      })
    })
  }

  /** Null for an unknown id and for a deleted task. */
  get(id: string): Promise<Task | null> {
    return withEngine(this.#backing, async (engine) => {
      const task = await engine.get(id)
      return task && viewOf(task)
    })
  }

  /**
   * Changes fields, the status, or both, all or nothing.
   * @throws TaskNotFoundError, InvalidTransitionError; TaskError HAS_EXECUTOR if only the task's run may decide.
   */
  update(id: string, patch: UpdateTaskOptions): Promise<Task> {
    return this.#call(async (engine) => {
      const { metadata: given, ...rest } = parse(updateTaskSchema, patch, 'update')
      const current = given !== undefined || rest.status === 'working' ? await engine.get(id) : null
      const wanted = omitUndefined({ ...rest, metadata: given && { ...toStored(given), ...promptOf(current) } })
      if (rest.status !== 'working' || current?.status !== 'input_required') return engine.update(id, wanted)
      // This edge requires an answer, which the engine's `update` does not give.
      const { status: _status, ...fields } = wanted
      if (Object.keys(fields).length > 0) await engine.update(id, fields)
      return engine.answer(id, null)
    })
  }

  /** True if the task existed. A live task is canceled first; its children become roots. */
  delete(id: string): Promise<boolean> {
    return withEngine(this.#backing, (engine) => engine.delete(id))
  }

  /** Lists all tasks, or those with a status: highest priority first, then oldest first. */
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
   * WORKING → INPUT_REQUIRED; the task shows `prompt` meanwhile.
   *
   * Ends a run of this manager, as if its executor had called `run.ask(prompt)`; the next run receives the answer by the same prompt.
   * Resolves to the task: still WORKING if this question was answered before.
   * @throws TaskNotFoundError, InvalidTransitionError; TaskError HAS_EXECUTOR if another process runs it.
   */
  requireInput(id: string, prompt: string): Promise<Task> {
    return this.#call(async (engine) => {
      const text = requireText(prompt, 'the prompt')
      const run = this.#backing.worker.runs.get(id)
      if (run && !run.signal.aborted) {
        // The question of a suspended run never settles, but its signal aborts.
        await untilAborted(run.ask(text), run.signal).catch(ignoreEndOfRun)
        return (await engine.get(id)) as EngineTask
      }
      const current = await engine.get(id)
      return engine.update(id, { status: 'input_required', metadata: { ...current?.metadata, [promptKey]: text } })
    })
  }

  /**
   * INPUT_REQUIRED → WORKING: at once for a task worked on by hand, as soon as a slot is free for one with an executor.
   * `data` is JSON; default null.
   * @throws TaskNotFoundError, InvalidTransitionError; TaskError INVALID_ANSWER, or NO_QUESTION if several are open.
   */
  provideInput(id: string, data: unknown = null): Promise<Task> {
    return this.#call((engine) => engine.answer(id, data))
  }

  /** Closes the manager's own engine, which releases its runs; a given engine stays open. */
  close(): Promise<void> {
    return withExoErrors(() => this.#backing.close())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #call(work: (engine: Engine) => Promise<EngineTask>): Promise<Task> {
    return callEngine(this.#backing, work)
  }
}

function ignoreEndOfRun(error: unknown): void {
  if (!ErrandError.isInstance(error) || error.code !== 'RUN_ENDED') throw error
}
