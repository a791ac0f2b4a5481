// A connection to a PostgreSQL server: the only file that imports `pg`. Each text is prepared once, and a lost connection is made anew when
// the next transaction begins.
import type { Socket } from 'node:net'
import type { Client, QueryResult } from 'pg'
import { systemClock } from '../../../core/clock.ts'
import { ErrandError } from '../../../core/errors.ts'
import { loadOptional } from '../../../core/optional-package.ts'
import { waitAtMost } from '../../../core/signals.ts'
import type { PostgresClient } from './client.ts'
import type { ServerHost, ServerTarget } from './server-url.ts'
import { unreachable } from './unreachable.ts'

/** How long the server may take to end a session that is closed. */
const closedWithinMs = 2_000
/** How long a transaction may take to begin, which includes waiting for locks (`lock_timeout`), and a statement (`statement_timeout`). */
const begunWithinMs = 8_000
const answeredWithinMs = 70_000
/** How long the server may take to accept a connection, and until the connection is ready for use. */
const connectTimeoutMs = 5_000
const readyWithinMs = 10_000
/** The maximum of prepared statements of a connection; the engine has about 180. */
const maxStatements = 500

/** The type of a 64-bit integer and its parser: all of errand's are below 2^53. */
const int8 = 20

/** What a connection is for: its name in the list of sessions, and its settings. */
export interface Purpose {
  readonly title: string
  readonly settings: Readonly<Record<string, string>>
  /** It goes through a connection pool where the URL names one: each of its transactions may be in another session. Default false. */
  readonly mayBePooled?: boolean
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

export class ServerConnection implements PostgresClient {
  readonly #target: ServerTarget
  readonly #purpose: Purpose
  readonly #hosts: readonly ServerHost[]
  /** Each transaction may be in another session, which has its settings from the transaction, and no statement prepared. */
  readonly isPooled: boolean
  readonly #statements = new Map<string, string>()
  #client: Client | undefined
  /** The server of the last connection. */
  #host: ServerHost | undefined
  #connecting: Promise<void> | undefined
  #closed = false
  /** Called with the process id of the sender. */
  onNotification: (processId: number) => void = () => {}
  onLost: () => void = () => {}
  /** Called with each new connection before it is used. If it throws, the connection is closed. */
  onConnected: ((client: Pick<Client, 'query'>) => Promise<void>) | undefined

  constructor(target: ServerTarget, purpose: Purpose) {
    this.#target = target
    this.#purpose = purpose
    this.isPooled = purpose.mayBePooled === true && target.pools !== undefined
    this.#hosts = (this.isPooled ? target.pools : undefined) ?? target.hosts
  }

  get isConnected(): boolean {
    return this.#client !== undefined
  }

