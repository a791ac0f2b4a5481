// The watch of a ledger on a server: one connection that notifies other engines of commits and is notified of theirs, holds a lock for each instance of
// this process, and compares the clocks. The locks are released when the session ends, so they prove a death; but a session also ends when the
// network fails, so an instance without its lock is given time to take it back.
import { hostname } from 'node:os'
import type { Clock } from '../../../core/clock.ts'
import { ErrandError } from '../../../core/errors.ts'
import { waitAtMost } from '../../../core/signals.ts'
import type { InstanceRecord } from '../../../entities/instance.ts'
import type { Lease, LeaseNotices, Life } from '../../ledger.ts'
import { applicationId } from '../../migrations/migrations.ts'
import type { LedgerLife } from './life.ts'
import type { ServerConnection } from './server-connection.ts'
import { ServerHeartbeat } from './server-heartbeat.ts'
import { ServerTime } from './server-time.ts'
import type { ServerTarget } from './server-url.ts'

/** A commit whose notification was lost is noticed after this time. */
const pollMs = 1_000
/** How soon a lost connection is made anew. */
const reconnectMs = 200
/** Notifications in a row become one in this time. */
const notifyEveryMs = 5
/** How long an instance may be without its session before it counts as dead. */
const graceMs = 2_000
/** How long a missing session proves nothing after another server has taken over, on which every instance must take its lock anew. */
const takeoverMs = 15_000
/** If two looks are further apart, this process may have been stopped: the time between them does not count. */
const lookAgainMs = 1_000
/** How long the server may take to repeat a notification to its sender. */
const repeatedWithinMs = 2_000
/** A connection without an answer for so many looks, each of this length, is lost. Several, because a process that was stopped looks late. */
const silentLooks = 5
const silentLookMs = 1_000

/** The locks of instances, beside those of the ledger, which have other keys. */
const instanceKey = applicationId + 2

const lookAtInstance = `
  select exists (select 1 from pg_locks where locktype = 'advisory' and granted and objsubid = 2
      and database = (select oid from pg_database where datname = current_database())
      and classid = $1::int4::oid and objid = hashtext($2)::oid) as held,
    instance.host, instance.pid,
    coalesce(instance.lease_until <= extract(epoch from clock_timestamp()) * 1000, false) as silent
  from (select 1) as one left join instance on id = $3`

export interface WatchNotices {
  /** Another process may have committed. */
  othersChanged(): void
  /** The server has not answered for some seconds: other connections to it are lost too. */
  silent(): void
}

export class ServerWatch implements LedgerLife {
  readonly #connection: ServerConnection
  readonly #target: ServerTarget
  readonly #clock: Clock
  readonly #channel: string
  readonly #schema: string
  readonly #notices: WatchNotices
  /** The instances of this process. */
  readonly #held = new Set<string>()
  /** By instance whose lock the session holds: since when. */
  readonly #locks = new Map<string, number>()
  /** Whether the session listens and holds the lock of every instance. A new one has yet to begin. */
  #hasBegun = false
  /** Instances seen without their lock: since when without a break, and when last. */
  readonly #missing = new Map<string, { since: number; last: number }>()
  #timer: unknown
  #closed = false
  #notifying = false
  #notifyAgain = false
  readonly #time: ServerTime
  /** Before this time a missing session proves nothing. */
  #judgesFrom = 0

  constructor(
    connection: ServerConnection,
    { target, schema, clock }: { target: ServerTarget; schema: { oid: number }; clock: Clock },
    notices: WatchNotices,
  ) {
    this.#connection = connection
    this.#target = target
    this.#clock = clock
    this.#time = new ServerTime(clock)
    this.#schema = String(schema.oid)
    this.#channel = `errand_${schema.oid}`
    this.#notices = notices
  }

