// What this user's state folder says about a ledger that errand may find: its id, which is also in the ledger, and the files by which it is
// recognized. A file for each ledger, so that no two processes write the same one.
import {
  accessSync,
  type BigIntStats,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { ErrandError } from '../core/errors.ts'
import { createRandomIds } from '../core/ids.ts'
import { once } from '../core/once.ts'
import { parse } from '../core/parse.ts'
import { sha256 } from '../core/sha256.ts'
import { type Environment, homeOf } from './home.ts'

const recordSchema = once(() =>
  z.object({
    ledger: z.string(),
    /** Random, and in the ledger too (ledger/sqlite/trust-id.ts): content that came from elsewhere has another one. */
    id: z.string().min(1),
    /** The user said that they trust it, also if others may write it. */
    isConfirmed: z.boolean(),
    /** The folder and the file that had the id when they were last seen. */
    places: z.array(z.string()),
    /** The write-ahead log that an engine of this user began; null for none. */
    log: z.string().nullable(),
  }),
)

export type TrustRecord = z.output<ReturnType<typeof recordSchema>>

/** The names that a search finds (find-ledger.ts). Other ledgers are only ever named. */
export function isFoundBySearch(path: string): boolean {
  return basename(path) === 'ledger.db' && ['.errand', 'errand'].includes(basename(dirname(path)))
}

/** Where the trust in a ledger is recorded (XDG base directories); undefined for a user without a home. */
export function recordFile(path: string, env: Environment): string | undefined {
  const folder = recordFolder(env)
  return folder === undefined ? undefined : join(folder, `${sha256(realOf(path)).slice(0, 32)}.json`)
}

export function recordFolder(env: Environment): string | undefined {
  const home = homeOf(env)
  const state = env['XDG_STATE_HOME'] || (home === undefined ? undefined : join(home, '.local', 'state'))
  return state === undefined ? undefined : join(state, 'errand', 'trusted-ledgers')
}

/** @throws ErrandError INVALID_INPUT for a record that is not one. */
export function recordOf(path: string, env: Environment): TrustRecord | undefined {
  const file = recordFile(path, env)
  if (file === undefined || !existsSync(file)) return undefined
  try {
    return parse(recordSchema(), JSON.parse(readFileSync(file, 'utf8')), file)
  } catch (error) {
    const message = `${file}, which records that a ledger is trusted, cannot be read. Delete it and trust the ledger again.`
    throw new ErrandError('INVALID_INPUT', message, { file }, error)
  }
}

/** False if it cannot be written. */
export function saveRecord(path: string, known: Omit<TrustRecord, 'ledger' | 'places'>, env: Environment): boolean {
  const file = recordFile(path, env)
  if (file === undefined || !areRecordsKept(env)) return false
  try {
    renameSync(written(file, { ...known, ledger: realOf(path), places: placesNow(path) }), file)
    return true
  } catch {
    return false
  }
}

/** Writes a record beside the place of its file, so that no process reads half of it. */
function written(file: string, record: TrustRecord): string {
  const fresh = `${file}.${createRandomIds().next('new')}`
  writeFileSync(fresh, `${JSON.stringify(record)}\n`, { mode: 0o600, flag: 'wx' })
  return fresh
}

/**
 * The id for a ledger that is about to be created; undefined if it cannot be recorded. It is recorded before there is a file, so that whatever
 * else finds the file finds the record too; of several processes that create the ledger, all get the id of the first.
 */
export function idForNew(path: string, env: Environment): string | undefined {
  const file = recordFile(path, env)
  if (file === undefined || !areRecordsKept(env)) return undefined
  const known = knownRecord(path, env)
  if (known !== undefined) return known.id
  try {
    const fresh = written(file, { ledger: realOf(path), id: newTrustId(), isConfirmed: false, places: [], log: null })
    // Fails if another process was earlier.
    linkSync(fresh, file)
    rmSync(fresh)
  } catch {
    // What is there counts.
  }
  return knownRecord(path, env)?.id
}

export function newTrustId(): string {
  return createRandomIds().next('ledger')
}

/** Undefined also for a record that cannot be read: an engine opens a ledger that was named all the same. */
export function knownRecord(path: string, env: Environment): TrustRecord | undefined {
  try {
    return recordOf(path, env)
  } catch {
    return undefined
  }
}

export function areRecordsKept(env: Environment): boolean {
  const folder = recordFolder(env)
  if (folder === undefined) return false
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** The folder and the file, as they are now. */
export function placesNow(path: string): string[] {
  return [dirname(path), path].flatMap((each) => {
    const stat = found(each)
    return stat === undefined ? [] : [`${stat.dev}:${stat.ino}:${stat.uid}`]
  })
}

/** The write-ahead log, as it is now; null for none, or an empty one. A number alone may be that of a file that was removed. */
export function logNow(path: string): string | null {
  const stat = found(`${realOf(path)}-wal`)
  return stat === undefined || stat.size === 0n ? null : identityOf(stat)
}

/** The same for a log that is to be written. */
export function logToWrite(path: string): string | null {
  const stat = found(`${realOf(path)}-wal`)
  return stat === undefined ? null : identityOf(stat)
}

function identityOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`
}

function found(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}

/** Without links, whether the file exists or not. */
export function realOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const folder = dirname(path)
  return existsSync(folder) ? join(realpathSync(folder), basename(path)) : path
}