  /** Of the session at the server; undefined without a connection. */
  get processId(): number | undefined {
    return (this.#client as { processID?: number } | undefined)?.processID
  }

  /** Connects unless it is connected. @throws ErrandError LEDGER_UNAVAILABLE, NOT_OFFERED */
  ensure(): Promise<void> {
    if (this.#client !== undefined) return Promise.resolve()
    if (this.#closed) return Promise.reject(new Error('the connection is closed'))
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async query(
    sql: string,
    parameters?: unknown[],
  ): Promise<{ rows: unknown[]; affectedRows: number; command: string }> {
    const client = this.#client
    if (client === undefined) throw new Error('the connection to the server is lost')
    const answered = (
      parameters === undefined
        ? client.query(this.isPooled ? this.#withSettings(sql) : sql)
        : client.query({ ...this.#named(sql), values: parameters })
    ) as Promise<QueryResult | QueryResult[]>
    await this.#answeredInTime(sql, answered)
    const result = await answered
    // Of several statements in one text, the last counts.
    const { rows, rowCount, command } = Array.isArray(result) ? (result.at(-1) as QueryResult) : result
    return { rows, affectedRows: rowCount ?? 0, command }
  }

  /** What `send` sends goes out in as few packets as it needs. */
  flight<R>(send: () => R): R {
    const stream = this.#client === undefined ? undefined : streamOf(this.#client)
    stream?.cork()
    try {
      return send()
    } finally {
      stream?.uncork()
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#connecting?.catch(() => {})
    const client = this.#client
    if (client === undefined) return
    this.#client = undefined
    await end(client)
  }

  /** Gives up a connection on which the server is silent: the statements under way fail as on any lost connection. */
  drop(): void {
    if (this.#client !== undefined) streamOf(this.#client).destroy()
  }

  /**
   * Drops the connection if there is no answer: a network may lose a connection without a sign, and a pool keeps a transaction waiting
   * while it has no session for it, and does not notice that a server has vanished.
   */
  async #answeredInTime(sql: string, answered: Promise<unknown>): Promise<void> {
    const withinMs = sql.startsWith('begin') ? begunWithinMs : answeredWithinMs
    if (!(await waitAtMost(systemClock, withinMs, answered))) this.drop()
  }

  /** A text that begins a transaction also makes its settings. */
  #withSettings(sql: string): string {
    return sql.replace(/^begin\b[^;]*/, (begin) => `${begin}; ${this.#settingsInTransaction}`)
  }

  get #settingsInTransaction(): string {
    const set = Object.entries(this.#settings()).map(
      ([setting, value]) => `set_config('${setting}', E'${value.replace(/['\\]/g, '\\$&')}', true)`,
    )
    return `select ${set.join(', ')}`
  }

  #named(text: string): { text: string; name?: string } {
    if (this.isPooled) return { text }
    let name = this.#statements.get(text)
    if (name === undefined) {
      if (this.#statements.size >= maxStatements) return { text }
      name = `s${this.#statements.size}`
      this.#statements.set(text, name)
    }
    return { text, name }
  }

  /** Tries the servers in turn, the last one first, and skips those that only read. */
  async #connect(): Promise<void> {
    const { name } = this.#target
    const refusals: ErrandError[] = []
    for (const host of [...this.#hosts].sort(
      (one, other) => Number(other === this.#host) - Number(one === this.#host),
    )) {
      try {
        const client = await this.#connectTo(host)
        if (this.#closed) return await end(client)
        this.#host = host
        this.#client = client
        return
      } catch (error) {
        refusals.push(unreachable(error, `${host.host}:${host.port}`, name))
      }
    }
    const [first] = refusals as [ErrandError]
    if (refusals.length === 1) throw first
    throw new ErrandError(
      'LEDGER_UNAVAILABLE',
      `None of the servers of ${name} can be used. ${refusals.map(({ message }) => message).join(' ')}`,
      { ledger: name },
      new AggregateError(refusals),
    )
  }

  async #connectTo(host: ServerHost): Promise<Client> {
    const { tls } = host
    const { default: pg } = await loadOptional('pg', 'A ledger on PostgreSQL', () => import('pg'))
    const { getTypeParser } = pg.types
    const client = new pg.Client({
      ...this.#address(host),
      ssl: tls === 'off' ? false : { rejectUnauthorized: tls === 'verify' },
      application_name: this.#purpose.title,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      pipeline: true,
      types: {
        getTypeParser: ((type: number, format: 'text') =>
          type === int8 ? Number : getTypeParser(type, format)) as typeof getTypeParser,
      },
    } as ConstructorParameters<typeof pg.Client>[0])
    const lost = (): void => {
      if (this.#client !== client) return
      this.#client = undefined
      this.onLost()
    }
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', ({ processId }) => this.onNotification(processId))
    try {
      const ready = this.#prepare(client, host)
      // What waits for an answer fails when the connection ends.
      if (!(await waitAtMost(systemClock, readyWithinMs, ready))) streamOf(client).destroy()
      await ready
      return client
    } catch (error) {
      await end(client)
      throw error
    }
  }

  async #prepare(client: Client, host: ServerHost): Promise<void> {
    await client.connect()
    if (this.#hosts.length > 1 || this.onConnected !== undefined) await requirePrimary(client, host)
    await this.onConnected?.(client)
  }

  #settings(): Record<string, string> {
    const { schema } = this.#target
    return {
      ...alwaysSet,
      ...this.#purpose.settings,
      ...(schema === undefined ? {} : { search_path: `"${schema.replaceAll('"', '""')}"` }),
    }
  }

  #address({ host, port }: ServerHost): object {
    const { user, password, database } = this.#target
    const set = Object.entries({ ...alwaysSetDirectly, ...this.#settings() }).map(
      ([setting, value]) => `-c ${setting}=${value.replace(/[\\\s]/g, '\\$&')}`,
    )
    return {
      host,
      port,
      database,
      ...(user === undefined ? {} : { user }),
      ...(password === undefined ? {} : { password }),
      // With the start of the session, so that no statement of it can run without them. Pools refuse them.
      ...(this.isPooled ? {} : { options: set.join(' ') }),
    }
  }
}

/** A server that does not end the session in time is left. */
async function end(client: Client): Promise<void> {
  if (!(await waitAtMost(systemClock, closedWithinMs, client.end()))) streamOf(client).destroy()
}

function streamOf(client: Client): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream
}

/** @throws ErrandError LEDGER_UNAVAILABLE for a standby */
async function requirePrimary(client: Client, { host, port }: ServerHost): Promise<void> {
  const { rows } = await client.query('select pg_is_in_recovery() as standby')
  if (!(rows as [{ standby: boolean }])[0].standby) return
  throw new ErrandError(
    'LEDGER_UNAVAILABLE',
    `The PostgreSQL server at ${host}:${port} is a standby, which only reads: name the primary server.`,
    { host, port },
  )
}
