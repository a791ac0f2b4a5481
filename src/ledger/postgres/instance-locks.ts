// The locks of instances, by which others see whether they live. Each is held by the session of the watch of its process. It is released when the
// session ends, which proves a death; but a session also ends when the network fails, so an instance without its lock is given time to take it
// back.
import type { Clock } from '../../core/clock.ts'
import { placeOfProcess } from '../../core/process-place.ts'
import type { Life } from '../ledger.ts'
import { applicationId } from '../migrations/migrations.ts'
import type { PostgresClient } from './client.ts'

/** How long an instance may be without its session, and without renewing its lease, before it counts as dead. */
const graceMs = 2_000
/** How long a missing session proves nothing after the server was started or another one has taken over: every instance takes its lock anew. */
const restartMs = 15_000
/** If two looks are further apart, this process may have been stopped: the time between them does not count. */
const lookAgainMs = 1_000

/** The locks of instances, beside those of the ledger, which have other keys. */
const instanceKey = applicationId + 2

const lookAtInstance = `
  select exists (select 1 from pg_locks where locktype = 'advisory' and granted and objsubid = 2
      and database = (select oid from pg_database where datname = current_database())
      and classid = $1::int4::oid and objid = hashtext($2)::oid) as held,
    instance.host, instance.pid, instance.lease_until,
    coalesce(instance.lease_until <= extract(epoch from clock_timestamp()) * 1000, false) as silent
  from (select 1) as one left join instance on id = $3`

export class InstanceLocks {
  readonly #connection: PostgresClient
  readonly #schema: { oid: number }
  readonly #clock: Clock
  /** By instance of this process whose lock the session holds: since when. */
  readonly #held = new Map<string, number>()
  /** By instance: the lock is being taken. */
  readonly #taking = new Map<string, Promise<boolean>>()
  /** Instances seen without their lock: since when without a break, and when last, with the end of their lease. */
  readonly #missing = new Map<string, { since: number; last: number; leaseUntil: number | null }>()
  /** Before this time a missing session proves nothing. */
  #judgesFrom = 0

  constructor(connection: PostgresClient, schema: { oid: number }, clock: Clock) {
    this.#connection = connection
    this.#schema = schema
    this.#clock = clock
  }

  // ── of this process ──

  heldSince(instanceId: string): number | undefined {
    return this.#held.get(instanceId)
  }

  /** False while the session that held it before has not ended at the server, which counts how often a session takes a lock. */
  async take(instanceId: string): Promise<boolean> {
    if (this.#held.has(instanceId)) return true
    const taking = this.#taking.get(instanceId) ?? this.#tryLock(instanceId)
    this.#taking.set(instanceId, taking)
    return await taking.finally(() => this.#taking.delete(instanceId))
  }

  release(instanceId: string): void {
    this.#held.delete(instanceId)
    // If the connection is lost, so is the lock.
    this.#connection
      .query('select pg_advisory_unlock($1, hashtext($2))', [instanceKey, this.#keyOf(instanceId)])
      .catch(() => {})
  }

  /** The session has ended. */
  lost(): void {
    this.#held.clear()
  }

  async #tryLock(instanceId: string): Promise<boolean> {
    const { rows } = await this.#connection.query('select pg_try_advisory_lock($1, hashtext($2)) as taken', [
      instanceKey,
      this.#keyOf(instanceId),
    ])
    const [{ taken }] = rows as [{ taken: boolean }]
    if (taken) this.#held.set(instanceId, this.#clock.now())
    return taken
  }

  /** The database may hold several ledgers. */
  #keyOf(instanceId: string): string {
    return `${this.#schema.oid}/${instanceId}`
  }

  // ── of others ──

  async judge(instanceId: string): Promise<Life> {
    const { rows } = await this.#connection.query(lookAtInstance, [instanceKey, this.#keyOf(instanceId), instanceId])
    type Found = { held: boolean; host: string | null; pid: number | null; silent: boolean; lease_until: number | null }
    const [found] = rows as [Found]
    if (found.held) {
      this.#missing.delete(instanceId)
      return found.silent ? 'silent' : 'alive'
    }
    if (found.host === placeOfProcess() && found.pid !== null && !isProcess(found.pid)) return 'dead'
    const now = this.#clock.now()
    if (now < this.#judgesFrom) return found.silent ? 'silent' : 'unknown'
    const seen = this.#missing.get(instanceId)
    // One whose connection cannot be made anew still renews its lease, through another one.
    const isSame = seen !== undefined && now - seen.last <= lookAgainMs && seen.leaseUntil === found.lease_until
    const since = isSame ? seen.since : now
    this.#missing.set(instanceId, { since, last: now, leaseUntil: found.lease_until })
    if (now - since >= graceMs) return 'dead'
    return found.silent ? 'silent' : 'unknown'
  }

  forget(instanceId: string): void {
    this.#missing.delete(instanceId)
  }

  /** The server was started anew, or another one has taken over. */
  restarted(): void {
    this.#judgesFrom = this.#clock.now() + restartMs
    this.#missing.clear()
  }
}

/** Whether a process that this one sees has this id, of any user. */
function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code !== 'ESRCH'
  }
}
