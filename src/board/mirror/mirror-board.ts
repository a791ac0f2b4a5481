// The live mirror of a board: it follows the ledger and the folder, and brings them in step whenever one of them has moved.
import { type FSWatcher, watch } from 'node:fs'
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import { rest } from '../../core/signals.ts'
import { mainBoard } from '../../entities/board.ts'
import type { BoardTarget } from '../board-host.ts'
import { loadBoard, numberNewcomers } from '../numbering.ts'
import { type MirrorLease, releaseLease } from './election.ts'
import { areWritten } from './file-texts.ts'
import { createFolderFiles, type FolderFiles, openFolder } from './folder-files.ts'
import { FolderSync, type PassOrders } from './folder-sync.ts'
import { type MirrorHost, mirrorHostOf } from './mirror-host.ts'
import { isEmptyReport, type MirrorReport } from './mirror-report.ts'
import { ownFolder } from './owned-folder.ts'
import { nameOf, numberIn } from './task-file.ts'

/** How long a `sync` waits for whoever writes the folder, and how often it looks, in milliseconds. */
const patienceMs = 3_000
const lookEveryMs = 25

/** Options of `mirrorBoard`. */
export interface MirrorOptions {
  /** The folder; made where there is none. */
  dir: string
  /** Which board. Default `main`: all tasks of the ledger. */
  board?: string
  /** How often the whole folder is looked at, in milliseconds; changes that the system tells of are taken at once. Default 1,000. */
  pollMs?: number
  /** False: nothing happens but what `sync` does. Default true. */
  watch?: boolean
  /** Told what each pass has done that did something. `sync` returns its own. */
  onReport?: (report: MirrorReport) => void
}

/** A folder that mirrors a board. */
export interface BoardMirror {
  /** The folder, with every link resolved. */
  readonly dir: string
  /** Brings folder and board in step, now and wholly; where another process writes the folder, waits until that one has (3 s at most). */
  sync(): Promise<MirrorReport>
  /** Ends the mirroring; the files stay. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const optionsSchema = z.strictObject({
  dir: z.string().min(1),
  board: z.string().trim().min(1).max(100).default(mainBoard),
  pollMs: z.number().min(10).max(86_400_000).default(1_000),
  watch: z.boolean().default(true),
  onReport: z.custom<(report: MirrorReport) => void>((value) => typeof value === 'function').optional(),
})
type Settings = z.output<typeof optionsSchema>

/** `mirrorBoard` of the package (board-folders.ts). */
export async function mirrorBoard(engine: object, options: MirrorOptions): Promise<BoardMirror> {
  return openMirror(mirrorHostOf(engine, 'mirrorBoard'), options)
}

/** The same with the folder's operations in the hands of the caller. */
export async function openMirror(
  host: MirrorHost,
  options: MirrorOptions,
  filesOf: (dir: string) => FolderFiles = createFolderFiles,
): Promise<BoardMirror> {
  const given = parse(optionsSchema, options, 'mirrorBoard')
  const place: BoardTarget = { board: given.board, caller: { surface: 'files' } }
  await host.read((tx) => loadBoard(tx, place.board, 0))
  const dir = openFolder(given.dir)
  const files = filesOf(dir)
  const seat: MirrorLease = { id: host.nextId('mirror'), dir, board: place.board }
  const sync = new FolderSync(host, place, seat, files, given.watch)
  await ownFolder(host, sync.desk, dir, place.board)
  await host.register(seat.id)
  const after = await host.read((tx) => tx.event.last())
  const mirror = new LiveMirror(host, seat, sync, given)
  if (given.watch) mirror.follow(after)
  return mirror
}

class LiveMirror implements BoardMirror {
  readonly dir: string
  readonly #host: MirrorHost
  readonly #seat: MirrorLease
  readonly #sync: FolderSync
  readonly #settings: Settings
  readonly #over = new AbortController()
  #watcher: FSWatcher | undefined
  #timer: unknown
  /** Passes come one after the other. */
  #queue: Promise<unknown> = Promise.resolve()
  #isWaiting = false
  /** What has moved since the last pass began. */
  #tasks = new Set<string>()
  #numbers = new Set<number>()
  #isLookDue = false
  #closing: Promise<void> | undefined

  constructor(host: MirrorHost, seat: MirrorLease, sync: FolderSync, settings: Settings) {
    this.#host = host
    this.#seat = seat
    this.#sync = sync
    this.#settings = settings
    this.dir = seat.dir
  }

