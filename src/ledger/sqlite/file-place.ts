// The file at the path of an open ledger. A file that is removed, moved or replaced while it is open still takes writes, which nothing that opens the
// path later will read. Only the path shows it: the descriptor stays valid.
import { type BigIntStats, statSync } from 'node:fs'
import { ErrandError } from '../../core/errors.ts'

export class FilePlace {
  readonly #path: string
  readonly #opened: BigIntStats | undefined

  /** To be made after the connection: a file system in layers gives a file another number when it is first opened for writing. */
  constructor(path: string) {
    this.#path = path
    this.#opened = found(path)
  }

  /**
   * Requires that the path still leads to the file that was opened. It takes some microseconds.
   * @throws ErrandError LEDGER_UNAVAILABLE
   */
  requireUnchanged(): void {
    const now = found(this.#path)
    if (now !== undefined && now.ino === this.#opened?.ino && now.dev === this.#opened.dev) return
    const what = now === undefined ? 'was removed or moved' : 'was replaced by another file'
    throw new ErrandError(
      'LEDGER_UNAVAILABLE',
      `The ledger ${this.#path} ${what} while it was open. What is written now would be lost, so this engine has stopped. Put the file back, with the files "-wal" and "-shm" that belong to it, or restore a backup; then start again.`,
      { path: this.#path },
    )
  }
}

/** Undefined if there is no file, or its folder cannot be read. */
function found(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
