// A ledger that fails on request: the crash points of every step, reached through the port and not through hooks in the engine.
import type { Reader } from '../bus/read-principal.ts'
import { ErrandError } from '../core/errors.ts'
import type { Ledger, LedgerObserver, Life, Op, Reads, Step } from '../ledger/ledger.ts'

/**
 * How a step fails:
 * - `refused`: rejects with LEDGER_WRITE_FAILED, after all was written and taken back;
 * - `lost`: rejects with OUTCOME_UNKNOWN, and nothing was kept;
 * - `kept`: rejects with OUTCOME_UNKNOWN, and all was kept.
 */
export type FaultKind = 'refused' | 'lost' | 'kept'

/** How probable each fault is, between 0 and 1; `read`: a read that rejects with LEDGER_UNAVAILABLE. */
export type FaultRates = Partial<Record<FaultKind | 'read', number>>

/** The steps that a fault or a gate applies to: the n-th from now (from 1), all of a name, or those that a function selects. */
export type StepChoice = number | string | ((name: string, nth: number) => boolean)

/** Holds steps back until it is opened. */
export interface Gate {
  /** Resolves when the first step has arrived at it. */
  readonly reached: Promise<void>
  open(): void
}

/** A ledger with configurable faults. */
export interface FaultyLedger extends Ledger {
  /** Names of the steps that arrived, in order. */
  readonly steps: readonly string[]
  /** Makes chosen steps fail, once, or every time until `mend`. A full disk: `fail(() => true, 'refused', { persistent: true })`. */
  fail(choice: StepChoice, how: FaultKind, options?: { persistent?: boolean }): void
  /** Makes the next `count` reads fail with LEDGER_UNAVAILABLE; without a number all of them until `mend`. */
  failReads(count?: number): void
  /** Makes steps and reads fail at random until `mend`. The same `random` leads to the same faults. */
  failAtRandom(random: () => number, rates: FaultRates): void
  /** Holds chosen steps back before they reach the ledger. Steps behind them overtake. */
  hold(choice: StepChoice): Gate
  /** Removes all faults and opens all gates. */
  mend(): void
}

interface Fault {
  meets(name: string): boolean
  readonly how: FaultKind
  readonly persistent: boolean
}

interface HeldGate {
  meets(name: string): boolean
  readonly opened: Promise<void>
  arrive(): void
  open(): void
}

/**
 * Wraps a ledger so that it fails where a test says.
 *
 * @example
 * const ledger = createFaultyLedger(await openLedger(':memory:'))
 * ledger.fail('create', 'kept') // the next create is in the ledger, and its caller does not know
 */
export function createFaultyLedger(inner: Ledger): FaultyLedger {
  return new Faulty(inner)
}

class Faulty implements FaultyLedger {
  readonly steps: string[] = []
  readonly #inner: Ledger
  readonly #observers = new Set<LedgerObserver>()
  #failingReads = 0
  #chance: { random: () => number; rates: FaultRates } | undefined
  /** A step is in the ledger, and its caller must not know: observers of its commit are only notified to read. */
  #doubtful = false
  #faults: Fault[] = []
  #gates: HeldGate[] = []

  constructor(inner: Ledger) {
    this.#inner = inner
  }

  get name(): string {
    return this.#inner.name
  }

  fail(choice: StepChoice, how: FaultKind, { persistent = false }: { persistent?: boolean } = {}): void {
    this.#faults.push({ meets: matcher(choice), how, persistent })
  }

  failReads(count = Number.POSITIVE_INFINITY): void {
    this.#failingReads = count
  }

  failAtRandom(random: () => number, rates: FaultRates): void {
    this.#chance = { random, rates }
  }

  hold(choice: StepChoice): Gate {
    const arrived = Promise.withResolvers<void>()
    const opened = Promise.withResolvers<void>()
    const gate = {
      meets: matcher(choice),
      opened: opened.promise,
      arrive: arrived.resolve,
      open: () => {
        this.#gates = this.#gates.filter((each) => each !== gate)
        opened.resolve()
      },
    }
    this.#gates.push(gate)
    return { reached: arrived.promise, open: gate.open }
  }

