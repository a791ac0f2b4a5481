// What is checked before a ledger on a server is used: what the server and its database must be, and what the role may do there.
import { systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { migrationTexts } from '../migrations/migrations.ts'
import { postgresDialect } from './dialect.ts'
import { sessionSetting } from './server-client.ts'
import type { ServerConnection } from './server-connection.ts'
import type { ServerTarget } from './server-url.ts'

/** The oldest version of PostgreSQL that is tested, as the server numbers it. */
const oldestServer = 150_000

/** All times of a ledger are those of its server, so that clocks need not agree. But one of two that are so far apart is wrong. */
const maxOffsetMs = 24 * 60 * 60_000

interface Facts {
  version: number
  now: number
  standby: boolean
  encoding: string
  replication_role: string
  session: string | null
  unsafe: string[] | null
  schema: number | null
}

/**
 * The schema of the ledger, if there is one.
 * @throws ErrandError LEDGER_UNAVAILABLE
 */
export async function requireUsable(
  connection: ServerConnection,
  { name: ledger, schema: named, durability }: ServerTarget,
): Promise<{ oid: number } | undefined> {
  const { rows } = await connection.query(`
    select current_setting('server_version_num')::int as version, extract(epoch from clock_timestamp())::float8 * 1000 as now,
      pg_is_in_recovery() as standby,
      current_setting('server_encoding') as encoding, current_setting('session_replication_role') as replication_role,
      current_setting('${sessionSetting}', true) as session,
      (select array_agg(name::text order by name) from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off') as unsafe,
      (select oid::int8 from pg_namespace where nspname = current_schema()) as schema`)
  const [{ version, now, standby, encoding, replication_role, session, unsafe, schema }] = rows as [Facts]
  const here = systemClock.now()
  const why = [
    version < oldestServer &&
      `it runs PostgreSQL ${Math.floor(version / 10_000)}, and errand needs version 15 or newer`,
    standby && 'it is a standby, which only reads: name the primary server',
    encoding !== 'UTF8' && `the encoding of the database is ${encoding}, and errand needs UTF8`,
    session !== 'own' &&
      'its URL leads through a connection pool that drops the settings of a session. Name the server itself, or add ?direct= with its host and port',
    replication_role !== 'origin' &&
      `session_replication_role is "${replication_role}" for this role, which turns off the rules of the tables. Reset it`,
    unsafe !== null &&
      durability === 'strict' &&
      `${unsafe.join(' and ')} ${unsafe.length > 1 ? 'are' : 'is'} off, so that the server may lose or damage what it has acknowledged when its machine stops. Turn ${unsafe.length > 1 ? 'them' : 'it'} on, or accept this with ?durability=relaxed`,
    Math.abs(now - here) > maxOffsetMs &&
      `its clock says ${new Date(now).toISOString()}, and that of this host ${new Date(here).toISOString()}. Set the one that is wrong`,
    schema === null && named === undefined && 'the role has no schema there: name one with ?schema=errand',
  ].find((each) => typeof each === 'string')
  if (why !== undefined) throw refused(ledger, why)
  return schema === null ? undefined : { oid: schema }
}

export async function currentSchema(connection: ServerConnection): Promise<{ oid: number }> {
  const { rows } = await connection.query('select oid::int8 from pg_namespace where nspname = current_schema()')
  return (rows as [{ oid: number }])[0]
}

/**
 * The role may do what steps do, in all tables: otherwise the first step that needs a right would fail, which may be days later.
 * @throws ErrandError LEDGER_UNAVAILABLE
 */
export async function requirePrivileges(connection: ServerConnection, ledger: string): Promise<void> {
  const { rows } = await connection.query(
    `select current_user as role, current_schema() as schema, string_agg(distinct need, ', ') as needs,
      string_agg(distinct name, ', ') as names
    from (
      select c.relname::text as name, need from pg_class c, unnest(array['select', 'insert', 'update', 'delete']) as need
      where c.oid = any($1::text[]::regclass[]) and not has_table_privilege(c.oid, need)
      union all
      select c.relname::text, 'usage' from pg_class c join pg_depend d on d.objid = c.oid and d.deptype = 'a'
      where d.refobjid = any($1::text[]::regclass[]) and case when c.relkind = 'S' then not has_sequence_privilege(c.oid, 'usage') end
    ) as missing`,
    [tableNames()],
  )
  const [{ role, schema, needs, names }] = rows as [Record<'role' | 'schema' | 'needs' | 'names', string | null>]
  if (needs === null) return
  throw refused(
    ledger,
    `the role "${role}" lacks rights (${needs}) on ${names}. As the owner of the tables: grant select, insert, update, delete on all tables in schema "${schema}" to "${role}"; grant usage, select on all sequences in schema "${schema}" to "${role}"`,
  )
}

/** Those of a ledger: its schema may have others. */
function tableNames(): string[] {
  const made = migrationTexts(postgresDialect, 0).map((text) => /^create table ("\w+")/.exec(text)?.[1])
  return made.filter((name) => name !== undefined)
}

/**
 * The pool leads to the server that "direct" names.
 * @throws ErrandError LEDGER_UNAVAILABLE
 */
export async function requireSameLedger(
  direct: ServerConnection,
  pooled: ServerConnection,
  ledger: string,
): Promise<void> {
  const identity = `
    select pg_postmaster_start_time()::text as started, current_database() as database, current_schema() as schema`
  const [{ rows: there }, throughPool] = await Promise.all([
    direct.query(identity),
    // In a transaction, because only these have the settings of the connection.
    pooled.query('begin').then(() => pooled.query(identity, [])),
  ])
  await pooled.query('rollback')
  if (JSON.stringify(there) === JSON.stringify(throughPool.rows)) return
  throw refused(
    ledger,
    'the connection pool leads to another server or database than its option "direct" names. Name the server behind the pool',
  )
}

function refused(ledger: string, why: string): ErrandError {
  return new ErrandError('LEDGER_UNAVAILABLE', `The ledger ${ledger} cannot be used: ${why}.`, { ledger })
}

export function unusable(error: unknown, ledger: string): ErrandError {
  const { code, message } = error as { code?: string; message: string }
  // insufficient_privilege
  const remedy =
    code === '42501'
      ? ' If the ledger must be created or migrated, open it once as the owner of the schema, or let this role create tables in it. If it exists, grant the role usage of its schema, and select, insert, update and delete on all its tables.'
      : ''
  return new ErrandError(
    'LEDGER_UNAVAILABLE',
    `The ledger ${ledger} cannot be opened: ${message}.${remedy}`,
    { ledger, ...(code === undefined ? {} : { sqlState: code }) },
    error,
  )
}
