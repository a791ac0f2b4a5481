// Takes the place of src/ledger/open-ledger.ts when the suites run on a server (`npm run test:postgres`): what a test opens in memory or at a
// path is opened in a schema of its own.
import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Clock } from '../../../src/core/clock.ts'
import { delegateLedger } from '../../../src/ledger/delegate-ledger.ts'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { openServerLedger } from '../../../src/ledger/postgres/server-ledger.ts'
import { isServerUrl, parseServerUrl } from '../../../src/ledger/postgres/server-url.ts'
import { noteUnderWay } from '../../ledgers-at-rest.ts'
import { emptied } from '../shared-ledger.ts'

export function shownLedger(name: string): string {
  return isServerUrl(name) ? parseServerUrl(name).name : name
}

const database = process.env['ERRAND_TEST_DATABASE'] as string

/** Ledgers that the tests of a file have not closed. */
const opened = new Set<Ledger>()

/** A ledger in memory needs no end, but these have connections. */
export async function closeOpened(): Promise<void> {
  await Promise.all([...opened].map((ledger) => ledger.close()))
}

/** Schemas of closed ledgers that were in memory. */
const free: string[] = []
let made = 0

export async function openLedger(name: string, clock?: Clock): Promise<Ledger> {
  if (isServerUrl(name)) return await openServerLedger(name, clock)
  const isInMemory = name === ':memory:'
  const schema = isInMemory ? await emptySchema() : schemaOfFile(name)
  const inner = likeFile(await openServerLedger(urlOf(schema), clock), name)
  const closeInner = async (options: Parameters<Ledger['close']>[0]) => {
    opened.delete(ledger)
    await inner.close(options)
    if (isInMemory) free.push(schema)
  }
  let closing: Promise<void> | undefined
  const ledger = delegateLedger(inner, { close: (options) => (closing ??= closeInner(options)) })
  opened.add(ledger)
  return ledger
}

function schemaOfFile(path: string): string {
  return `file_${createHash('sha256').update(path).digest('hex').slice(0, 20)}`
}

async function emptySchema(): Promise<string> {
  const used = free.pop()
  if (used === undefined) return `memory_${process.pid}_${made++}`
  await empty(used)
  return used
}

/** Under the name that the test knows, and with the clock of the test, by which the engine renews and judges leases itself. */
function likeFile(ledger: Ledger, name: string): Ledger {
  const {
    now: _now,
    keepLease: _keepLease,
    ...like
  } = delegateLedger(ledger, {
    name,
    step: (step) => noteUnderWay(ledger.step(step)),
    read: (query, options) => noteUnderWay(ledger.read(query, options)),
    async isAlive(id) {
      const life = await ledger.isAlive(id)
      return life === 'silent' ? 'unknown' : life
    },
  })
  return like
}

let emptying: Promise<pg.Client> | undefined

/** A session that knows the tables needs a fraction of the time of a new one. */
async function empty(schema: string): Promise<void> {
  emptying ??= connected()
  await (await emptying).query(`set search_path to ${schema}; ${emptied}`)
}

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  // A process that tests have started ends by itself. The types lack the method.
  ;(client as unknown as { unref(): void }).unref()
  return client
}

function urlOf(schema: string): string {
  const url = new URL(database)
  url.searchParams.set('schema', schema)
  return url.href
}
