// What a mirror needs of the engine whose board it writes: the board itself, the feed, and a sign of its own life for others.
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import type { TaskEvent } from '../../entities/event.ts'
import type { Life } from '../../ledger/ledger.ts'
import type { BoardHost } from '../board-host.ts'

export interface MirrorHost extends BoardHost {
  readonly clock: Clock
  /** A path, `:memory:` or a URL. */
  readonly ledgerName: string
  /** Every event after a position, until the signal aborts or the engine closes. */
  events(options: { after: number; signal: AbortSignal }): AsyncIterable<TaskEvent>
  /** Makes the death of a mirror visible to others at once, as that of an engine is. */
  register(id: string): Promise<void>
  isAlive(id: string): Promise<Life>
  unregister(id: string): void
  report(error: unknown, context: Record<string, unknown>): void
}

const hosts = new WeakMap<object, MirrorHost>()

/** Called by the engine when it is made: whoever holds it may mirror its boards. */
export function offerMirrorHost(engine: object, host: MirrorHost): void {
  hosts.set(engine, host)
}

/** @throws ErrandError INVALID_INPUT for what is no engine. */
export function mirrorHostOf(engine: unknown, what: string): MirrorHost {
  const host = typeof engine === 'object' && engine !== null ? hosts.get(engine) : undefined
  if (host !== undefined) return host
  throw new ErrandError('INVALID_INPUT', `${what} takes an engine, as createEngine returned it.`, { what })
}
