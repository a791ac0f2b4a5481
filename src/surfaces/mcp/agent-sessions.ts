// The sessions of the agents that call: one per name, opened at its first call, closed when it has been silent for long, when others
// need its place, or when the serving ends. A call that is under way keeps its session.
import type { InvokeOptions } from '../../bus/bus.ts'
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { waitAtMost } from '../../core/signals.ts'
import type { AgentSession } from './mcp-options.ts'

interface OpenSession {
  session: AgentSession
  /** The principal whose call opened it. */
  principal: string | undefined
  /** Calls that are under way. */
  busy: number
  idleTimer?: unknown
}

/** Names come from clients: a client that makes them up must neither fill the memory nor take the places of others. */
const maxSessions = 1_000
const maxSessionsPerPrincipal = 100
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
  /** Those without a call under way in the order of their last one, the earliest first. */
  readonly #sessions = new Map<string | undefined, OpenSession>()
  readonly #calls = new Set<Promise<unknown>>()
  #closed = false

  constructor(settings: SessionSettings) {
    this.#settings = settings
  }

  /**
   * @param principal who sends the call, as requests are counted.
   * @throws ErrandError LIMIT_EXCEEDED for one agent too many, ENGINE_CLOSED after the end; else what the ability throws.
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

  /** Lets calls that are under way come to their end, for a moment, and closes all sessions. */
  async close(): Promise<void> {
    this.#closed = true
    await waitAtMost(this.#settings.clock, endGraceMs, Promise.allSettled(this.#calls))
    await Promise.all(Array.from(this.#sessions, ([agent, held]) => this.#end(agent, held)))
  }

  #hold(agent: string | undefined, principal: string | undefined): OpenSession {
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'This server has ended and takes no more calls.')
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

  /** Where there are `max` of these already, the one that has been silent for longest ends. */
  #makeRoom(isOne: (session: OpenSession) => boolean, max: number): void {
    const these = [...this.#sessions].filter(([, held]) => isOne(held))
    if (these.length < max) return
    const silent = these.find(([, { busy }]) => busy === 0)
    if (silent === undefined) {
      throw new ErrandError(
        'LIMIT_EXCEEDED',
        `${max} agents have calls under way, and no more are served at once. Wait for one of these calls to end.`,
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
