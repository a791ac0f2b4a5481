// The engine of a task manager: a given one, or its own on a ledger beside the folder, which mirrors the board.
import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { mirrorBoard } from '../../board/mirror/board-folders.ts'
import { isEmptyReport, type MirrorReport } from '../../board/mirror/mirror-report.ts'
import { ErrandError } from '../../core/errors.ts'
import { guarded, safeReporter } from '../../core/guarded.ts'
import { describeError } from '../../core/stored-error.ts'
import { createEngine } from '../../engine/create-engine.ts'
import type { Engine, EngineOptions } from '../../engine/engine-api.ts'
import { findLedger } from '../../ledger/find-ledger.ts'
import { judgeLedger, untrusted } from '../../ledger/trust.ts'

export interface FolderOptions {
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
export class TaskBacking {
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
