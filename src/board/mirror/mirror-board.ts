// The live mirror of a board: follows the ledger and the folder, and brings them in step when either changes.
import { type FSWatcher, watch } from 'node:fs'
import { z } from 'zod'
import type { Duration } from '../../core/duration.ts'
import { durationSchema } from '../../core/duration-schema.ts'
import { ErrandError } from '../../core/errors.ts'
import { guarded } from '../../core/guarded.ts'
import { parse } from '../../core/parse.ts'
import { sleep } from '../../core/signals.ts'
import { mainBoard } from '../../entities/board.ts'
import type { BoardTarget } from '../board-host.ts'
import { loadBoard, numberNewTasks } from '../numbering.ts'
import { type MirrorLease, releaseLease } from './election.ts'
import { allWritten } from './file-texts.ts'
import { createFolderFiles, type FolderFiles, openFolder } from './folder-files.ts'
import { FolderSync, type PassOptions } from './folder-sync.ts'
import { type MirrorHost, mirrorHostOf } from './mirror-host.ts'
import { isEmptyReport, type MirrorReport } from './mirror-report.ts'
import { ownFolder } from './owned-folder.ts'
import { Staging } from './staging.ts'
import { nameOf, numberIn } from './task-file.ts'

/** How long `sync` waits for another process that writes the folder, and how often it checks, in milliseconds. */
const syncWaitMs = 3_000
const syncPollMs = 25

/** Options of `mirrorBoard`. */
export interface MirrorOptions {
  /** The folder; created if missing. */
  dir: string
  /** Which board. Default `main`: all tasks of the ledger. */
  board?: string
  /** How often the whole folder is scanned, in milliseconds; changes that the file system reports are taken at once. Default 1,000. */
  pollMs?: Duration
  /** False: the mirror acts only on `sync`. Default true. */
  watch?: boolean
  /** Receives the report of each pass that did something, except those of `sync`, which returns its own. */
  onReport?: (report: MirrorReport) => void
}

/** A folder that mirrors a board. */
export interface BoardMirror {
  /** The folder, with links resolved. */
  readonly dir: string
  /** Brings folder and board in step completely. If another process writes the folder, waits until it has done so (3 s at most). */
  sync(): Promise<MirrorReport>
  /** Ends the mirror; the files stay. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const optionsSchema = z.strictObject({
  dir: z.string().min(1),
  board: z.string().trim().min(1).max(100).default(mainBoard),
  pollMs: durationSchema({ min: 10, max: 86_400_000 }).default(1_000),
  watch: z.boolean().default(true),
  onReport: z.custom<(report: MirrorReport) => void>((value) => typeof value === 'function').optional(),
})
type Settings = z.output<typeof optionsSchema>

/** `mirrorBoard` of the package (board-folders.ts). */
export async function mirrorBoard(engine: object, options: MirrorOptions): Promise<BoardMirror> {
  return openMirror(mirrorHostOf(engine, 'mirrorBoard'), options)
}

/** `mirrorBoard` over the given file operations. */
export async function openMirror(
  host: MirrorHost,
  options: MirrorOptions,
  filesOf: (dir: string) => FolderFiles = createFolderFiles,
): Promise<BoardMirror> {
  const given = parse(optionsSchema, options, 'mirrorBoard')
  const target: BoardTarget = { board: given.board, caller: { surface: 'files' } }
  await host.read((tx) => loadBoard(tx, target.board, 0))
  const dir = openFolder(given.dir, { create: true })
  const lease: MirrorLease = { id: host.nextId('mirror'), dir, board: target.board }
  const staging = new Staging(filesOf(dir), lease.id)
  await ownFolder(host, staging, dir, target.board)
  await host.register(lease.id)
  const after = await host.read((tx) => tx.event.last())
  const mirror = new LiveMirror(host, target, lease, staging, given)
  if (given.watch) mirror.follow(after)
  return mirror
}

/** What has changed since the last pass began. */
interface Due {
  tasks: Set<string>
  numbers: Set<number>
  /** All files are to be checked. */
  scan: boolean
}

class LiveMirror implements BoardMirror {
  readonly dir: string
  readonly #host: MirrorHost
  readonly #target: BoardTarget
  readonly #lease: MirrorLease
  readonly #files: FolderFiles
  readonly #sync: FolderSync
  readonly #settings: Settings
  readonly #stopped = new AbortController()
  #watcher: FSWatcher | undefined
  #timer: unknown
  /** Passes run one after the other. */
  #queue: Promise<unknown> = Promise.resolve()
  #due: Due = { tasks: new Set(), numbers: new Set(), scan: false }
  #isWaiting = false
  #closing: Promise<void> | undefined

