// Runs the steps of a ledger on a server: in waves beside other processes where they say whose rows they concern, else one by one behind the
// exclusive gate. Learns which rows groups meet at, and which steps run alone; finds out what became of a commit whose answer was lost.
import type { Clock } from '../../core/clock.ts'
import { sleep } from '../../core/signals.ts'
import {
  CommitFailed,
  type CommittedGroup,
  type GroupRunner,
  LedgerBusy,
  type QueuedStep,
  type StartTimer,
} from '../group-commit.ts'
import type { Tx } from '../ledger.ts'
import { StatementFailed } from './client.ts'
import type { OutcomeSource } from './commit-outcome.ts'
import type { LedgerLocks, WideLock } from './ledger-locks.ts'
import type { OneByOne } from './one-by-one.ts'
import type { Habits } from './row-locks.ts'
import type { ServerConnection } from './server-connection.ts'
import { BeginsAgain, OutOfOrder, RunsAlone } from './wave-errors.ts'
import { WaveGroup } from './wave-group.ts'

/** The maximum of steps in one transaction. */
const maxGroupSize = 500
/**
 * How often a step that had to run alone runs alone again before it is tried beside others: once at first, because it may have been a rare
 * case of it, then twice as often each time, up to this number.
 */
const maxTimesAlone = 16
/** From the third attempt on, a group that meets others is halved; the sixth runs its steps alone. */
const halvedFrom = 3
const aloneFrom = 6
const maxPauseMs = 20

export class Writer implements GroupRunner {
  readonly #connection: ServerConnection
  readonly #locks: LedgerLocks
  readonly #oneByOne: OneByOne
  readonly #tx: Tx
  readonly #wasCommitted: OutcomeSource
  readonly #clock: Clock
  readonly #random: () => number
  /** By the name of a step that had to run alone: how often it still will, of how many times. */
  readonly #alone = new Map<string, { left: number; of: number }>()
  readonly #habits: Habits = { limits: new Set(), creation: new Set(), claims: new Set() }

  constructor(
    connection: ServerConnection,
    locks: LedgerLocks,
    oneByOne: OneByOne,
    { tx, wasCommitted, clock, random }: { tx: Tx; wasCommitted: OutcomeSource; clock: Clock; random: () => number },
  ) {
    this.#connection = connection
    this.#locks = locks
    this.#oneByOne = oneByOne
    this.#tx = tx
    this.#wasCommitted = wasCommitted
    this.#clock = clock
    this.#random = random
  }

  /** Runs the first steps of a group, or all. @throws LedgerBusy, CommitFailed, StatementFailed */
  async runGroup(group: readonly QueuedStep[], startTimer: StartTimer): Promise<CommittedGroup> {
    const isAlone = ({ step }: QueuedStep) => (this.#alone.get(step.name)?.left ?? 0) > 0
    const [first] = group as [QueuedStep]
    const end = group.findIndex((queued) => isAlone(queued) !== isAlone(first))
    const alike = group.slice(0, Math.min(end === -1 ? group.length : end, maxGroupSize))
    if (!isAlone(first)) return await this.#runBeside(alike, startTimer)
    for (const { step } of alike) {
      const times = this.#alone.get(step.name)
      if (times !== undefined) times.left--
    }
    return await this.#runOneByOne(alike, startTimer)
  }

  async #runBeside(given: readonly QueuedStep[], startTimer: StartTimer): Promise<CommittedGroup> {
    const learned = { rows: new Set<string>(), keys: new Set<string>(), wide: new Set<WideLock>() }
    let group = given
    for (let attempt = 1; attempt < aloneFrom; attempt++) {
      const waves = new WaveGroup(this.#connection, this.#locks, this.#tx, group, {
        ...learned,
        habits: this.#habits,
      })
      try {
        await this.#connection.ensure()
        const committed = await waves.run(startTimer)
        for (const { step } of group) this.#alone.delete(step.name)
        return committed
      } catch (error) {
        const committed = await this.#afterFailure(error, waves)
        if (committed !== undefined) return committed
        if (error instanceof BeginsAgain) {
          learned.wide.add(error.lock)
          continue
        }
        if (error instanceof OutOfOrder) {
          group = group.slice(0, error.at)
          continue
        }
        if (error instanceof RunsAlone) {
          const { name } = (group[error.at] as QueuedStep).step
          const of = Math.min(maxTimesAlone, 2 * (this.#alone.get(name)?.of ?? 0.5))
          this.#alone.set(name, { left: of, of })
          if (error.at === 0) return await this.runGroup(group, startTimer)
          group = group.slice(0, error.at)
          continue
        }
        if (!(error instanceof StatementFailed && error.isContention)) break
        // The first flight has waited as long as a lock may take.
        if (error.isTimeout && !waves.holdsLocks) throw new LedgerBusy(0, error)
        const { tasks, keys } = waves.touched
        for (const id of tasks) learned.rows.add(id)
        for (const key of keys) learned.keys.add(key)
        if (attempt >= halvedFrom) group = group.slice(0, Math.ceil(group.length / 2))
        await sleep(this.#clock, this.#random() * Math.min(maxPauseMs, 2 ** attempt))
      }
    }
    return await this.#runOneByOne(group, startTimer)
  }

  async #runOneByOne(group: readonly QueuedStep[], startTimer: StartTimer): Promise<CommittedGroup> {
    try {
      return await this.#oneByOne.runGroup(group, startTimer)
    } catch (error) {
      throw error instanceof CommitFailed ? error.of(group.length) : error
    }
  }

  /** Rolls back. Undefined if the steps may run again. */
  async #afterFailure(error: unknown, waves: WaveGroup): Promise<CommittedGroup | undefined> {
    const isLost = !this.#connection.isConnected || (error instanceof StatementFailed && error.isLost)
    if (!isLost) {
      await this.#connection.query('rollback').catch(() => {})
      return undefined
    }
    // A session with a standby, to which a pool or a name still leads, is not lost by itself.
    this.#connection.drop()
    if (error instanceof LedgerBusy) throw error
    const { begun, firstEvent: event } = waves
    if (!waves.isCommitting || begun === undefined) throw new LedgerBusy(0, error)
    const { outcomes } = waves
    const isCommitted = await this.#wasCommitted({ ...begun, event }, error).catch((failure: unknown) => {
      throw failure instanceof CommitFailed ? failure.of(outcomes.length) : failure
    })
    if (isCommitted) return { outcomes, events: 'unseen' }
    throw new LedgerBusy(0, error)
  }
}
