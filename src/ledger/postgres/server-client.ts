// A client of `pg`, which only this file loads: its address, its settings, and its end.
import type { Socket } from 'node:net'
import type { Client } from 'pg'
import { systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { notInstalled } from '../../core/optional-package.ts'
import { waitAtMost } from '../../core/signals.ts'
import type { ServerHost, ServerTarget } from './server-url.ts'

/** How long the server may take to end a session that is closed. */
const closedWithinMs = 2_000
/** How long the server may take to accept a connection. */
const connectTimeoutMs = 5_000

/** The type of a 64-bit integer and its parser: all of errand's are below 2^53. */
const int8 = 20

/** What a connection is for: its name in the list of sessions, and its settings. */
export interface Purpose {
  readonly title: string
  readonly settings: Readonly<Record<string, string>>
  /** It goes through a connection pool where the URL names one: each of its transactions may be in another session. Default false. */
  readonly mayBePooled?: boolean
  /** How long a statement may take, longer than its `statement_timeout`. Default: any time, as a migration or a copy may need. */
  readonly answeredWithinMs?: number
}

const alwaysSet = {
  // A plan whose cost is estimated high, such as that of a scan where scans are off, would be compiled for half a second.
  jit: 'off',
  client_min_messages: 'warning',
  // What the database or the role may have set otherwise.
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
}

/** Shows that the settings of a session have arrived: a pool may drop them. */
export const sessionSetting = 'errand.session'

/** Of the session with the server itself. A host that has vanished says nothing: the server notices it within 8 s. */
const alwaysSetDirectly = {
  idle_session_timeout: '0',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  [sessionSetting]: 'own',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '1',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '8000',
}

async function loadDriver(): Promise<typeof import('pg')> {
  try {
    return await import('pg')
  } catch (error) {
    throw notInstalled(error, 'pg', 'A ledger on PostgreSQL')
  }
}

/** A client that has yet to connect. @throws ErrandError NOT_OFFERED */
export async function createClient(
  host: ServerHost,
  { target, purpose, isPooled }: { target: ServerTarget; purpose: Purpose; isPooled: boolean },
): Promise<Client> {
  const { default: pg } = await loadDriver()
  const { getTypeParser } = pg.types
  const { user, password, database } = target
  const set = Object.entries({ ...alwaysSetDirectly, ...settingsOf(target, purpose) }).map(
    ([setting, value]) => `-c ${setting}=${value.replace(/[\\\s]/g, '\\$&')}`,
  )
  return new pg.Client({
    host: host.host,
    port: host.port,
    database,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    // With the start of the session, so that no statement of it can run without them. Pools refuse them.
    ...(isPooled ? {} : { options: set.join(' ') }),
    ssl: host.tls === 'off' ? false : { rejectUnauthorized: host.tls === 'verify' },
    application_name: purpose.title,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    pipeline: true,
    types: {
      getTypeParser: ((type: number, format: 'text') =>
        type === int8 ? Number : getTypeParser(type, format)) as typeof getTypeParser,
    },
  } as ConstructorParameters<typeof pg.Client>[0])
}

/** What each session of a purpose is set to. */
export function settingsOf({ schema }: ServerTarget, { settings }: Purpose): Record<string, string> {
  return {
    ...alwaysSet,
    ...settings,
    ...(schema === undefined ? {} : { search_path: `"${schema.replaceAll('"', '""')}"` }),
  }
}

/** A server that does not end the session in time is left. */
export async function endClient(client: Client): Promise<void> {
  if (!(await waitAtMost(systemClock, closedWithinMs, client.end()))) streamOf(client).destroy()
}

export function streamOf(client: Client): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream
}

/** @throws ErrandError LEDGER_UNAVAILABLE for a standby */
export async function requirePrimary(client: Client, { host, port }: ServerHost): Promise<void> {
  const { rows } = await client.query('select pg_is_in_recovery() as standby')
  if (!(rows as [{ standby: boolean }])[0].standby) return
  throw new ErrandError(
    'LEDGER_UNAVAILABLE',
    `The PostgreSQL server at ${host}:${port} is a standby, which only reads: name the primary server.`,
    { host, port },
  )
}
