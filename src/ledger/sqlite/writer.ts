// Runs the steps of a ledger in a file or in memory: synchronously, one transaction per group. Nothing is ever awaited in between.
import { AppendedEvents } from '../appended-events.ts'
import {
  CommitFailed,
  type CommittedGroup,
  type GroupRunner,
  LedgerBusy,
  type QueuedStep,
  refusedStep,
  type StartTimer,
  type StepOutcome,
} from '../group-commit.ts'
import type { Step, Tx } from '../ledger.ts'
import { type Asked, answered } from '../statement.ts'
import { buffered } from '../write-buffer.ts'
import { type Connection, isBusy, sqliteCode, translate } from './connection.ts'
import { busyTimeoutMs } from './open-file.ts'

export class SqliteWriter implements GroupRunner {
  readonly #name: string
  readonly #connection: Connection
  readonly #tx: Tx
  readonly #requirePlace: () => void

  /** `requirePlace` throws if what was committed is not in the file that others read. */
  constructor(name: string, connection: Connection, tx: Tx, requirePlace: () => void) {
    this.#name = name
    this.#connection = connection
    this.#tx = tx
    this.#requirePlace = requirePlace
  }

  runGroup(group: readonly QueuedStep[], startTimer: StartTimer): CommittedGroup {
    // Steps are pure, so a group in which one failed after a write is run again with a savepoint around each: no savepoint is needed in the
    // common case, and such a step still fails alone.
    return this.#tryGroup(group, startTimer, false) ?? (this.#tryGroup(group, startTimer, true) as CommittedGroup)
  }

  #tryGroup(group: readonly QueuedStep[], startTimer: StartTimer, savepoints: boolean): CommittedGroup | undefined {
    const events = new AppendedEvents()
    const outcomes: StepOutcome[] = []
    try {
      this.#connection.begin('begin immediate')
    } catch (error) {
      throw isBusy(error) ? new LedgerBusy(busyTimeoutMs) : translate(error, this.#name)
    }
    const mayGoOn = startTimer()
    try {
      for (const { step } of group) {
        if (outcomes.length > 0 && !mayGoOn()) break
        const outcome = savepoints ? this.#runStepApart(step, events) : this.#runStep(step, events)
        if (outcome === undefined) {
          this.#connection.rollback()
          return undefined
        }
        outcomes.push(outcome)
      }
    } catch (error) {
      this.#connection.rollback()
      throw translate(error, this.#name)
    }
    this.#commit()
    this.#requirePlace()
    return { outcomes, events: events.committed() }
  }

  #commit(): void {
    try {
      this.#connection.execute('commit')
    } catch (error) {
      this.#connection.rollback()
      throw new CommitFailed(error instanceof Error ? error.message : String(error), { cause: error })
    }
  }

  /** Undefined if the step failed after its first write: the whole group must be rolled back. */
  #runStep(step: Step, events: AppendedEvents): StepOutcome | undefined {
    const { writes } = events
    try {
      return { ok: true, value: this.#runBuffered(step, events) }
    } catch (error) {
      return events.writes > writes || sqliteCode(error) !== undefined ? undefined : { ok: false, error }
    }
  }

  /** @throws when SQLite has rolled back the whole transaction by itself */
  #runStepApart(step: Step, events: AppendedEvents): StepOutcome {
    const before = events.length
    this.#connection.execute('savepoint step')
    try {
      const value = this.#runBuffered(step, events)
      this.#connection.execute('release step')
      return { ok: true, value }
    } catch (error) {
      if (!this.#connection.inTransaction) throw error
      this.#connection.execute('rollback to step')
      this.#connection.execute('release step')
      events.truncate(before)
      return { ok: false, error: this.#refusal(step, error) }
    }
  }

  #refusal(step: Step, error: unknown): unknown {
    const translated = translate(error, this.#name)
    const code = sqliteCode(translated)
    return code === undefined ? translated : refusedStep(step, translated as Error, { sqlite: code })
  }

  #runBuffered(step: Step, events: AppendedEvents): unknown {
    const op = buffered(step.decide(this.#tx))
    let next = op.next()
    while (!next.done) {
      let reply: unknown
      try {
        reply = answered(next.value as Asked, (request) => {
          const answer = this.#connection.run(request)
          events.note(request, answer)
          return answer
        })
      } catch (error) {
        // SQLite has rolled back by itself: another statement would be a transaction of its own, and durable at once.
        if (!this.#connection.inTransaction) throw error
        next = op.throw(error)
        continue
      }
      next = op.next(reply)
    }
    return next.value
  }
}
