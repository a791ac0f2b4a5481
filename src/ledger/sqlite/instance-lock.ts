// A lock that ends with its process: each instance holds an exclusive SQLite lock on a small file of its own, in a folder beside the ledger that contains
// nothing else. The kernel releases it within milliseconds of any death, so a dead owner is detected at once and a slow one never counts as
// dead. (A pid file would outlive its process, and pids are reused.)
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { ErrandError } from '../../core/errors.ts'
import type { Life } from '../ledger.ts'
import { type Connection, connect, isBusy, unavailable } from './connection.ts'

/** How long to wait for a lock that another process is probing. */
const holdTimeoutMs = 1_000

export interface InstanceLocks {
  /** @throws ErrandError LEDGER_UNAVAILABLE; no file is left then */
  hold(instanceId: string): void
  lifeOf(instanceId: string): Life
  /** Releases a lock of this process. With `keepFile` other engines see a dead instance. */
  release(instanceId: string, options?: { keepFile?: boolean }): void
  /** Removes the files of dead instances that are not `needed` as proof of their death. */
  sweep(needed: ReadonlySet<string>): void
  releaseAll(): void
}

export function createInstanceLocks(ledgerPath: string): InstanceLocks {
  return ledgerPath === ':memory:' ? locksInMemory() : locksBeside(ledgerPath)
}

/** A ledger in memory belongs to one process: an instance without a lock here is dead. */
function locksInMemory(): InstanceLocks {
  const held = new Set<string>()
  return {
    hold: (instanceId) => void held.add(instanceId),
    lifeOf: (instanceId) => (held.has(instanceId) ? 'alive' : 'dead'),
    release: (instanceId) => void held.delete(instanceId),
    sweep() {},
    releaseAll: () => held.clear(),
  }
}

// oxlint-disable-next-line max-lines-per-function -- Functions around one set of locks, each short.
function locksBeside(ledgerPath: string): InstanceLocks {
  const held = new Map<string, Connection>()
  const folder = `${ledgerPath}-locks`
  const fileOf = (instanceId: string): string => join(folder, instanceId)

  function remove(instanceId: string): void {
    rmSync(fileOf(instanceId), { force: true })
    try {
      rmdirSync(folder)
    } catch {
      // Other instances have files there.
    }
  }

  /** A user who may create files beside the ledger may work with it, and so hold a lock. */
  function makeFolder(): void {
    try {
      mkdirSync(folder)
      chmodSync(folder, statSync(dirname(ledgerPath)).mode & 0o7777)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (!isOwnFolder()) throw notAFolder()
    }
  }

  /** False for a link, which may lead anywhere if the folder of the ledger came from elsewhere, and for no folder at all. */
  function isOwnFolder(): boolean {
    return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  }

  function notAFolder(): ErrandError {
    return new ErrandError(
      'LEDGER_UNAVAILABLE',
      `The ledger ${ledgerPath} cannot be opened: ${folder}, where engines hold their locks, is a link or a file. Remove it, then try again.`,
      { path: ledgerPath, folder },
    )
  }

  /** Another process may remove the folder, while it is empty, before the file is there. */
  function makeFile(file: string): void {
    for (let triesLeft = 10; ; triesLeft--) {
      makeFolder()
      try {
        closeSync(openSync(file, 'wx', 0o600))
        return
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || triesLeft === 0) throw error
      }
    }
  }

  function hold(instanceId: string): void {
    const file = fileOf(instanceId)
    let made = false
    let lock: Connection | undefined
    try {
      // Before the new file is locked, another process may remove it as a leftover: then it is created once more.
      do {
        lock?.close()
        makeFile(file)
        made = true
        lock = lockOn(file)
      } while (!existsSync(file))
      held.set(instanceId, lock as Connection)
    } catch (error) {
      lock?.close()
      if (made) remove(instanceId)
      throw unavailable(error, ledgerPath, 'opened')
    }
  }

  /** Nothing else in the folder is removed. */
  function isLockFile(name: string): boolean {
    const stat = lstatSync(fileOf(name), { throwIfNoEntry: false })
    return /^[a-z]+(-[a-z0-9]+)+$/.test(name) && stat?.isFile() === true && stat.size === 0
  }

  /** Undefined if the file was removed before it was opened. */
  function lockOn(file: string): Connection | undefined {
    let lock: Connection | undefined
    try {
      lock = connect(file, { busyTimeoutMs: holdTimeoutMs, mustExist: true })
      takeLock(lock)
      return lock
    } catch (error) {
      lock?.close()
      if (existsSync(file)) throw error
      return undefined
    }
  }

  /** `ifDead` runs while this process holds the lock. */
  function probe(instanceId: string, ifDead?: () => void): Life {
    if (held.has(instanceId)) return 'alive'
    const file = fileOf(instanceId)
    if (!existsSync(file)) return 'unknown'
    let connection: Connection | undefined
    try {
      connection = connect(file, { busyTimeoutMs: 0, mustExist: true })
      takeLock(connection)
      ifDead?.()
      return 'dead'
    } catch (error) {
      return isBusy(error) ? 'alive' : 'unknown'
    } finally {
      connection?.close()
    }
  }

  function release(instanceId: string, { keepFile = false }: { keepFile?: boolean } = {}): void {
    held.get(instanceId)?.close()
    held.delete(instanceId)
    if (!keepFile) remove(instanceId)
  }

  return {
    hold,
    lifeOf: (instanceId) => probe(instanceId),
    release,
    sweep(needed) {
      if (!isOwnFolder()) return
      for (const instanceId of readdirSync(folder)) {
        if (!needed.has(instanceId) && isLockFile(instanceId)) probe(instanceId, () => remove(instanceId))
      }
    },
    releaseAll() {
      for (const instanceId of held.keys()) release(instanceId)
    },
  }
}

/** Without a journal file: nothing is written, and a death leaves no second file. */
function takeLock(connection: Connection): void {
  connection.pragma('journal_mode = memory')
  connection.execute('begin exclusive')
}
