// s07's TaskManager: tasks as JSON texts, their dependencies, and the list that an agent reads. Each method is one request to the board
// of its engine.

import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { requireStatus } from '../../board/board-tools.ts'
import { mirrorBoard } from '../../board/mirror/board-folders.ts'
import { isEmptyReport, type MirrorReport } from '../../board/mirror/mirror-report.ts'
import { taskText } from '../../board/task-json.ts'
import { ErrandError } from '../../core/errors.ts'
import { guarded, safeReporter } from '../../core/guarded.ts'
import { parse } from '../../core/parse.ts'
import { describeError } from '../../core/stored-error.ts'
import { typeName } from '../../core/type-name.ts'
import { createEngine } from '../../engine/create-engine.ts'
import type { Engine, EngineOptions } from '../../engine/engine-api.ts'
import { type BoardRef, type BoardStatus, type BoardTask, mainBoard } from '../../entities/board.ts'
import { findLedger } from '../../ledger/find-ledger.ts'
import { judgeLedger, untrusted } from '../../ledger/trust.ts'

/** `pending`, `in_progress` and `completed`; `failed` and `deleted` for tasks that ended otherwise. */
export type TaskStatus = BoardStatus

export interface TaskManagerOptions extends FolderOptions {
  /**
   * Name of the agent: owner of the tasks that it sets in_progress. Default: none, as in s07, where a task in progress has no owner and
   * any client may complete it.
   */
  as?: string
  /** The board. Default `main`: all tasks of the ledger. */
  board?: string
}

const functionSchema = <F>(shape: string) =>
  z.custom<F>((value) => typeof value === 'function', `expected a function ${shape}`)

const word = z.string().trim().min(1).max(100)
const optionsSchema = z.strictObject({
  as: word.optional(),
  board: word.default(mainBoard),
  ledger: z.union([z.string().min(1), z.custom<object>((value) => typeName(value) === 'object')]).optional(),
  onError: functionSchema<NonNullable<FolderOptions['onError']>>('(error, context)').optional(),
  onReport: functionSchema<NonNullable<FolderOptions['onReport']>>('(report)').optional(),
})

/** The default folder, as in s07. */
const defaultFolder = '.tasks'

/** How the tools call the board, by manager. */
const boardCalls = new WeakMap<TaskManager, (abilityId: string, input: unknown) => Promise<unknown>>()

/** @throws ErrandError INVALID_INPUT for a value that is not a TaskManager. */
export function boardCallOf(manager: TaskManager): (abilityId: string, input: unknown) => Promise<unknown> {
  const boardCall = typeName(manager) === 'object' ? boardCalls.get(manager) : undefined
  if (boardCall !== undefined) return boardCall
  throw new ErrandError('INVALID_INPUT', `Expected a TaskManager or an engine, got ${typeName(manager)}.`, {})
}

/** Whether a value is an engine. */
export function isEngine(value: unknown): value is Engine {
  return typeName(value) === 'object' && typeof (value as Engine).create === 'function' && 'bus' in (value as Engine)
}

