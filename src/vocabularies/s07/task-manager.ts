// s07's TaskManager: tasks as JSON texts, a graph of them, and the list that an agent reads. Each method is one request to the
// board of the engine behind it.
import { z } from 'zod'
import { requireStatus } from '../../board/board-tools.ts'
import { taskText } from '../../board/task-json.ts'
import { ErrandError } from '../../core/errors.ts'
import { kindOf, parse } from '../../core/parse.ts'
import type { Engine } from '../../engine-api.ts'
import { type BoardRef, type BoardStatus, type BoardTask, mainBoard } from '../../entities/board.ts'
import { type FolderOptions, TaskBacking } from './task-folder.ts'

/** `pending`, `in_progress` and `completed`; `failed` and `deleted` for tasks that ended without being completed. */
export type TaskStatus = BoardStatus

export interface TaskManagerOptions extends FolderOptions {
  /**
   * Name of the agent: owner of what it sets in_progress. Default: none, as in s07, where a task in progress is nobody's in
   * particular and anybody may complete it.
   */
  as?: string
  /** Which board. Default `main`: all tasks of the ledger. */
  board?: string
}

const functionSchema = <F>(shape: string) =>
  z.custom<F>((value) => typeof value === 'function', `expected a function ${shape}`)

const word = z.string().trim().min(1).max(100)
const optionsSchema = z.strictObject({
  as: word.optional(),
  board: word.default(mainBoard),
  ledger: z.union([z.string().min(1), z.custom<object>((value) => kindOf(value) === 'object')]).optional(),
  onError: functionSchema<NonNullable<FolderOptions['onError']>>('(error, context)').optional(),
  onReport: functionSchema<NonNullable<FolderOptions['onReport']>>('(report)').optional(),
})

/** The folder that s07 uses. */
const defaultFolder = '.tasks'

/** What a manager asks of the board, for the tools that stand on it. */
const lines = new WeakMap<TaskManager, (abilityId: string, input: unknown) => Promise<unknown>>()

/** @throws ErrandError INVALID_INPUT for what is no manager. */
export function lineOf(manager: TaskManager): (abilityId: string, input: unknown) => Promise<unknown> {
  const line = kindOf(manager) === 'object' ? lines.get(manager) : undefined
  if (line !== undefined) return line
  throw new ErrandError('INVALID_INPUT', `Expected a TaskManager or an engine, got ${kindOf(manager)}.`, {})
}

/** Whether something is what `createEngine` resolves to. */
export function isEngine(value: unknown): value is Engine {
  return kindOf(value) === 'object' && typeof (value as Engine).create === 'function' && 'bus' in (value as Engine)
}

/**
 * Tasks that outlive a conversation. They are those of a board: other agents, people and the command line see the same ones.
 *
 * @example
 * const TASKS = new TaskManager('.tasks')
 * await TASKS.create('Setup project')
 * await TASKS.create('Write code')
 * await TASKS.update(2, undefined, [1])
 * console.log(await TASKS.list_all())
 */
export class TaskManager {
  readonly #backing: TaskBacking
  readonly #board: string
  readonly #as: string | undefined

  /**
   * On an engine, or on a folder: then an engine of its own is opened with the first use, and the folder shows its board as
   * `task_N.json`, one file a task, and takes what is written there.
   * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT
   */
  constructor(place: Engine | string = defaultFolder, options: TaskManagerOptions = {}) {
    const { as, board, ledger, onError, onReport } = parse(optionsSchema, options, 'TaskManager')
    this.#board = board
    this.#as = as
    this.#backing = new TaskBacking(
      isEngine(place) ? place : { dir: folderOf(place), board, ledger, onError, onReport },
    )
    if (isEngine(place) && (ledger ?? onError ?? onReport) !== undefined) {
      const message = 'An engine has its ledger and its `onError` already: give a folder with them.'
      throw new ErrandError('INVALID_INPUT', message, {})
    }
    lines.set(this, (abilityId, input) => this.#call(abilityId, input))
  }

  /** The JSON text of the new task: pending, nobody's, its number the next one of the board. */
  async create(subject: string, description = ''): Promise<string> {
    return this.#task('board:create', { subject, description })
  }

  /** The JSON text of a task. @throws Error `Task 9 not found` */
  async get(id: BoardRef): Promise<string> {
    return this.#task('board:get', { id })
  }

  /**
   * A status, edges, or both in one step; the JSON text of the task as it is then. A completed task leaves the `blockedBy` of all
   * others, and `unblocked` says whom that freed.
   * @throws Error `Task 9 not found`, `Invalid status: x`, and what the board refuses: a blocked task is not begun, a completed
   *   one not opened again, no edge closes a circle. Nothing of it is done then.
   */
  async update(
    id: BoardRef,
    status?: TaskStatus | null,
    addBlockedBy?: readonly BoardRef[] | null,
    addBlocks?: readonly BoardRef[] | null,
    removeBlockedBy?: readonly BoardRef[] | null,
  ): Promise<string> {
    if (status != null) requireStatus({ status })
    const given = { status, addBlockedBy, addBlocks, removeBlockedBy }
    const patch = Object.fromEntries(Object.entries(given).filter(([, value]) => value != null))
    return this.#task('board:update', { id, ...patch })
  }

  /** Takes a task off the board for good; nothing waits for it any more, and its number is never given again. */
  async delete(id: BoardRef): Promise<string> {
    const { id: number } = (await this.#call('board:delete', { id })) as { id: BoardRef }
    return `Task ${number} deleted`
  }

  /** A line a task: `[ ] #2: Write code (blocked by: [1])`; `No tasks.` for an empty board. */
  async listAll(): Promise<string> {
    return ((await this.#call('board:list', { limit: 10_000 })) as { text: string }).text
  }

  /** The same under its Python name. */
  list_all(): Promise<string> {
    return this.listAll()
  }

  /** Opens what it stands on, which the first use does otherwise. */
  async open(): Promise<this> {
    await this.#backing.footing()
    return this
  }

  /** Closes an engine of its own, and ends the mirroring; the files stay. A given engine stays open. */
  close(): Promise<void> {
    return this.#backing.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #task(abilityId: string, input: Record<string, unknown>): Promise<string> {
    return taskText((await this.#call(abilityId, input)) as { task: BoardTask })
  }

  /** What the files say is looked at before, and what was done stands in them after. */
  async #call(abilityId: string, input: unknown): Promise<unknown> {
    const { engine, sync } = await this.#backing.footing()
    await sync()
    const caller = { surface: 's07', ...(this.#as === undefined ? {} : { owner: this.#as }) }
    const given = kindOf(input) === 'object' ? { board: this.#board, ...(input as object) } : input
    const result = await engine.bus.call(abilityId, given, { caller })
    if (!readingAbilities.has(abilityId)) await sync()
    return result
  }
}

const readingAbilities = new Set(['board:get', 'board:list'])

function folderOf(place: unknown): string {
  if (typeof place === 'string' && place.trim() !== '') return place
  throw new ErrandError(
    'INVALID_INPUT',
    `TaskManager stands on an engine or the path of a folder, got ${place === '' ? 'an empty path' : kindOf(place)}.`,
    {},
  )
}

/** A manager on a folder, opened: files that are there already are its tasks, under their own numbers. */
export function openTaskManager({
  dir = defaultFolder,
  ...options
}: TaskManagerOptions & { dir?: string } = {}): Promise<TaskManager> {
  return new TaskManager(dir, options).open()
}
