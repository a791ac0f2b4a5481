// The sessions of the calling agents: one per name, opened by its first call. A session is closed when it has been idle for long, when
// its slot is needed, or when serving ends. Calls in progress keep their session.
import type { InvokeOptions } from '../../bus/bus.ts'
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { waitAtMost } from '../../core/signals.ts'
import type { AgentSession } from './mcp-options.ts'

interface OpenSession {
  session: AgentSession
  /** The principal whose call opened the session. */
  principal: string | undefined
  /** Number of calls in progress. */
  busy: number
  idleTimer?: unknown
}

/** Clients choose the names, so the number is limited: a client with many names must not exhaust memory or evict other agents. */
const maxSessions = 1_000
const maxSessionsPerPrincipal = 100
/** How long `close` waits for calls that ignore their abort signal. */
export const endGraceMs = 5_000

interface SessionSettings {
  open: (agent: string | undefined) => AgentSession
  /** Undefined: sessions stay open until `close`. */
  idleMs: number | undefined
  clock: Clock
  report: (error: unknown) => void
}

export class AgentSessions {
  readonly #settings: SessionSettings
  /** Sessions without a call in progress are in the order of their last call, least recent first. */
  readonly #sessions = new Map<string | undefined, OpenSession>()
  readonly #calls = new Set<Promise<unknown>>()
  #closed = false

  constructor(settings: SessionSettings) {
    this.#settings = settings
  }

  /**
   * @param principal the key under which limits count the caller.
   * @throws ErrandError LIMIT_EXCEEDED beyond the limit of agents, ENGINE_CLOSED after `close`; else the error of the ability.
   */
  async call(
    { agent, principal }: { agent: string | undefined; principal: string | undefined },
    abilityId: string,
    input: unknown,
    options: InvokeOptions,
  ): Promise<unknown> {
    const held = this.#hold(agent, principal)
    const work = (async () => held.session.call(abilityId, input, options))()
    this.#calls.add(work)
    try {
      return await work
    } finally {
      this.#calls.delete(work)
      this.#released(agent, held)
    }
  }

  /** Waits briefly for calls in progress and closes all sessions. */
  async close(): Promise<void> {
    this.#closed = true
    await waitAtMost(this.#settings.clock, endGraceMs, Promise.allSettled(this.#calls))
    await Promise.all(Array.from(this.#sessions, ([agent, held]) => this.#end(agent, held)))
  }

  #hold(agent: string | undefined, principal: string | undefined): OpenSession {
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'The server is closed and accepts no more calls.')
    let held = this.#sessions.get(agent)
    if (held === undefined) {
      this.#makeRoom((each) => each.principal === principal, maxSessionsPerPrincipal)
      this.#makeRoom(() => true, maxSessions)
      held = { session: this.#settings.open(agent), principal, busy: 0 }
      this.#sessions.set(agent, held)
    }
    this.#settings.clock.clearTimeout(held.idleTimer)
    held.busy += 1
    return held
  }

  /** If `max` of these sessions are open, closes the one that has been idle longest. */
  #makeRoom(isOne: (session: OpenSession) => boolean, max: number): void {
    const these = [...this.#sessions].filter(([, held]) => isOne(held))
    if (these.length < max) return
    const silent = these.find(([, { busy }]) => busy === 0)
    if (silent === undefined) {
      throw new ErrandError(
        'LIMIT_EXCEEDED',
        `${max} agents have calls in progress, which is the limit. Wait until one of these calls has ended.`,
        { limit: max },
      )
    }
    void this.#end(...silent)
  }

  #released(agent: string | undefined, held: OpenSession): void {
    held.busy -= 1
    if (held.busy > 0 || this.#closed) return
    this.#sessions.delete(agent)
    this.#sessions.set(agent, held)
    const { clock, idleMs } = this.#settings
    if (idleMs === undefined) return
    held.idleTimer = clock.setTimeout(() => void this.#end(agent, held), idleMs)
    // An idle session must not keep the process alive.
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