  constructor(host: MirrorHost, target: BoardTarget, lease: MirrorLease, staging: Staging, settings: Settings) {
    this.#host = host
    this.#target = target
    this.#lease = lease
    this.#files = staging.files
    this.#sync = new FolderSync(host, target, lease, staging)
    this.#settings = settings
    this.dir = lease.dir
  }

  async sync(): Promise<MirrorReport> {
    if (this.#closing !== undefined) throw closed(this.dir)
    const report = await this.#enqueue({})
    return report.standingBy ? this.#waitUntilWritten(report) : report
  }

  /** Waits until the process that writes the folder has written it, or has ended; a file that it leaves unchanged delays `sync` by the full wait. */
  async #waitUntilWritten(report: MirrorReport): Promise<MirrorReport> {
    const { clock } = this.#host
    const until = clock.now() + syncWaitMs
    await numberNewTasks(this.#host, this.#target.board)
    while (clock.now() < until && !this.#stopped.signal.aborted) {
      if (await allWritten(this.#host, this.#target, this.dir, (number) => this.#files.read(nameOf(number)))) break
      await sleep(clock, syncPollMs, this.#stopped.signal)
      const again = await this.#enqueue({ numbers: new Set(), tasks: new Set() })
      if (!again.standingBy) return this.#enqueue({})
    }
    return report
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  follow(after: number): void {
    void this.#followBoard(after)
    try {
      this.#watcher = watch(this.dir, { persistent: false }, (_event, name) => {
        const number = numberIn(name ?? '')
        if (number === undefined) return
        this.#due.numbers.add(number)
        this.#wake()
      })
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      // Not every file system can be watched, and the number of watchers is limited. The regular scan still finds every change.
    }
    this.#scan()
  }

  async #followBoard(after: number): Promise<void> {
    for await (const events of this.#host.follow(after, this.#stopped.signal)) {
      for (const { taskId } of events) this.#due.tasks.add(taskId)
      this.#wake()
    }
    // The feed ends when the engine closes.
    this.#stop()
  }

  #scan(): void {
    this.#due.scan = true
    this.#wake()
    this.#timer = this.#host.clock.setTimeout(() => this.#scan(), this.#settings.pollMs, true)
    // The timer must not keep the process alive.
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  /** Schedules a pass over everything that has changed when it begins. */
  #wake(): void {
    if (this.#isWaiting || this.#stopped.signal.aborted) return
    this.#isWaiting = true
    void this.#queue.then(async () => {
      this.#isWaiting = false
      if (this.#stopped.signal.aborted) return
      const { tasks, numbers, scan } = this.#due
      this.#due = { tasks: new Set(), numbers: new Set(), scan: false }
      await this.#enqueue({ tasks, numbers: scan ? undefined : numbers, deferIncomplete: true }).then(
        (report) => this.#notify(report),
        (error: unknown) => this.#retryLater(error, tasks),
      )
    })
  }

  #enqueue(options: PassOptions): Promise<MirrorReport> {
    const pass = this.#queue.then(() => this.#sync.pass(options))
    this.#queue = pass.catch(() => {})
    return pass
  }

  /** Leaves the work of a failed pass to the next one. */
  #retryLater(error: unknown, tasks: ReadonlySet<string>): void {
    if (isClosed(error)) {
      this.#stop()
      return
    }
    for (const id of tasks) this.#due.tasks.add(id)
    this.#due.scan = true
    this.#host.report(error, { doing: 'mirror the board', dir: this.dir })
  }

  #notify(report: MirrorReport): void {
    if (isEmptyReport(report)) return
    guarded(
      () => this.#settings.onReport?.(report),
      (error) => this.#host.report(error, { doing: 'report on the mirror', dir: this.dir }),
    )
  }

  #stop(): void {
    this.#stopped.abort()
    this.#watcher?.close()
    this.#host.clock.clearTimeout(this.#timer)
  }

  async #close(): Promise<void> {
    this.#stop()
    await this.#queue
    try {
      this.#notify(await this.#sync.end())
      await releaseLease(this.#host, this.#lease)
    } catch (error) {
      // Without the ledger the lease cannot be released: others take it when it expires, or when this process ends.
      if (!isClosed(error)) throw error
    } finally {
      this.#host.unregister(this.#lease.id)
    }
  }
}

function isClosed(error: unknown): boolean {
  return ErrandError.isInstance(error) && error.code === 'ENGINE_CLOSED'
}

function closed(dir: string): ErrandError {
  return new ErrandError('INVALID_INPUT', `The mirror of ${dir} is closed. Open a new one; the files are unchanged.`, {
    path: dir,
  })
}
