// A connection to a PostgreSQL server. Each text is prepared once, and a lost connection is made anew when
// the next transaction begins.
import type { Client, QueryResult } from 'pg'
import { systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { waitAtMost } from '../../core/signals.ts'
import { messageOf } from '../../core/stored-error.ts'
import { inNextTurn } from '../../core/turns.ts'
import type { PostgresClient } from './client.ts'
import { createClient, endClient, type Purpose, requirePrimary, settingsOf, streamOf } from './server-client.ts'
import type { ServerHost, ServerTarget } from './server-url.ts'

/** How long a transaction may take to begin, which includes waiting for locks (`lock_timeout`). */
const begunWithinMs = 8_000
/** How long a new connection may take until it is ready for use. */
const readyWithinMs = 10_000
/** The maximum of prepared statements of a connection; the engine has about 180. */
const maxStatements = 500

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
  /** How often the connection was given up. */
  #dropped = 0
  /** Called with the process id of the sender. */
  onNotification: (processId: number) => void = () => {}
  onLost: () => void = () => {}
  /** Called with each new connection before it is used. If it throws, the connection is closed. */
  onConnected: ((client: Pick<Client, 'query'>) => Promise<void>) | undefined
  /** The server to try first; by default that of the last connection. */
  firstHost: () => ServerHost | undefined = () => this.#host

  constructor(target: ServerTarget, purpose: Purpose) {
    this.#target = target
    this.#purpose = purpose
    this.isPooled = purpose.mayBePooled === true && target.pools !== undefined
    this.#hosts = (this.isPooled ? target.pools : undefined) ?? target.hosts
  }

  get isConnected(): boolean {
    return this.#client !== undefined
  }

  /** The server of the last connection. */
  get host(): ServerHost | undefined {
    return this.#host
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
    const answered =
      parameters === undefined
        ? client.query(this.isPooled ? this.#withSettings(sql) : sql)
        : client.query({ ...this.#named(sql), values: parameters })
    const result = await this.#answeredInTime(sql, answered as Promise<QueryResult | QueryResult[]>)
    // Of several statements in one text, the last counts.
    const { rows, rowCount, command } = Array.isArray(result) ? (result.at(-1) as QueryResult) : result
    return { rows, affectedRows: rowCount ?? 0, command }
  }

  /**
   * Has the server plan the prepared statements anew when they are next used. It keeps a plan for a small table, which may read all of it,
   * until autovacuum looks at the table again. In a failed transaction nothing happens.
   */
  planAnew(): void {
    if (!this.isPooled) void this.#client?.query('discard plans').catch(() => {})
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
    await endClient(client)
  }

  /** Gives up the connection, also one that is being made: the statements under way fail as on any lost connection. */
  drop(): void {
    this.#dropped++
    const client = this.#client
    if (client === undefined) return
    this.#client = undefined
    streamOf(client).destroy()
    this.onLost()
  }

  /**
   * Drops the connection if there is no answer: a network may lose a connection without a sign, and a pool keeps a transaction waiting
   * while it has no session for it, and does not notice that a server has vanished.
   */
  async #answeredInTime<R>(sql: string, answered: Promise<R>): Promise<R> {
    const withinMs = sql.startsWith('begin') ? begunWithinMs : this.#purpose.answeredWithinMs
    if (withinMs === undefined) return await answered
    let isAnswered = false
    // Timers come before what has arrived: after work that kept the event loop busy the answer may lie in the socket.
    const late = (): void => inNextTurn(() => isAnswered || this.drop())
    const timer = systemClock.setTimeout(late, withinMs)
    try {
      return await answered
    } finally {
      isAnswered = true
      systemClock.clearTimeout(timer)
    }
  }

  /** A text that begins a transaction also makes its settings. */
  #withSettings(sql: string): string {
    return sql.replace(/^begin\b[^;]*/, (begin) => `${begin}; ${this.#settingsInTransaction}`)
  }

  get #settingsInTransaction(): string {
    const set = Object.entries(settingsOf(this.#target, this.#purpose)).map(
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

  /** Tries the servers in turn, and skips those that only read. */
  async #connect(): Promise<void> {
    const { name } = this.#target
    const refusals: ErrandError[] = []
    const dropped = this.#dropped
    const first = this.firstHost()
    const isFirst = ({ host, port }: ServerHost) => Number(host === first?.host && port === first.port)
    for (const host of [...this.#hosts].sort((one, other) => isFirst(other) - isFirst(one))) {
      try {
        const client = await this.#connectTo(host)
        if (this.#closed) return await endClient(client)
        if (this.#dropped !== dropped) {
          await endClient(client)
          throw new Error('the connection was given up while it was made')
        }
        this.#client = client
        return
      } catch (error) {
        const refusal = unreachable(error, `${host.host}:${host.port}`, name)
        if (this.#dropped !== dropped) throw refusal
        refusals.push(refusal)
      }
    }
    const [refusal] = refusals as [ErrandError]
    if (refusals.length === 1) throw refusal
    throw new ErrandError(
      'LEDGER_UNAVAILABLE',
      `None of the servers of ${name} can be used. ${refusals.map(({ message }) => message).join(' ')}`,
      { ledger: name },
      new AggregateError(refusals),
    )
  }

  async #connectTo(host: ServerHost): Promise<Client> {
    const client = await createClient(host, { target: this.#target, purpose: this.#purpose, isPooled: this.isPooled })
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
      await endClient(client)
      throw error
    }
  }

  async #prepare(client: Client, host: ServerHost): Promise<void> {
    await client.connect()
    await requirePrimary(client, host)
    this.#host = host
    await this.onConnected?.(client)
  }
}

// What to do when a PostgreSQL server cannot be reached.

/** @param address Of the server, as `host:port`. */
function unreachable(error: unknown, address: string, ledger: string): ErrandError {
  if (ErrandError.isInstance(error)) return error
  const code = (error as { code?: string } | null)?.code
  const remedy =
    remedies.find(({ codes }) => codes.test(code ?? messageOf(error)))?.remedy ?? 'Check the server and the URL.'
  return new ErrandError(
    'LEDGER_UNAVAILABLE',
    `The PostgreSQL server at ${address} cannot be reached: ${messageOf(error)}. ${remedy}`,
    { ledger, ...(code === undefined ? {} : { code }) },
    error,
  )
}

const remedies = [
  {
    codes: /^(28|SASL)/,
    remedy: 'Check the user and the password: in the URL, in PGUSER and PGPASSWORD, or in ~/.pgpass.',
  },
  { codes: /^3D000/, remedy: 'Create the database, or name another one in the URL.' },
  {
    codes: /^53300/,
    remedy: 'The server has no connection left: an engine needs four. Raise max_connections, or close others.',
  },
  {
    codes: /^08P01/,
    remedy:
      'A connection pool that gives each transaction another session needs the server behind it in the URL: add ?direct= with its host and port.',
  },
  {
    codes: /SSL|CERT|certificate/i,
    remedy:
      'Other hosts need TLS: enable it on the server. An authority of your own is named to Node by NODE_EXTRA_CA_CERTS.',
  },
]
