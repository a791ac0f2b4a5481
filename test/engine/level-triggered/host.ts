// One of the two engines: opened, closed and reopened over one ledger, whose steps and reads fail for as long as the
// search says. The events of its subscribers and its feed are recorded for comparison with the ledger.

import { ErrandError } from '../../../src/core/errors.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'
// createEngine loads this in real time, which the search does not wait for.
import '../../../src/engine/engine.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { TaskEvent } from '../../../src/entities/event.ts'
import type { Ledger, Op, Reads } from '../../../src/ledger/ledger.ts'
import { createFaultyLedger, type FaultyLedger } from '../../../src/testing/faulty-ledger.ts'
import { perform } from './program.ts'
import type { World } from './world.ts'

export const maxConcurrent = 2
export const abortGraceMs = 300
export const shutdownTimeoutMs = 500

export const faultKinds = ['full disk', 'unknown outcomes', 'all reads', 'reads of the feed'] as const
export type FaultOfHost = (typeof faultKinds)[number]

/** A ledger that differs from another in a few methods. */
export function altered(inner: Ledger, changes: Partial<Ledger>): Ledger {
  return {
    name: inner.name,
    step: (step) => inner.step(step),
    read: (query) => inner.read(query),
    register: (id) => inner.register(id),
    isAlive: (id) => inner.isAlive(id),
    unregister: (id, options) => inner.unregister(id, options),
    observe: (observer, options) => inner.observe(observer, options),
    close: () => Promise.resolve(),
    ...changes,
  }
}

/** One engine from its opening to its end. */
export interface Opening {
  readonly engine: Engine
  readonly faulty: FaultyLedger
  /** The events of its subscriber; those of its feed from `pulledAfter` on are in `pulled`. */
  readonly received: TaskEvent[]
  readonly pulled: TaskEvent[]
  /** The end of the ledger when it was opened. */
  readonly from: number
  /** A fault was on at some time, which explains errors passed to `onError`. */
  spoiled: boolean
  closingAt: number | undefined
}

export class Host {
  readonly number: number
  readonly inner: Ledger
  readonly #world: World
  opening: Opening | undefined
  /** Opening or closing. */
  changing: Promise<void> | undefined
  fault: FaultOfHost | undefined
  /** Since when nothing has prevented it from working, by the clock; undefined while something does. */
  fairSince: number | undefined
  mendedAt = Number.NEGATIVE_INFINITY

  constructor(world: World, number: number, inner: Ledger) {
    this.#world = world
    this.number = number
    this.inner = inner
  }

  /** It works, or is prevented only by a fault. */
  get isOpen(): boolean {
    return this.opening !== undefined && this.changing === undefined
  }

  /** How long nothing has prevented it from working. */
  get fairMs(): number {
    return this.isOpen && this.fairSince !== undefined ? this.#world.clock.now() - this.fairSince : 0
  }

  /** Like `fairMs`, beyond the delays after which an engine retries what a fault refused. */
  isSettled(ms: number, pauseMs: number): boolean {
    return this.fairMs >= ms && this.#world.clock.now() - this.mendedAt >= ms + pauseMs
  }

  open(): void {
    if (this.opening !== undefined || this.changing) return
    this.#change(this.#open())
  }

