// The sessions of the agents that call: one per name, opened at its first call, closed when it has been silent for long or when
// the serving ends. A call that is under way keeps its session.
import type { InvokeOptions } from '../../bus/bus.ts'
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { waitAtMost } from '../../core/signals.ts'
import type { AgentSession } from './mcp-options.ts'

interface OpenSession {
  session: AgentSession
  /** Calls that are under way. */
  busy: number
  idleTimer?: unknown
}

/** Names come from clients: somebody who makes them up may not fill the memory. */
const maxSessions = 1_000
/** How long a call that does not listen to its signal may hold up the end. */
const endGraceMs = 5_000

interface SessionSettings {
  open: (agent: string | undefined) => AgentSession
  /** Without it a session lives until the end. */
  idleMs: number | undefined
  clock: Clock
  report: (error: unknown) => void
}

export class AgentSessions {
  readonly #settings: SessionSettings
  readonly #sessions = new Map<string | undefined, OpenSession>()
  readonly #calls = new Set<Promise<unknown>>()
  #closed = false

  constructor(settings: SessionSettings) {
    this.#settings = settings
  }

  /** @throws ErrandError LIMIT_EXCEEDED for one agent too many, ENGINE_CLOSED after the end; else what the ability throws. */
  async call(agent: string | undefined, abilityId: string, input: unknown, options: InvokeOptions): Promise<unknown> {
    const held = this.#hold(agent)
    const work = (async () => held.session.call(abilityId, input, options))()
    this.#calls.add(work)
    try {
      return await work
    } finally {
      this.#calls.delete(work)
      this.#released(agent, held)
    }
  }

  /** Lets calls that are under way come to their end, for a moment, and closes all sessions. */
  async close(): Promise<void> {
    this.#closed = true
    await waitAtMost(this.#settings.clock, endGraceMs, Promise.allSettled(this.#calls))
    await Promise.all(Array.from(this.#sessions, ([agent, held]) => this.#end(agent, held)))
  }

  #hold(agent: string | undefined): OpenSession {
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'This server has ended and takes no more calls.')
    let held = this.#sessions.get(agent)
    if (held === undefined) {
      if (this.#sessions.size >= maxSessions) {
        throw new ErrandError('LIMIT_EXCEEDED', `At most ${maxSessions} agents are served at once.`, {
          limit: maxSessions,
        })
      }
      held = { session: this.#settings.open(agent), busy: 0 }
      this.#sessions.set(agent, held)
    }
    this.#settings.clock.clearTimeout(held.idleTimer)
    held.busy += 1
    return held
  }

  #released(agent: string | undefined, held: OpenSession): void {
    held.busy -= 1
    const { clock, idleMs } = this.#settings
    if (held.busy > 0 || idleMs === undefined || this.#closed) return
    held.idleTimer = clock.setTimeout(() => void this.#end(agent, held), idleMs)
    // Whoever wants to exit need not wait for silent agents.
    ;(held.idleTimer as { unref?(): void } | undefined)?.unref?.()
  }

  async #end(agent: string | undefined, held: OpenSession): Promise<void> {
    this.#settings.clock.clearTimeout(held.idleTimer)
    if (this.#sessions.get(agent) === held) this.#sessions.delete(agent)
    try {
      await held.session.close()
    } catch (error) {
      this.#settings.report(error)
    }
  }
}