  /** @throws ErrandError LEDGER_UNAVAILABLE */
  async open(): Promise<void> {
    const repeated = Promise.withResolvers<boolean>()
    this.#connection.onNotification = () => repeated.resolve(true)
    await this.#listen()
    await this.#connection.query(`notify ${this.#channel}`)
    const timer = this.#clock.setTimeout(() => repeated.resolve(false), repeatedWithinMs)
    const isRepeated = await repeated.promise
    this.#clock.clearTimeout(timer)
    if (!isRepeated) {
      throw new ErrandError(
        'LEDGER_UNAVAILABLE',
        'The PostgreSQL server does not repeat notifications to this session: the URL seems to lead through a connection pool that gives each transaction another session. Name the server itself, or add ?direct= with the host and the port of the server.',
        {},
      )
    }
    this.#connection.onNotification = (sender) => {
      if (sender !== this.#connection.processId) this.#notices.othersChanged()
    }
    await this.#compareClocks()
    this.#hasBegun = this.#connection.isConnected
    this.#connection.onLost = () => {
      this.#hasBegun = false
      this.#locks.clear()
      this.#lookAgain(0)
    }
    this.#lookAgain(this.#hasBegun ? pollMs : 0)
  }

  async register(instanceId: string): Promise<void> {
    await this.#connection.ensure()
    this.#held.add(instanceId)
    try {
      if (await this.#takeLock(instanceId)) return
      // The connection was lost meanwhile, and the session before still has the lock.
      this.#hasBegun = false
      this.#lookAgain(reconnectMs)
    } catch (error) {
      this.#held.delete(instanceId)
      throw new ErrandError('LEDGER_UNAVAILABLE', `The engine could not be registered: ${String(error)}.`, {}, error)
    }
  }

  async isAlive(instanceId: string): Promise<Life> {
    if (this.#held.has(instanceId)) return 'alive'
    // A process that has lost its own connection cannot judge others.
    if (!this.#connection.isConnected) return 'unknown'
    const { rows } = await this.#connection.query(lookAtInstance, [instanceKey, this.#keyOf(instanceId), instanceId])
    const [found] = rows as [{ held: boolean; host: string | null; pid: number | null; silent: boolean }]
    if (found.held) {
      this.#missing.delete(instanceId)
      return found.silent ? 'silent' : 'alive'
    }
    if (found.host === hostname() && found.pid !== null && !isProcess(found.pid)) return 'dead'
    const now = this.#clock.now()
    if (now < this.#judgesFrom) return found.silent ? 'silent' : 'unknown'
    const seen = this.#missing.get(instanceId)
    const since = seen === undefined || now - seen.last > lookAgainMs ? now : seen.since
    this.#missing.set(instanceId, { since, last: now })
    if (now - since >= graceMs) return 'dead'
    return found.silent ? 'silent' : 'unknown'
  }

  unregister(instanceId: string): void {
    this.#missing.delete(instanceId)
    this.#locks.delete(instanceId)
    if (!this.#held.delete(instanceId)) return
    // If the connection is lost, so is the lock.
    this.#connection
      .query('select pg_advisory_unlock($1, hashtext($2))', [instanceKey, this.#keyOf(instanceId)])
      .catch(() => {})
  }

  /** Another server has taken over from the one before. */
  takenOver(): void {
    this.#judgesFrom = this.#clock.now() + takeoverMs
    this.#missing.clear()
  }

  /** Notifies other processes, at once and then at most every few milliseconds. */
  committed(): void {
    if (this.#notifying) {
      this.#notifyAgain = true
      return
    }
    if (!this.#connection.isConnected) return // They notice by themselves, within a second.
    this.#notifying = true
    this.#connection.query(`notify ${this.#channel}`).catch(() => {})
    this.#clock.setTimeout(() => {
      this.#notifying = false
      if (!this.#notifyAgain || this.#closed) return
      this.#notifyAgain = false
      this.committed()
    }, notifyEveryMs)
  }

  readonly now = (): number => Math.floor(this.#time.now())

  readonly keepLease = (instance: InstanceRecord, leaseMs: number, notices: LeaseNotices): Lease => {
    const heldSince = (): number | undefined => this.#locks.get(instance.id)
    const host = { target: this.#target, instance, leaseMs, clock: this.#clock, watch: this.#connection, heldSince }
    return new ServerHeartbeat(host, notices)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#clock.clearTimeout(this.#timer)
    this.#held.clear()
    this.#connection.onLost = () => {}
    await this.#connection.close()
  }

  /** The database may hold several ledgers. */
  #keyOf(instanceId: string): string {
    return `${this.#schema}/${instanceId}`
  }

  async #listen(): Promise<void> {
    await this.#connection.ensure()
    await this.#connection.query(`listen ${this.#channel}`)
  }

  /** False while the session that held it before has not ended at the server. */
  async #takeLock(instanceId: string): Promise<boolean> {
    // The server counts how often a session takes a lock, and would keep it after one release.
    if (this.#locks.has(instanceId)) return true
    const { rows } = await this.#connection.query('select pg_try_advisory_lock($1, hashtext($2)) as taken', [
      instanceKey,
      this.#keyOf(instanceId),
    ])
    const [{ taken }] = rows as [{ taken: boolean }]
    if (taken) this.#locks.set(instanceId, this.#clock.now())
    return taken
  }

  #lookAgain(inMs: number): void {
    if (this.#closed) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = this.#clock.setTimeout(() => void this.#look(), inMs)
  }

  async #look(): Promise<void> {
    try {
      if (!this.#hasBegun) await this.#answered(this.#begin())
      else await this.#answered(this.#compareClocks(), () => this.#notices.silent())
      this.#notices.othersChanged()
      this.#lookAgain(pollMs)
    } catch {
      // Observers read through another connection, and report what fails there.
      this.#notices.othersChanged()
      this.#lookAgain(reconnectMs)
    }
  }

  /** A host that has vanished, or a network that drops packets, closes no connection. */
  async #answered(work: Promise<void>, silent: () => void = () => {}): Promise<void> {
    for (let look = 0; look < silentLooks; look++) if (await waitAtMost(this.#clock, silentLookMs, work)) return
    work.catch(() => {})
    this.#connection.drop()
    silent()
    throw new Error('the server does not answer')
  }

  async #begin(): Promise<void> {
    await this.#listen()
    await this.#compareClocks()
    const taken = await Promise.all([...this.#held].map((id) => this.#takeLock(id)))
    if (taken.includes(false)) throw new Error('the session before this one still holds a lock')
    this.#hasBegun = this.#connection.isConnected
  }

  async #compareClocks(): Promise<void> {
    const sentAt = this.#clock.now()
    const { rows } = await this.#connection.query('select extract(epoch from clock_timestamp())::float8 * 1000 as now')
    this.#time.compare((rows as [{ now: number }])[0].now, sentAt)
  }
}

/** Whether a process of this host has this id, of any user. */
function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code !== 'ESRCH'
  }
}