  mend(): void {
    this.#faults = []
    this.#failingReads = 0
    this.#chance = undefined
    for (const gate of this.#gates) gate.open()
  }

  async step<R>(step: Step<R>): Promise<R> {
    this.steps.push(step.name)
    // Every matcher counts every step, also one that another matcher fails.
    const faults = this.#faults.filter((fault) => fault.meets(step.name))
    const gates = this.#gates.filter((gate) => gate.meets(step.name))
    const fault = faults[0]
    const how = fault?.how ?? this.#stepByChance()
    if (fault && !fault.persistent) this.#faults = this.#faults.filter((each) => each !== fault)
    for (const gate of gates) {
      gate.arrive()
      await gate.opened
    }
    return how === undefined ? this.#inner.step(step) : this.#failing(step, how)
  }

  async #failing<R>(step: Step<R>, how: FaultKind): Promise<R> {
    const planted = new ErrandError(
      how === 'refused' ? 'LEDGER_WRITE_FAILED' : 'OUTCOME_UNKNOWN',
      `A fault was planted in the step "${step.name}" (${how}).`,
      { step: step.name, how },
    )
    try {
      await this.#inner.step(how === 'kept' ? this.#inDoubt(step) : takenBack(step, planted))
    } finally {
      if (how === 'lost' || this.#doubtful) this.#notifyObservers()
    }
    throw planted
  }

  #stepByChance(): FaultKind | undefined {
    if (this.#chance === undefined) return undefined
    const { random, rates } = this.#chance
    let drawn = random()
    for (const how of ['refused', 'lost', 'kept'] as const) {
      drawn -= rates[how] ?? 0
      if (drawn < 0) return how
    }
    return undefined
  }

  #readFails(): boolean {
    if (this.#failingReads > 0) {
      this.#failingReads -= 1
      return true
    }
    return this.#chance !== undefined && this.#chance.random() < (this.#chance.rates.read ?? 0)
  }

  #inDoubt<R>(step: Step<R>): Step<R> {
    const written = (): void => {
      this.#doubtful = true
    }
    return {
      ...step,
      *decide(tx): Op<R> {
        const result = yield* step.decide(tx)
        written()
        return result
      },
    }
  }

  #notifyObservers(): void {
    this.#doubtful = false
    for (const observer of this.#observers) observer.changed()
  }

  async read<R>(query: (tx: Reads) => Op<R>, reader?: Reader): Promise<R> {
    if (!this.#readFails()) return this.#inner.read(query, reader)
    throw new ErrandError('LEDGER_UNAVAILABLE', 'A fault was planted in a read.', {}, new Error('disk I/O error'))
  }

  register(instanceId: string): Promise<void> {
    return this.#inner.register(instanceId)
  }

  isAlive(instanceId: string): Promise<Life> {
    return this.#inner.isAlive(instanceId)
  }

  unregister(instanceId: string, options?: { asDead?: boolean }): void {
    this.#inner.unregister(instanceId, options)
  }

  observe(observer: LedgerObserver, options: { watchOthers: boolean }): () => void {
    this.#observers.add(observer)
    const stop = this.#inner.observe(
      {
        committed: (events) => {
          if (this.#doubtful) this.#notifyObservers()
          else observer.committed(events)
        },
        changed: () => observer.changed(),
        failed: (error) => observer.failed(error),
      },
      options,
    )
    return () => {
      this.#observers.delete(observer)
      stop()
    }
  }

  close(options?: { withinMs?: number }): Promise<void> {
    this.mend()
    return this.#inner.close(options)
  }
}

/** Runs all writes of the step and then throws inside its transaction. */
function takenBack<R>(step: Step<R>, error: unknown): Step<R> {
  return {
    ...step,
    *decide(tx): Op<R> {
      yield* step.decide(tx)
      throw error
    },
  }
}

function matcher(choice: StepChoice): (name: string) => boolean {
  let seen = 0
  return (name) => {
    seen += 1
    if (typeof choice === 'number') return seen === choice
    return typeof choice === 'string' ? name === choice : choice(name, seen)
  }
}
