// A heartbeat: one statement that renews the lease of an instance by the clock of the server, and the connection that a thread sends it on.
import type { Clock } from '../../core/clock.ts'
import { waitAtMost } from '../../core/signals.ts'
import type { InstanceRecord } from '../../entities/instance.ts'
import type { PostgresClient } from './client.ts'
import type { ServerHost, ServerTarget } from './server-url.ts'

/** What the thread is started with. */
export interface Heartbeats {
  readonly target: ServerTarget
  readonly instance: InstanceRecord
  readonly leaseMs: number
  /** The thread stores when the event loop turned before its last heartbeat that succeeded. The engine can read it while messages wait. */
  readonly renewedAt: BigInt64Array
}

/** What the thread sends: it asks whether the event loop turns, or how a heartbeat ended. */
export type WorkerMessage = 'does it turn?' | { failure: string | undefined }
/** What the engine sends to the thread. */
export type EngineMessage = { turnsAt: number } | 'beat now' | 'end' | { reconnect: ServerHost | undefined }

/** How long the server may take to answer, with the connection that may have to be made first. */
const minAnswerMs = 1_000
const maxAnswerMs = 5_000
/** The longest time until a heartbeat that failed is repeated. */
const maxRetryMs = 1_000

/** When the next heartbeat is due after one that succeeded. */
export const beatEveryMs = (leaseMs: number): number => leaseMs / 3
const answerWithinMs = (leaseMs: number): number => Math.min(maxAnswerMs, Math.max(minAnswerMs, leaseMs / 3))
export const retryAfterMs = (leaseMs: number): number => Math.min(maxRetryMs, leaseMs / 10)

// A row that had ended is open again, and one that was forgotten is written anew, as by `instance.renew`.
const renewal = `
  insert into instance (id, pid, host, started_at, lease_until, ended_at)
  values ($1, $2, $3, $4, floor(extract(epoch from clock_timestamp()) * 1000)::int8 + $5::int8, null)
  on conflict (id) do update set lease_until = excluded.lease_until, ended_at = null`

/** @throws what the server or the connection reports; an error after `answerWithinMs` without an answer */
export async function beat(
  connection: Required<PostgresClient>,
  { instance, leaseMs }: Pick<Heartbeats, 'instance' | 'leaseMs'>,
  clock: Clock,
): Promise<void> {
  const { id, pid, host, startedAt } = instance
  const renew = async (): Promise<void> => {
    await connection.ensure()
    await connection.query(renewal, [id, pid, host, startedAt, Math.ceil(leaseMs)])
  }
  if (!(await waitAtMost(clock, answerWithinMs(leaseMs), renew()))) throw new Error('the server does not answer')
}