  close(): void {
    const { opening } = this
    if (opening === undefined || this.changing) return
    opening.closingAt = this.#world.clock.now()
    this.#change(
      opening.engine.close().then(() => {
        this.opening = undefined
        this.fault = undefined
        this.mendedAt = Number.NEGATIVE_INFINITY
      }),
    )
  }

  #change(changing: Promise<void>): void {
    this.fairSince = undefined
    this.changing = changing.then(
      () => {
        this.changing = undefined
        this.#beginFair()
      },
      (error: unknown) => {
        this.changing = undefined
        this.#world.laws.complain(`engine ${this.number} could not open or close: ${String(error)}`)
      },
    )
  }

  /** Time has leapt: nothing that was due meanwhile counts as late yet. */
  leapt(): void {
    this.#beginFair()
  }

  #beginFair(): void {
    this.fairSince = this.fault === undefined ? this.#world.clock.now() : undefined
  }

  spoil(kind: FaultOfHost): void {
    const { opening } = this
    if (opening === undefined) return
    this.mend()
    this.fault = kind
    this.fairSince = undefined
    opening.spoiled = true
    if (kind === 'full disk') opening.faulty.fail(() => true, 'refused', { persistent: true })
    else if (kind === 'all reads') opening.faulty.failReads()
    else if (kind === 'unknown outcomes')
      opening.faulty.failAtRandom(() => this.#world.chance(), { lost: 0.25, kept: 0.25 })
  }

  mend(): void {
    if (this.fault === undefined) return
    this.fault = undefined
    this.mendedAt = this.#world.clock.now()
    this.opening?.faulty.mend()
    this.#beginFair()
  }

  async #open(): Promise<void> {
    const world = this.#world
    const faulty = createFaultyLedger(this.#apart())
    const ledger = altered(faulty, {
      read: (query) => faulty.read(this.fault === 'reads of the feed' ? (tx) => query(withoutFeed(tx)) : query),
    })
    const known: { opening?: Opening } = {}
    const engine = (await createEngine({
      ledger: world.plant?.(ledger, this) ?? ledger,
      clock: world.clock,
      ids: world.ids,
      executors: { work: (task, run) => perform(world, known.opening as Opening, task, run) },
      maxConcurrent,
      abortGraceMs,
      shutdownTimeoutMs,
      leaseMs: 3_600_000,
      work: false,
      onError: (error, context) => {
        const { code } = error as { code?: string }
        if (known.opening?.spoiled && faultCodes.has(code ?? '')) return
        // Some programs do not await their calls, and the engine reports it.
        if (code === 'CALL_INTERRUPTED') return
        world.laws.complain(`engine ${this.number} reported ${String(error)} ${JSON.stringify(context)}`)
      },
    })) as unknown as Engine
    const opening: Opening = {
      engine,
      faulty,
      received: [],
      pulled: [],
      from: await this.inner.read((tx) => tx.event.last()),
      spoiled: false,
      closingAt: undefined,
    }
    known.opening = opening
    world.laws.openings.push(opening)
    engine.subscribe('*', (event) => void opening.received.push(event))
    engine.status.get()
    void this.#pull(opening)
    await engine.work()
    this.opening = opening
  }

  /** Follows the feed like an outside reader: after an error it continues from the last event. */
  async #pull({ engine, pulled, from }: Opening): Promise<void> {
    for (;;) {
      try {
        for await (const event of engine.events({ after: pulled.at(-1)?.seq ?? from })) pulled.push(event)
        return
      } catch (error) {
        const { code } = error as { code?: string }
        if (code === 'ENGINE_CLOSED') return
        if (!faultCodes.has(code ?? ''))
          this.#world.laws.complain(`the feed of engine ${this.number} ended: ${String(error)}`)
        await new Promise<void>((again) => this.#world.clock.setTimeout(() => again(), 100))
      }
    }
  }

  /** Like two processes on one ledger: the commits of the other only wake, and their events are read. */
  #apart(): Ledger {
    const { inner } = this
    if (!this.#world.apart) return inner
    return altered(inner, {
      observe: (observer, options) =>
        inner.observe(
          {
            committed: (events) => {
              const own = this.opening?.engine.instanceId
              if (own === undefined || events.every((event) => event.instanceId === own)) observer.committed(events)
              else observer.changed()
            },
            changed: () => observer.changed(),
            failed: (error) => observer.failed(error),
          },
          options,
        ),
    })
  }
}

/** The error codes of the planted faults. */
export const faultCodes = new Set(['LEDGER_WRITE_FAILED', 'OUTCOME_UNKNOWN', 'LEDGER_UNAVAILABLE'])

function withoutFeed(tx: Reads): Reads {
  const refuse = (): never => {
    throw new ErrandError('LEDGER_UNAVAILABLE', 'A fault was planted in a read of the feed.', {})
  }
  return {
    ...tx,
    event: {
      ...tx.event,
      *after(): Op<TaskEvent[]> {
        return refuse()
      },
    },
  }
}
