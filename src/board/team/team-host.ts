// What a team needs of the engine beside what the board does: time, and to be woken.
import type { Clock } from '../../clock.ts'
import type { BoardHost } from '../board-host.ts'

export interface TeamHost extends BoardHost {
  readonly clock: Clock
  /** Resolves when something has been written, here or by others, or when the signal aborts. @throws ErrandError ENGINE_CLOSED */
  moved(signal: AbortSignal): Promise<void>
  /** Wakes who waits so in this engine, after a step that made no event. */
  stir(): Promise<void>
}
