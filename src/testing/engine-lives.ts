// One engine after another on a ledger that stays: each may die at any moment, as a process does, and the next one begins.

import type { Clock, RestingEngine } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import { nextTurn } from '../core/turns.ts'
import type { Engine } from '../engine/engine-api.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { type DeathPoint, type MortalLedger, mortalLedger } from './mortal-ledger.ts'
import type { SimulatedClock } from './simulated-clock.ts'

export interface Life<E> {
  readonly engine: E
  readonly mortal: MortalLedger
}

export interface LivesOptions<E> {
  clock: SimulatedClock
  /** The ledger of all lives, which outlives them, or a new connection for each. */
  ledger(): Promise<Ledger>
  /** Opens an engine on the ledger and the clock of one life. */
  open(ledger: Ledger, clock: Clock): Promise<E>
  /** Whether the engine dies at this step. Default: it never does. */
  kills?: (point: DeathPoint) => boolean
}

/**
 * The turns of the event loop that take the place of a time limit while an engine closes: the clock stands still, and a function that never settles
 * must not keep a test from its end.
 */
const turnsToClose = 50

/**
 * The lives of one engine, one at a time. When one dies, its timers are gone, its promises never settle, and the next one is opened at once: to
 * the ledger the dead one is a process that is known to have ended.
 */
export class EngineLives<E extends Engine> {
  readonly #options: LivesOptions<E>
  readonly #leaveClock: () => void
  #life: Promise<Life<E>>
  #now: Life<E> | undefined
  #resting: RestingEngine | undefined
  /** The engine that was asked last whether it rests. */
  #rested: RestingEngine | undefined
  #isEnding = false

  constructor(options: LivesOptions<E>) {
    this.#options = options
    this.#life = this.#begin()
    this.#leaveClock = options.clock.join({ rest: () => this.#rest() })
  }

  /** The life that goes on, or the next one when it is open. */
  get life(): Promise<Life<E>> {
    return this.#life
  }

  /** The life that goes on; undefined between two. */
  get now(): Life<E> | undefined {
    return this.#now
  }

  /**
   * Does it once: again, in the next life, if the engine dies before it answers.
   * @throws ErrandError ENGINE_CLOSED
   */
  async act<T>(work: (engine: E) => Promise<T>): Promise<T> {
    for (;;) {
      this.#requireOpen()
      const { engine, mortal } = await this.#life
      const done = await Promise.race([work(engine).then((value) => ({ value })), mortal.death])
      if (done !== undefined) return done.value
    }
  }

  /**
   * Kills the engine, and resolves when the next one is open.
   * @throws ErrandError ENGINE_CLOSED
   */
  async die(): Promise<void> {
    this.#requireOpen()
    const mortal = this.#now?.mortal
    mortal?.die()
    await mortal?.death
    await this.#life
  }

  /** Closes the engine that lives. What it still does gets some turns of the event loop to end. */
  async end(): Promise<void> {
    this.#isEnding = true
    try {
      await (await this.#lastLife())?.engine.close()
    } finally {
      this.#leaveClock()
    }
  }

  /** Undefined when the engine did not open again after a crash. */
  async #lastLife(): Promise<Life<E> | undefined> {
    for (;;) {
      const life = await this.#life.catch(() => undefined)
      if (life === undefined || !life.mortal.isDead()) return life
    }
  }

  #requireOpen(): void {
    if (this.#isEnding)
      throw new ErrandError(
        'ENGINE_CLOSED',
        'The test engine is closed, and its ledger with it. Open a new one with createTestEngine.',
      )
  }

  /** Resolves to whether something has been done, or an engine has died or begun. */
  async #rest(): Promise<boolean> {
    const { mortal } = await this.#life
    const resting = this.#resting as RestingEngine
    const isNew = resting !== this.#rested
    this.#rested = resting
    const isMoving = await Promise.race([resting.rest(), mortal.death.then(() => true)])
    return isNew || isMoving
  }

  #begin(): Promise<Life<E>> {
    const life = this.#live()
    // Who awaits a life gets its error.
    life.catch(() => {})
    return life
  }

  async #live(): Promise<Life<E>> {
    const { ledger, open, kills = () => false } = this.#options
    for (;;) {
      const timers = new Set<unknown>()
      const mortal = mortalLedger(await ledger(), (point) => !this.#isEnding && kills(point))
      const engine = (await Promise.race([open(mortal.ledger, this.#clockOf(timers)), mortal.death])) as E | undefined
      if (engine !== undefined && !mortal.isDead()) {
        const life = { engine, mortal }
        this.#now = life
        void mortal.death.then(() => {
          this.#forget(timers)
          this.#now = undefined
          this.#life = this.#begin()
        })
        return life
      }
      this.#forget(timers)
    }
  }

  #forget(timers: ReadonlySet<unknown>): void {
    for (const timer of timers) this.#options.clock.clearTimeout(timer)
  }

  /** The clock of one life, whose timers end with it. */
  #clockOf(timers: Set<unknown>): Clock {
    const { clock } = this.#options
    return {
      now: () => clock.now(),
      setTimeout: (fn, timeoutMs, isUpkeep) => {
        const fire = (): void => {
          timers.delete(timer)
          fn()
        }
        const timer = this.#isEnding
          ? soon(() => timers.has(timer) && fire())
          : clock.setTimeout(fire, timeoutMs, isUpkeep)
        timers.add(timer)
        return timer
      },
      clearTimeout: (timer) => {
        timers.delete(timer)
        clock.clearTimeout(timer)
      },
      join: (engine) => {
        this.#resting = engine
        return () => {}
      },
      rest: () => clock.rest(),
    }
  }
}

/** Calls it after some turns. Returns what is its own, like the id of a timer. */
function soon(call: () => void): object {
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < turnsToClose; turn++) await nextTurn()
    call()
  }
  void turns()
  return {}
}