  async sync(): Promise<MirrorReport> {
    if (this.#closing !== undefined) throw closed(this.dir)
    const report = await this.#enqueue({})
    return report.standingBy ? this.#untilWritten(report) : report
  }

  /** Somebody else writes the folder: waits until that one has, or has gone. A file that it leaves aside is not waited for long. */
  async #untilWritten(report: MirrorReport): Promise<MirrorReport> {
    const { clock } = this.#host
    const until = clock.now() + patienceMs
    const place: BoardTarget = { board: this.#seat.board, caller: { surface: 'files' } }
    const { files } = this.#sync.desk
    const says = (number: number): string | null | undefined => {
      const look = files.look(nameOf(number))
      return look.kind === 'text' ? look.text : look.kind === 'none' ? null : undefined
    }
    await numberNewcomers(this.#host, place.board)
    while (clock.now() < until && !this.#over.signal.aborted) {
      if (await areWritten(this.#host, place, this.dir, says)) return report
      await rest(clock, lookEveryMs, this.#over.signal)
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
    this.#followFolder()
    this.#isLookDue = true
    this.#wake()
  }

  async #followBoard(after: number): Promise<void> {
    try {
      for await (const { taskId } of this.#host.events({ after, signal: this.#over.signal })) {
        this.#tasks.add(taskId)
        this.#wake()
      }
      // The feed ends with the engine: nothing more will come.
      this.#stop()
    } catch (error) {
      if (!this.#over.signal.aborted) this.#host.report(error, { doing: 'follow the board', dir: this.dir })
    }
  }

  /** A watcher tells at once, where there is one; the regular look finds what it misses. */
  #followFolder(): void {
    try {
      this.#watcher = watch(this.dir, { persistent: false }, (_event, name) => {
        const number = typeof name === 'string' ? numberIn(name) : undefined
        if (number === undefined) return
        this.#numbers.add(number)
        this.#wake()
      })
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      // Not every file system can be watched, and there may be too many watchers: then the regular look is all there is.
      this.#watcher = undefined
    }
    this.#lookLater()
  }

  #lookLater(): void {
    if (this.#over.signal.aborted) return
    this.#timer = this.#host.clock.setTimeout(() => {
      this.#isLookDue = true
      this.#wake()
      this.#lookLater()
    }, this.#settings.pollMs)
    // A mirror is no reason for a program to stay.
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  /** One pass takes up all that has moved by the time it begins. */
  #wake(): void {
    if (this.#isWaiting || this.#over.signal.aborted) return
    this.#isWaiting = true
    void this.#queue.then(async () => {
      this.#isWaiting = false
      if (this.#over.signal.aborted) return
      const orders: PassOrders = {
        tasks: this.#tasks,
        numbers: this.#isLookDue ? undefined : this.#numbers,
        patient: true,
      }
      this.#tasks = new Set()
      this.#numbers = new Set()
      this.#isLookDue = false
      await this.#enqueue(orders).then(
        (report) => this.#tell(report),
        (error: unknown) => this.#missed(error, orders),
      )
    })
  }

  #enqueue(orders: PassOrders): Promise<MirrorReport> {
    const pass = this.#queue.then(() => this.#sync.pass(orders))
    this.#queue = pass.catch(() => {})
    return pass
  }

  /** What a pass could not do is left to the next one. */
  #missed(error: unknown, { tasks }: PassOrders): void {
    if (ErrandError.isInstance(error) && error.code === 'ENGINE_CLOSED') {
      this.#stop()
      return
    }
    for (const id of tasks ?? []) this.#tasks.add(id)
    this.#isLookDue = true
    this.#host.report(error, { doing: 'mirror the board', dir: this.dir })
  }

  #tell(report: MirrorReport): void {
    if (isEmptyReport(report)) return
    try {
      this.#settings.onReport?.(report)
    } catch (error) {
      this.#host.report(error, { doing: 'report on the mirror', dir: this.dir })
    }
  }

  #stop(): void {
    this.#over.abort()
    this.#watcher?.close()
    this.#host.clock.clearTimeout(this.#timer)
  }

  async #close(): Promise<void> {
    this.#stop()
    await this.#queue
    try {
      this.#tell(await this.#sync.end())
      await releaseLease(this.#host, this.#seat)
    } catch (error) {
      // Without the ledger there is nothing to leave: others take the seat when its time is over, or this process is.
      if (!ErrandError.isInstance(error) || error.code !== 'ENGINE_CLOSED') throw error
    } finally {
      this.#host.unregister(this.#seat.id)
    }
  }
}

function closed(dir: string): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `The mirror of ${dir} is closed. Open a new one; the files are as they were.`,
    {
      path: dir,
    },
  )
}
