// Steps that run one after the other, in one transaction of which no other writes at the same time: any step may, whatever rows it concerns.
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
import { buffered } from '../write-buffer.ts'
import { StatementFailed } from './client.ts'
import type { OutcomeSource } from './commit-outcome.ts'
import { type Begun, beginSteps, type LedgerLocks } from './ledger-locks.ts'
import { drive, type Session } from './session.ts'

export class OneByOne implements GroupRunner {
  readonly #session: Session
  readonly #locks: LedgerLocks
  readonly #tx: Tx
  readonly #wasCommitted: OutcomeSource | undefined

  /** `wasCommitted`: finds out about a commit whose answer was lost. Absent: its outcome is unknown. */
  constructor(session: Session, locks: LedgerLocks, tx: Tx, wasCommitted?: OutcomeSource) {
    this.#session = session
    this.#locks = locks
    this.#tx = tx
    this.#wasCommitted = wasCommitted
  }

  /** @throws LedgerBusy, CommitFailed, StatementFailed */
  async runGroup(group: readonly QueuedStep[], startTimer: StartTimer): Promise<CommittedGroup> {
    const session = this.#session
    const events = new AppendedEvents()
    const outcomes: StepOutcome[] = []
    let begun: Begun
    try {
      await session.begin(beginSteps)
      await session.request(...this.#locks.gateAlone)
      const { rows } = await session.request(this.#locks.begunAlone)
      begun = this.#locks.begun(rows)
      const mayGoOn = startTimer()
      for (const { step } of group) {
        if (outcomes.length > 0 && !mayGoOn()) break
        outcomes.push(await this.#runStep(step, events))
      }
    } catch (error) {
      await session.rollback()
      throw session.isRetried(error) ? new LedgerBusy(0, error) : error
    }
    try {
      await session.request('commit')
    } catch (error) {
      await session.rollback()
      if (this.#wasCommitted === undefined) throw new CommitFailed((error as Error).message, { cause: error })
      if (!(await this.#wasCommitted({ ...begun, event: events.first }, error))) throw new LedgerBusy(0, error)
      return { outcomes, events: 'unseen' }
    }
    return { outcomes, events: events.committed(), numbered: events.numbered }
  }

  /** Always inside a savepoint: after a failed statement PostgreSQL refuses the rest of a transaction. */
  async #runStep(step: Step, events: AppendedEvents): Promise<StepOutcome> {
    const session = this.#session
    const before = events.length
    await session.request('savepoint step')
    try {
      const value = await drive(buffered(step.decide(this.#tx)), async (request) => {
        const reply = await session.reply(request)
        events.note(request, reply)
        return reply
      })
      await session.request('release savepoint step')
      return { ok: true, value }
    } catch (error) {
      if (error instanceof StatementFailed && (error.isLost || error.isContention)) throw error
      await session.request('rollback to savepoint step')
      await session.request('release savepoint step')
      events.truncate(before)
      return {
        ok: false,
        error: error instanceof StatementFailed ? refusedStep(step, error, { sqlState: error.sqlState }) : error,
      }
    }
  }
}