/**
 * Tasks that outlive a conversation, on a board that other agents, people and the command line share.
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
   * Uses a given engine, or a folder: then the manager opens its own engine on first use, and mirrors the board as files `task_N.json`,
   * one per task, in both directions.
   * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT
   */
  constructor(target: Engine | string = defaultFolder, options: TaskManagerOptions = {}) {
    const { as, board, ledger, onError, onReport } = parse(optionsSchema, options, 'TaskManager')
    this.#board = board
    this.#as = as
    this.#backing = new TaskBacking(
      isEngine(target) ? target : { dir: folderOf(target), board, ledger, onError, onReport },
    )
    if (isEngine(target) && (ledger ?? onError ?? onReport) !== undefined) {
      const message =
        'An engine has its own ledger and error handler: pass `ledger`, `onError` and `onReport` only with a folder.'
      throw new ErrandError('INVALID_INPUT', message, {})
    }
    boardCalls.set(this, (abilityId, input) => this.#call(abilityId, input))
  }

  /** Creates a pending task without an owner and resolves to its JSON text. Its number is the next one of the board. */
  async create(subject: string, description = ''): Promise<string> {
    return this.#task('board:create', { subject, description })
  }

  /** Resolves to the JSON text of a task. @throws Error `Task 9 not found` */
  async get(id: BoardRef): Promise<string> {
    return this.#task('board:get', { id })
  }

  /**
   * Changes the status, edges, or both in one step and resolves to the JSON text of the task. A completed task is removed from the
   * `blockedBy` of all others; `unblocked` lists those that this unblocked.
   * @throws Error `Task 9 not found`, `Invalid status: x`, and refusals of the board: a blocked task cannot be started, a completed one
   *   not reopened, and edges may not form a cycle. Nothing is changed then.
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

  /** Deletes a task; no task waits for it any more, and its number is not assigned again. */
  async delete(id: BoardRef): Promise<string> {
    const { id: number } = (await this.#call('board:delete', { id })) as { id: BoardRef }
    return `Task ${number} deleted`
  }

  /** Resolves to one line per task: `[ ] #2: Write code (blocked by: [1])`; `No tasks.` for an empty board. */
  async listAll(): Promise<string> {
    return ((await this.#call('board:list', { limit: 10_000 })) as { text: string }).text
  }

  /** `listAll` under its Python name. */
  list_all(): Promise<string> {
    return this.listAll()
  }

  /** Opens the engine and the mirror; otherwise the first use does. */
  async open(): Promise<this> {
    await this.#backing.open()
    return this
  }

  /** Closes the manager's own engine and mirror; the files stay. A given engine stays open. */
  close(): Promise<void> {
    return this.#backing.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #task(abilityId: string, input: Record<string, unknown>): Promise<string> {
    return taskText((await this.#call(abilityId, input)) as { task: BoardTask })
  }

  /** Brings the files in step before the call, and after a change. */
  async #call(abilityId: string, input: unknown): Promise<unknown> {
    const { engine, sync } = await this.#backing.open()
    await sync()
    const caller = { surface: 's07', ...(this.#as === undefined ? {} : { owner: this.#as }) }
    const given = typeName(input) === 'object' ? { board: this.#board, ...(input as object) } : input
    const result = await engine.bus.call(abilityId, given, { caller })
    if (!readingAbilities.has(abilityId)) await sync()
    return result
  }
}

const readingAbilities = new Set(['board:get', 'board:list'])

function folderOf(target: unknown): string {
  if (typeof target === 'string' && target.trim() !== '') return target
  throw new ErrandError(
    'INVALID_INPUT',
    `TaskManager needs an engine or the path of a folder, got ${target === '' ? 'an empty path' : typeName(target)}.`,
    {},
  )
}

/** Opens a manager on a folder: existing files become its tasks, under their own numbers. */
export function openTaskManager({
  dir = defaultFolder,
  ...options
}: TaskManagerOptions & { dir?: string } = {}): Promise<TaskManager> {
  return new TaskManager(dir, options).open()
}

// The engine of a task manager: a given one, or its own on a ledger beside the folder, which mirrors the board.

interface FolderOptions {
  /** Only with a folder: the ledger, as a path or a Ledger. Default: `.errand/ledger.db` beside the folder. */
  ledger?: string | object
  /** Only with a folder: receives errors that no caller receives. Default: `console.error`. */
  onError?: NonNullable<EngineOptions['onError']>
  /**
   * Only with a folder: receives the report of each pass over the files: written, imported, refused. Default: refused and skipped files
   * are passed to `onError`.
   */
  onReport?: (report: MirrorReport) => void
}

/** A folder and the ledger that it mirrors. */
interface TaskFolder extends FolderOptions {
  dir: string
  board: string
}

/** An engine, with the folder that mirrors its board, if there is one. */
interface OpenBoard {
  engine: Engine
  /** Brings the folder and the board in step. */
  sync(): Promise<void>
  /** Closes what was opened for the manager. */
  close(): Promise<void>
}

/** Opens the engine on first use; after a failure the next use tries again. */
class TaskBacking {
  readonly #target: Engine | TaskFolder
  #opened: Promise<OpenBoard> | undefined
  #closed = false

  constructor(target: Engine | TaskFolder) {
    this.#target = target
  }

  async open(): Promise<OpenBoard> {
    if (this.#closed) {
      throw new ErrandError('ENGINE_CLOSED', 'The task manager is closed. Create a new one on the same folder.', {})
    }
    if (!isFolder(this.#target)) return { engine: this.#target, sync: async () => {}, close: async () => {} }
    this.#opened ??= openFolder(this.#target).catch((error: unknown) => {
      this.#opened = undefined
      throw error
    })
    return this.#opened
  }

  /** Closes what was opened here; a given engine stays open. */
  async close(): Promise<void> {
    this.#closed = true
    const opened = await this.#opened?.catch(() => undefined)
    await opened?.close()
  }
}

function isFolder(target: Engine | TaskFolder): target is TaskFolder {
  return 'dir' in target
}

async function openFolder({ dir, ledger, board, onError, onReport }: TaskFolder): Promise<OpenBoard> {
  const engine = (await createEngine({
    ledger: ledger ?? ledgerOf(dir),
    // This engine only commands; another one runs the executors of this ledger.
    work: false,
    onError,
  } as Parameters<typeof createEngine>[0])) as unknown as Engine
  try {
    const reportError = safeReporter(onError ?? ((error) => console.error('errand:', describeError(error))))
    const complain = ({ refused, skipped }: MirrorReport): void => {
      for (const { file, why } of [...refused, ...skipped]) {
        reportError(new ErrandError('INVALID_INPUT', `${file} was not imported: ${why}`, { file }), {
          doing: 'mirror',
          dir,
        })
      }
    }
    const show = (report: MirrorReport): void => {
      if (isEmptyReport(report)) return
      guarded(
        () => (onReport ?? complain)(report),
        (error) => reportError(error, { doing: 'report on the mirror', dir }),
      )
    }
    const mirror = await mirrorBoard(engine, { dir, board, onReport: show })
    const sync = async (): Promise<void> => show(await mirror.sync())
    await sync()
    return {
      engine,
      sync,
      async close() {
        await mirror.close()
        await engine.close()
      },
    }
  } catch (error) {
    await engine.close()
    throw error
  }
}

/**
 * The ledger that the command line finds for the folder, so that both share a board: `.errand/ledger.db` beside the folder or above, else
 * the repository's in `.git`, else a new `.errand/ledger.db`.
 */
function ledgerOf(dir: string): string {
  const ledger = findLedger(dirname(resolve(dir)), process.env)
  const trust = judgeLedger(ledger, process.env)
  if (trust.verdict !== 'trusted') throw untrusted(ledger, trust)
  mkdirSync(dirname(ledger), { recursive: true, mode: 0o700 })
  return ledger
}
