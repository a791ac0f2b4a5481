// Gives a complete ledger file its name, and keeps the ledger that has the name so far.
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { type Connection, connect, isBusy, sqliteCode, unavailable } from './connection.ts'
import { refuseForeign } from './open-file.ts'

/**
 * Renames `file` to `name`. Whatever happens in between, each ledger is there under one of its names. Returns the new name of the ledger that
 * was replaced, if there was one.
 * @throws ErrandError LEDGER_EXISTS unless it may be replaced; LEDGER_BUSY while another process has it open
 */
export function putInPlace(file: string, name: string, { replace }: { replace: boolean }): string | undefined {
  const aside = `${name}.replaced-${new Date(systemClock.now()).toISOString().replaceAll(':', '-')}`
  const isThere = existsSync(name)
  if (isThere) {
    if (!replace) throw taken(name)
    requireUnused(name)
  }
  // SQLite would play the log of another file into this one.
  for (const part of ['-wal', '-shm']) if (existsSync(name + part)) renameSync(name + part, aside + part)
  if (isThere) {
    keepOwner(file, name)
    link(name, aside)
    renameSync(file, name)
  } else {
    link(file, name)
    rmSync(file, { force: true })
  }
  flushNames(name)
  return isThere ? aside : undefined
}

export function taken(path: string): ErrandError {
  return new ErrandError(
    'LEDGER_EXISTS',
    `${path} exists already, and a copy replaces nothing. Name another file, or use "errand ledger restore".`,
    { path },
  )
}

/**
 * Requires that a file can be replaced: that it is a ledger, or damaged, and that no other process has it open.
 * @throws ErrandError LEDGER_FOREIGN, LEDGER_BUSY, LEDGER_UNAVAILABLE
 */
export function requireUnused(path: string): void {
  if (!statSync(path).isFile()) {
    throw new ErrandError('LEDGER_FOREIGN', `${path} is not a file. Name the ledger file, not its folder.`, { path })
  }
  let connection: Connection | undefined
  try {
    connection = connect(path, { busyTimeoutMs: 0, mustExist: true })
    requireLedger(connection, path)
    // This mode needs all other connections to be closed. It moves the log into the file, so that the ledger is one file.
    if (connection.pragma('journal_mode = delete') !== 'wal') return
  } catch (error) {
    // A damaged ledger is a good reason to restore it.
    if (/^SQLITE_(?:CORRUPT|NOTADB)/.test(sqliteCode(error) ?? '')) return
    if (!isBusy(error)) throw unavailable(error, path, 'opened')
  } finally {
    connection?.close()
  }
  throw new ErrandError(
    'LEDGER_BUSY',
    `The ledger ${path} is open in another process, so it cannot be replaced. Stop its engines, and close what reads it.`,
    { ledger: path },
  )
}

/** A ledger of a newer version may be replaced: that is how one goes back. */
function requireLedger(connection: Connection, path: string): void {
  try {
    refuseForeign(connection, path)
  } catch (error) {
    if (!ErrandError.isInstance(error) || error.code !== 'LEDGER_VERSION') throw error
  }
}

/** Who may read and write the ledger stays as it was. */
function keepOwner(file: string, name: string): void {
  const { mode, uid, gid } = statSync(name)
  try {
    chownSync(file, uid, gid)
    chmodSync(file, mode & 0o777)
  } catch {
    // Only an administrator may give a file to another user.
  }
}

/** Adds a name, which must be free. */
function link(file: string, name: string): void {
  try {
    linkSync(file, name)
  } catch (error) {
    if (existsSync(name)) throw taken(name)
    if (!/^(?:EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EMLINK)$/.test((error as NodeJS.ErrnoException).code ?? '')) {
      throw unavailable(error, name, 'opened')
    }
    // A file system without links.
    renameSync(file, name)
  }
}

/** Makes the names in a folder durable. */
function flushNames(path: string): void {
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
