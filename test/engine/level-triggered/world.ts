// The world of the search: one ledger, a clock that only the search moves, two engines. Nothing here writes to the
// ledger or wakes an engine by itself.
import { setImmediate } from 'node:timers/promises'
import type { Ledger, Op, Reads } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { createSequentialIds, SimulatedClock } from '../../../src/testing/index.ts'
import { Host } from './host.ts'
import { Laws } from './laws.ts'

/** Puts a fault between an engine and its ledger. */
export type Plant = (ledger: Ledger, host: Host) => Ledger

export interface WorldOptions {
  /** A connection for each engine; without it both share one ledger in memory. */
  file?: string | undefined
  /** In memory: the commits of one engine only wake the other, as between two processes. */
  apart?: boolean
  plant?: Plant | undefined
}

/** Maximum step of the clock that counts as passing time; a longer one is a leap. */
const pieceMs = 50

export class World {
  readonly clock: SimulatedClock
  readonly ids = createSequentialIds()
  readonly laws = new Laws(this)
  readonly apart: boolean
  readonly plant: Plant | undefined
  readonly #ledgers: readonly Ledger[]
  readonly #stops: Array<() => void>
  readonly hosts: readonly [Host, Host]
  /** The script has been played: functions are no longer held. */
  over = false
  #drawn = 1

  private constructor(clock: SimulatedClock, ledgers: readonly [Ledger, Ledger], options: WorldOptions) {
    const { apart = false, plant } = options
    this.clock = clock
    this.apart = apart
    this.plant = plant
    this.#ledgers = [...new Set(ledgers)]
    this.hosts = [new Host(this, 0, ledgers[0]), new Host(this, 1, ledgers[1])]
    this.#stops = this.#ledgers.map((ledger) =>
      ledger.observe(
        { committed: (events) => this.laws.committed(events), changed: () => {}, failed: () => {} },
        { watchOthers: false },
      ),
    )
  }

  static async open(options: WorldOptions = {}): Promise<World> {
    const clock = new SimulatedClock()
    const first = await openLedger(options.file ?? ':memory:', clock)
    const second = options.file === undefined ? first : await openLedger(options.file, clock)
    return new World(clock, [first, second], options)
  }

  /** The ledger below all faults. */
  read<R>(query: (tx: Reads) => Op<R>): Promise<R> {
    return (this.#ledgers[0] as Ledger).read(query)
  }

  /** The same numbers in every world. */
  chance(): number {
    this.#drawn = (this.#drawn * 48_271) % 2_147_483_647
    return this.#drawn / 2_147_483_647
  }

  /** Lets time pass in steps, and checks the laws in between. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= pieceMs) {
      this.clock.increment(Math.min(left, pieceMs))
      await turns(3)
      await this.laws.inspect()
    }
  }

  /** Like a machine that slept: everything that fell due meanwhile is due now. */
  async leap(ms: number): Promise<void> {
    this.clock.increment(ms)
    for (const host of this.hosts) host.leapt()
    await turns(3)
  }

  /** Resolves when no engine is opening or closing. */
  async settled(): Promise<void> {
    for (let turn = 0; this.hosts.some((host) => host.changing !== undefined); turn++) {
      if (turn > 400) throw new Error('An engine does not open or close')
      await this.pass(pieceMs)
    }
  }

  async close(): Promise<void> {
    for (const host of this.hosts) host.mend()
    for (const execution of this.laws.executions) execution.release()
    for (let turn = 0; turn < 400; turn++) {
      if (this.hosts.every((host) => host.opening === undefined && host.changing === undefined)) break
      for (const host of this.hosts) host.close()
      this.clock.increment(200)
      await turns(2)
    }
    for (const stop of this.#stops) stop()
    for (const ledger of this.#ledgers) await ledger.close()
  }
}

/** A few turns of the event loop, each with its commit. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}
