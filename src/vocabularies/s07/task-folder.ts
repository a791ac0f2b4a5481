// What a manager stands on: an engine that is given, or one of its own on a ledger beside the folder, which mirrors it.
import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { mirrorBoard } from '../../board/mirror/board-folders.ts'
import { isEmptyReport, type MirrorReport } from '../../board/mirror/mirror-report.ts'
import { ErrandError } from '../../core/errors.ts'
import { describeError } from '../../core/stored-error.ts'
import { createEngine } from '../../create-engine.ts'
import type { Engine, EngineOptions } from '../../engine-api.ts'
import { findLedger } from '../../ledger/find-ledger.ts'
import { judgeLedger, untrusted } from '../../ledger/trust.ts'

export interface FolderOptions {
  /** With a folder only: where its tasks are kept, a path or a Ledger. Default: `.errand/ledger.db` beside the folder. */
  ledger?: string | object
  /** With a folder only: gets errors that have no caller. Default: `console.error`. */
  onError?: NonNullable<EngineOptions['onError']>
  /**
   * With a folder only: told what each look at the files has done: written, imported, refused. Default: files that were not taken
   * go to `onError`.
   */
  onReport?: (report: MirrorReport) => void
}

/** Where the tasks are: a folder, and the ledger that it mirrors. */
interface TaskFolder extends FolderOptions {
  dir: string
  board: string
}

/** An engine, and the folder that is in step with it, if there is one. */
interface Footing {
  engine: Engine
  /** Brings the folder and the board in step. */
  sync(): Promise<void>
  /** Closes what was opened for it. */
  close(): Promise<void>
}

/** Opens it with the first use; what failed is tried again with the next. */
export class TaskBacking {
  readonly #place: Engine | TaskFolder
  #opened: Promise<Footing> | undefined
  #closed = false

  constructor(place: Engine | TaskFolder) {
    this.#place = place
  }

  async footing(): Promise<Footing> {
    if (this.#closed) {
      throw new ErrandError('ENGINE_CLOSED', 'The task manager is closed. Create a new one on the same folder.', {})
    }
    if (!isFolder(this.#place)) return { engine: this.#place, sync: async () => {}, close: async () => {} }
    this.#opened ??= openFolder(this.#place).catch((error: unknown) => {
      this.#opened = undefined
      throw error
    })
    return this.#opened
  }

  /** Closes what was opened here; a given engine lives on. */
  async close(): Promise<void> {
    this.#closed = true
    const opened = await this.#opened?.catch(() => undefined)
    await opened?.close()
  }
}

function isFolder(place: Engine | TaskFolder): place is TaskFolder {
  return 'dir' in place
}

async function openFolder({ dir, ledger, board, onError, onReport }: TaskFolder): Promise<Footing> {
  const engine = (await createEngine({
    ledger: ledger ?? ledgerOf(dir),
    // It only commands: whoever runs executors on this ledger is somebody else.
    work: false,
    onError,
  } as Parameters<typeof createEngine>[0])) as unknown as Engine
  try {
    const report = onError ?? ((error: unknown) => console.error('errand:', describeError(error)))
    const complain = ({ refused, skipped }: MirrorReport): void => {
      for (const { file, why } of [...refused, ...skipped]) {
        report(new ErrandError('INVALID_INPUT', `${file} was not taken: ${why}`, { file }), { doing: 'mirror', dir })
      }
    }
    const tell = (news: MirrorReport): void => {
      if (!isEmptyReport(news)) (onReport ?? complain)(news)
    }
    const mirror = await mirrorBoard(engine, { dir, board, onReport: tell })
    const sync = async (): Promise<void> => tell(await mirror.sync())
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
 * The same that the command line finds there, so that both have one board: `.errand/ledger.db` beside the folder or above, else the
 * repository's own in `.git`, else a new `.errand/ledger.db`.
 */
function ledgerOf(dir: string): string {
  const ledger = findLedger(dirname(resolve(dir)), process.env)
  const trust = judgeLedger(ledger, process.env)
  if (trust.verdict !== 'trusted') throw untrusted(ledger, trust)
  mkdirSync(dirname(ledger), { recursive: true, mode: 0o700 })
  return ledger
}
