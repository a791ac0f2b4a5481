// What a mirror needs from its engine: the board, the feed, and a liveness lock that other processes can check.
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import type { TaskEvent } from '../../entities/event.ts'
import type { Life } from '../../ledger/ledger.ts'
import type { BoardHost } from '../board-host.ts'

export interface MirrorHost extends BoardHost {
  readonly clock: Clock
  /** A path, `:memory:` or a URL. */
  readonly ledgerName: string
  /** Yields the events after a position that still exist, until the signal aborts or the engine closes. Failed reads are retried. */
  follow(after: number, signal: AbortSignal): AsyncIterable<TaskEvent[]>
  /** Makes the end of this process visible to other mirrors at once, as for an engine. */
  register(id: string): Promise<void>
  isAlive(id: string): Promise<Life>
  unregister(id: string): void
  report(error: unknown, context: Record<string, unknown>): void
}

const hosts = new WeakMap<object, MirrorHost>()

/** Called by the engine when it is created, so that its boards can be mirrored. */
export function offerMirrorHost(engine: object, host: MirrorHost): void {
  hosts.set(engine, host)
}

/** @throws ErrandError INVALID_INPUT for a value that is not an engine. */
export function mirrorHostOf(engine: unknown, what: string): MirrorHost {
  const host = typeof engine === 'object' && engine !== null ? hosts.get(engine) : undefined
  if (host !== undefined) return host
  throw new ErrandError('INVALID_INPUT', `${what} takes an engine, as createEngine returned it.`, { what })
}
