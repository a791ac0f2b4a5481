// The watch of a ledger on a server: one connection that notifies other engines of commits and is notified of theirs, holds a lock for each
// instance of this process, and compares the clocks.
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { waitAtMost } from '../../core/signals.ts'
import { messageOf } from '../../core/stored-error.ts'
import type { InstanceRecord } from '../../entities/instance.ts'
import type { Lease, LeaseNotices, Life } from '../ledger.ts'
import type { LedgerLife } from './instance-liveness.ts'
import { InstanceLocks } from './instance-locks.ts'
import type { ServerConnection } from './server-connection.ts'
import { ServerHeartbeat } from './server-heartbeat.ts'
import type { ServerTarget } from './server-url.ts'

/** A commit whose notification was lost is noticed after this time. */
const pollMs = 1_000
/** How soon a lost connection is made anew. */
const reconnectMs = 200
/** Notifications in a row become one in this time. */
const notifyEveryMs = 5
/** How often an instance without its session renews its lease, so that it does not count as dead. */
const unlockedBeatMs = 500
/** How long the connection may be lost before that is reported. */
const reportAfterMs = 5_000
/** How long the server may take to repeat a notification to its sender. */
const repeatedWithinMs = 2_000
/** A connection without an answer for so many looks, each of this length, is lost. Several, because a process that was stopped looks late. */
const silentLooks = 5
const silentLookMs = 1_000

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
  readonly #notices: WatchNotices
  /** The instances of this process. */
  readonly #own = new Set<string>()
  readonly #locks: InstanceLocks
  /** Whether the session listens and holds the lock of every instance. A new one has yet to begin. */
  #hasBegun = false
  /** By instance of this process. */
  readonly #heartbeats = new Map<string, ServerHeartbeat>()
  #timer: unknown
  #unlockedBeat: unknown
  #beginning: Promise<void> | undefined
  /** Since when the connection is lost, and whether that was reported. */
  #failing: { since: number; isReported: boolean } | undefined
  #closed = false
  #notifying = false
  #notifyAgain = false
  readonly #time: ServerTime

  constructor(
    connection: ServerConnection,
    { target, schema, clock }: { target: ServerTarget; schema: { oid: number }; clock: Clock },
    notices: WatchNotices,
  ) {
    this.#connection = connection
    this.#target = target
    this.#clock = clock
    this.#time = new ServerTime(clock)
    this.#locks = new InstanceLocks(connection, schema, clock)
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
      this.#locks.lost()
      this.#beginAgain(0)
    }
    this.#lookAgain(this.#hasBegun ? pollMs : 0)
  }

  async register(instanceId: string): Promise<void> {
    await this.#connection.ensure()
    this.#own.add(instanceId)
    try {
      if (await this.#locks.take(instanceId)) return
      // The connection was lost meanwhile, and the session before still has the lock.
      this.#beginAgain(reconnectMs)
    } catch (error) {
      this.#own.delete(instanceId)
      throw new ErrandError('LEDGER_UNAVAILABLE', `The engine could not be registered: ${String(error)}.`, {}, error)
    }
  }

  async isAlive(instanceId: string): Promise<Life> {
    if (this.#own.has(instanceId)) return 'alive'
    // A process that has lost its own connection cannot judge others.
    if (!this.#connection.isConnected) return 'unknown'
    return await this.#locks.judge(instanceId)
  }

  unregister(instanceId: string): void {
    this.#heartbeats.delete(instanceId)
    if (this.#own.delete(instanceId)) this.#locks.release(instanceId)
    else this.#locks.forget(instanceId)
  }

  /** The server was started anew, or another one has taken over. */
  restarted(): void {
    this.#locks.restarted()
  }

  /** The connections of the threads that renew leases are made anew: a previous server may still accept heartbeats. */
  reconnectHeartbeats(): void {
    for (const heartbeat of this.#heartbeats.values()) heartbeat.reconnect(this.#connection.host)
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
    const heldSince = (): number | undefined => this.#locks.heldSince(instance.id)
    const host = { target: this.#target, instance, leaseMs, clock: this.#clock, watch: this.#connection, heldSince }
    const heartbeat = new ServerHeartbeat(host, notices)
    this.#heartbeats.set(instance.id, heartbeat)
    return heartbeat
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#clock.clearTimeout(this.#timer)
    this.#clock.clearTimeout(this.#unlockedBeat)
    this.#own.clear()
    this.#connection.onLost = () => {}
    await this.#connection.close()
  }

  async #listen(): Promise<void> {
    await this.#connection.ensure()
    await this.#connection.query(`listen ${this.#channel}`)
  }

  #lookAgain(inMs: number): void {
    if (this.#closed) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = this.#clock.setTimeout(() => void this.#look(), inMs)
  }

  #beginAgain(inMs: number): void {
    this.#hasBegun = false
    this.#lookAgain(inMs)
    this.#beatUnlocked()
  }

  #beatUnlocked(): void {
    this.#clock.clearTimeout(this.#unlockedBeat)
    if (this.#closed || this.#hasBegun) return
    for (const heartbeat of this.#heartbeats.values()) heartbeat.beatNow()
    this.#unlockedBeat = this.#clock.setTimeout(() => this.#beatUnlocked(), unlockedBeatMs)
  }

  async #look(): Promise<void> {
    try {
      if (!this.#hasBegun) await this.#answered(this.#beginOnce())
      else await this.#answered(this.#compareClocks(), () => this.#notices.silent())
      this.#failing = undefined
      this.#notices.othersChanged()
      this.#lookAgain(pollMs)
    } catch (error) {
      this.#reportLoss(error)
      this.#notices.othersChanged()
      this.#lookAgain(reconnectMs)
    }
  }

  /** What else fails for lack of a server is reported by what needs it. */
  #reportLoss(error: unknown): void {
    const now = this.#clock.now()
    this.#failing ??= { since: now, isReported: false }
    if (this.#failing.isReported || now - this.#failing.since < reportAfterMs) return
    this.#failing.isReported = true
    const message = `The connection by which the engine is notified of commits of others, and shows them that it lives, cannot be made again. The engine keeps trying, and meanwhile looks for commits without it. ${messageOf(error)}`
    for (const heartbeat of this.#heartbeats.values())
      heartbeat.report(new ErrandError('LEDGER_UNAVAILABLE', message, {}, error))
  }

  /** One that takes long is waited for again. */
  #beginOnce(): Promise<void> {
    this.#beginning ??= this.#begin().finally(() => {
      this.#beginning = undefined
    })
    return this.#beginning
  }

  /** A host that has vanished, or a network that drops packets, closes no connection. */
  async #answered(work: Promise<void>, silent: () => void = () => {}): Promise<void> {
    for (let look = 0; look < silentLooks; look++) if (await waitAtMost(this.#clock, silentLookMs, work)) return
    work.catch(() => {})
    // One that is being made has limits of its own: the first of several hosts may be the one that has vanished.
    if (this.#connection.isConnected) this.#connection.drop()
    silent()
    throw new Error('the server does not answer')
  }

  async #begin(): Promise<void> {
    await this.#listen()
    await this.#compareClocks()
    const taken = await Promise.all([...this.#own].map((id) => this.#locks.take(id)))
    if (taken.includes(false)) throw new Error('the session before this one still holds a lock')
    this.#hasBegun = this.#connection.isConnected
  }

  async #compareClocks(): Promise<void> {
    const sentAt = this.#clock.now()
    const { rows } = await this.#connection.query('select extract(epoch from clock_timestamp())::float8 * 1000 as now')
    this.#time.compare((rows as [{ now: number }])[0].now, sentAt)
  }
}

// The time of a server, as far as this host knows it from the answers of the server: it never steps back.

/** A time that is ahead of the server passes at this rate until both agree. */
const rateAhead = 0.5

export class ServerTime {
  readonly #clock: Pick<Clock, 'now'>
  /** The clock of the server minus that of this host, in milliseconds. Undefined before they were compared. */
  #offsetMs: number | undefined
  /** How far this time was ahead of the server when they were last compared, and when that was. */
  #ahead = { ms: 0, at: 0 }
  #last = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  now(): number {
    const here = this.#clock.now()
    const aheadMs = Math.max(0, this.#ahead.ms - (here - this.#ahead.at) * (1 - rateAhead))
    // The clock of the host may itself be set back.
    this.#last = Math.max(this.#last, here + (this.#offsetMs ?? 0) + aheadMs)
    return this.#last
  }

  /**
   * Compares the clocks: the server said `there` between `sentAt` and now, of the clock of this host. However late the answer was read, the
   * offset changes by no more than that proves.
   */
  compare(there: number, sentAt: number): void {
    const here = this.#clock.now()
    const known = this.#offsetMs
    const before = known === undefined ? Number.NEGATIVE_INFINITY : this.now()
    this.#offsetMs =
      known === undefined ? there - (sentAt + here) / 2 : Math.min(Math.max(known, there - here), there - sentAt)
    this.#ahead = { ms: Math.max(0, before - (here + this.#offsetMs)), at: here }
  }
}
