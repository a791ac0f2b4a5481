// The whole output of a command whose result holds only its end, in a file for the commands that come after it. With a ledger file it is
// beside it, where it survives a restart of the host; otherwise in the folder for temporary files.
import { closeSync, lstatSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isLedgerFile } from '../ledger/find-ledger.ts'

/** Bytes of an output that a file holds at most. */
export const maxFileBytes = 64 * 1024 * 1024

const cutNotice = `\n[errand] This output is longer than ${maxFileBytes / 1024 / 1024} MiB. What follows is not kept.\n`
/** Begins the name of each folder in the one for temporary files. */
const temporaryPrefix = 'errand-output-'

/** Collects an output, and writes it into a file as soon as it is longer than the result. */
export class OutputFile {
  readonly #folder: string | undefined
  readonly #callId: string
  readonly #limit: number
  /** What was printed before there was a file. */
  #held: Buffer[] = []
  #bytes = 0
  #path: string | undefined
  #descriptor: number | undefined
  #lost = false

  /**
   * @param ledger its path or URL.
   * @param limit bytes of the result.
   */
  constructor(ledger: string | undefined, callId: string, limit: number) {
    this.#folder = folderOf(ledger)
    this.#callId = callId
    this.#limit = limit
  }

  push(chunk: Buffer): void {
    if (this.#lost || chunk.length === 0) return
    const room = maxFileBytes - this.#bytes
    this.#bytes += chunk.length
    if (this.#path === undefined) this.#held.push(chunk)
    if (this.#bytes <= this.#limit || room < 0) return
    try {
      this.#write(chunk, room)
    } catch {
      // A full disk must not end a command whose result is complete without the file.
      this.discard()
      this.#lost = true
    }
  }

  /** The path of the file; null if it could not be written, undefined if the result holds everything. */
  keep(): string | null | undefined {
    this.#close()
    return this.#lost ? null : this.#path
  }

  discard(): void {
    this.#close()
    this.#held = []
    if (this.#path === undefined) return
    rmSync(this.#folder === undefined ? dirname(this.#path) : this.#path, { recursive: true, force: true })
    this.#path = undefined
  }

  #write(chunk: Buffer, room: number): void {
    const isFirst = this.#path === undefined
    this.#path ??= newPath(this.#folder, this.#callId)
    this.#descriptor ??= openSync(this.#path, 'wx', 0o600)
    const pending = isFirst ? Buffer.concat(this.#held) : chunk
    this.#held = []
    const fits = Math.min(pending.length, isFirst ? maxFileBytes : room)
    writeAll(this.#descriptor, pending.subarray(0, fits))
    if (fits < pending.length) writeAll(this.#descriptor, Buffer.from(cutNotice))
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }
}

/** Results for one command that do not fit into its variables, in a folder that is removed when it has ended. */
export class ResultFiles {
  #folder: string | undefined
  #count = 0

  /** The path of a new file with this text. */
  write(text: string): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), temporaryPrefix))
    const path = join(this.#folder, `result-${++this.#count}`)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }

  remove(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
  }
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
}

function folderOf(ledger: string | undefined): string | undefined {
  return ledger !== undefined && isLedgerFile(ledger) ? `${resolve(ledger)}-outputs` : undefined
}

function newPath(folder: string | undefined, callId: string): string {
  if (folder === undefined) return join(mkdtempSync(join(tmpdir(), temporaryPrefix)), 'stdout')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A link that came with the folder of the ledger would lead the output elsewhere.
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`)
  return join(folder, callId)
}

/** False for the path of another file: a result may come from who claimed the task, and must not lead a command to any file. */
export function isOutputFile(path: string, ledger: string | undefined): boolean {
  if (path !== resolve(path)) return false
  if (dirname(path) === folderOf(ledger)) return true
  return dirname(dirname(path)) === resolve(tmpdir()) && dirname(path).startsWith(join(tmpdir(), temporaryPrefix))
}
