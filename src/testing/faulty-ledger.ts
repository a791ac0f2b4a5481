// A ledger that fails on request: the crash points of every step, reached through the port and not through hooks in the engine.
import { ErrandError } from '../errors.ts'
import type { Ledger, LedgerObserver, Life, Op, Reads, Step, Tx } from '../ledger/ledger.ts'

/**
 * How a step fails:
 * - `refused`: rejects with LEDGER_WRITE_FAILED, after all was written and taken back;
 * - `lost`: rejects with OUTCOME_UNKNOWN, and nothing was kept;
 * - `kept`: rejects with OUTCOME_UNKNOWN, and all was kept.
 */
export type FaultKind = 'refused' | 'lost' | 'kept'

/** Which steps a fault or a gate meets: the n-th from now (from 1), all of a name, or those that a function picks. */
export type StepChoice = number | string | ((name: string, nth: number) => boolean)

/** Holds steps back until it is opened. */
export interface Gate {
  /** Resolves when the first step has arrived at it. */
  readonly reached: Promise<void>
  open(): void
}

/** A ledger with faults to order. */
export interface FaultyLedger extends Ledger {
  /** Names of the steps that arrived, in order. */
  readonly steps: readonly string[]
  /** Lets chosen steps fail; once, or every time until `mend`. */
  fail(choice: StepChoice, how: FaultKind, options?: { persistent?: boolean }): void
  /** Holds chosen steps back before they reach the ledger. Steps behind them overtake. */
  hold(choice: StepChoice): Gate
  /** Takes back all faults and opens all gates. */
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
    for (const gate of this.#gates) gate.open()
  }

  async step<L, D, R>(step: Step<L, D, R>): Promise<R> {
    this.steps.push(step.name)
    // Every matcher counts every step, whichever of them it falls to.
    const faults = this.#faults.filter((fault) => fault.meets(step.name))
    const gates = this.#gates.filter((gate) => gate.meets(step.name))
    const fault = faults[0]
    if (fault && !fault.persistent) this.#faults = this.#faults.filter((each) => each !== fault)
    for (const gate of gates) {
      gate.arrive()
      await gate.opened
    }
    return fault === undefined ? this.#inner.step(step) : this.#failing(step, fault.how)
  }

  async #failing<L, D, R>(step: Step<L, D, R>, how: FaultKind): Promise<R> {
    const planted = new ErrandError(
      how === 'refused' ? 'LEDGER_WRITE_FAILED' : 'OUTCOME_UNKNOWN',
      `A fault was planted in the step "${step.name}" (${how}).`,
      { step: step.name, how },
    )
    await this.#inner.step(how === 'kept' ? step : takenBack(step, planted))
    throw planted
  }

  read<R>(query: (tx: Reads) => Op<R>): Promise<R> {
    return this.#inner.read(query)
  }

  enlist(instanceId: string): Promise<void> {
    return this.#inner.enlist(instanceId)
  }

  isAlive(instanceId: string): Promise<Life> {
    return this.#inner.isAlive(instanceId)
  }

  discharge(instanceId: string, options?: { asDead?: boolean }): void {
    this.#inner.discharge(instanceId, options)
  }

  observe(observer: LedgerObserver, options: { watchOthers: boolean }): () => void {
    return this.#inner.observe(observer, options)
  }

  close(options?: { withinMs?: number }): Promise<void> {
    this.mend()
    return this.#inner.close(options)
  }
}

/** Writes all that the step writes and then throws inside its transaction. */
function takenBack<L, D, R>(step: Step<L, D, R>, error: unknown): Step<L, D, R> {
  return {
    ...step,
    name: step.name,
    load: (tx) => step.load(tx),
    judge: (loaded) => step.judge(loaded),
    *write(tx: Tx, decision: D): Op<R> {
      yield* step.write(tx, decision)
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
