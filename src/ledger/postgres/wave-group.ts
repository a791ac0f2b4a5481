// A group of steps in one transaction, beside the groups of other processes. The steps go in waves: one flight serves the next requests of each
// of them. Each is judged on rows that the transaction has locked, and the result is that of the steps one after the other (row-locks.ts).
import type { CommittedGroup, QueuedStep, StartTimer, StepOutcome } from '../group-commit.ts'
import type { NewEvent, Tx } from '../ledger.ts'
import type { Request } from '../statement.ts'
import { StatementFailed } from './client.ts'
import type { Begun, LedgerLocks } from './ledger-locks.ts'
import { type Learned, RowLocks } from './row-locks.ts'
import type { ServerConnection } from './server-connection.ts'
import { BeginsAgain, OutOfOrder, RunsAlone, RunsOneByOne } from './wave-errors.ts'
import { Flight, type Send } from './wave-flight.ts'
import { eventsOf, numbered, WaveStep } from './wave-step.ts'

export class WaveGroup {
  readonly #connection: ServerConnection
  readonly #locks: LedgerLocks
  readonly #steps: WaveStep[]
  readonly #rows: RowLocks
  /** How many have begun: they do so in order, and a step that reads again has begun before. */
  #begunSteps = 0
  #flights = 0
  /** The number of writes that were sent. */
  #writes = 0
  #beginning: Promise<unknown[]> | undefined
  /** The transaction, whose outcome can be asked for later. */
  begun: Begun | undefined
  isCommitting = false
  /** Of the events that are committed with it. */
  firstEvent: NewEvent | undefined

  constructor(
    connection: ServerConnection,
    locks: LedgerLocks,
    tx: Tx,
    group: readonly QueuedStep[],
    learned: Learned,
  ) {
    this.#connection = connection
    this.#locks = locks
    this.#steps = group.map(({ step }, at) => new WaveStep(step, at, tx))
    this.#rows = new RowLocks(this.#steps, learned)
  }

  /** Complete once all steps have ended. */
  get outcomes(): StepOutcome[] {
    return this.#steps.map(({ outcome }) => outcome as StepOutcome)
  }

  /** The first flight has arrived: others may wait for its locks. */
  get holdsLocks(): boolean {
    return this.#flights > 0
  }

  /** What it has taken so far. */
  get touched(): { tasks: string[]; keys: string[] } {
    return { tasks: this.#rows.tasks, keys: this.#rows.keys }
  }

  /**
   * Runs the steps that begin in time. @throws StatementFailed, RunsAlone, OutOfOrder, BeginsAgain, RunsOneByOne; the transaction is still
   * open then
   */
  async run(startTimer: StartTimer): Promise<CommittedGroup> {
    const mayGoOn = startTimer()
    for (;;) {
      const flight = new Flight(this.#connection, { locksHeads: true })
      this.#advance(flight, mayGoOn)
      const isLast = this.#steps.every((step) => step.isDone) && this.#flights > 0
      if (isLast) return await this.#commit(flight)
      await flight.send((send) => this.#open(send))
      await this.#rows.requireKeys()
      this.#flights++
      if (this.#beginning !== undefined) this.begun = this.#locks.begun(await this.#beginning)
      this.#beginning = undefined
      for (const step of this.#steps) this.#rows.noteReplies(step)
    }
  }

  #advance(flight: Flight, mayGoOn: () => boolean): void {
    let mayStart = true
    let haveEnded = true
    for (const { at } of this.#steps) {
      if (at === this.#begunSteps && at > 0 && !mayGoOn()) {
        this.#steps.length = at
        return
      }
      const step = this.#resumed(at, haveEnded)
      const waits = step.waiting.length > 0 || step.readAfter !== undefined
      if (!step.isDone && !waits && (step.isStarted || mayStart)) {
        this.#begunSteps = Math.max(this.#begunSteps, at + 1)
        this.#advanceStep(step, flight)
        if (step.isBarrier && !step.isDone && step.waiting.length > 0 && !haveEnded) step.readAfter = this.#writes
      }
      if (step.isBarrier && !step.isDone) mayStart = false
      haveEnded &&= step.isDone
    }
  }

  /** One that has read early begins again if the steps before it have written since, and else goes on when they have ended. */
  #resumed(at: number, haveEnded: boolean): WaveStep {
    const step = this.#steps[at] as WaveStep
    if (step.readAfter === undefined) return step
    if (step.readAfter === this.#writes) {
      if (!haveEnded) return step
      step.readAfter = undefined
      this.#rows.noteReplies(step)
      return step
    }
    const again = step.again()
    this.#steps[at] = again
    this.#rows.replace(step, again)
    return again
  }

  #advanceStep(step: WaveStep, flight: Flight): void {
    let requests: readonly Request[] = []
    try {
      // One that has ended only waits for its writes.
      if (step.outcome === undefined) requests = step.next((write) => this.#rows.accepts(step, write))
    } catch (error) {
      if ([RunsAlone, OutOfOrder, BeginsAgain].some((each) => error instanceof each)) throw error
      if (step.isSent) throw new RunsOneByOne()
      step.outcome = { ok: false, error }
      step.isDone = true
      return
    }
    // A deferred write that may not be kept yet, or rows of a step before it.
    const waits = requests.some(({ deferred }) => deferred) || !this.#rows.mayRead(step, requests)
    if (waits || !this.#rows.mayNumber(step)) return
    for (const write of step.buffer.take()) this.#write(step, write, flight)
    step.hasNumberedTasks ||= step.createsTasks
    step.createsTasks = false
    step.waiting = requests
    step.isDone = requests.length === 0
    for (const request of requests) {
      if (step.buffer.isUnnumbered(request)) continue
      if (request.want === 'rows') flight.addRead(step, request)
      else this.#write(step, request, flight)
    }
  }

  #write(step: WaveStep, request: Request, flight: Flight): void {
    flight.addWrite(step, request)
    step.isSent = true
    this.#writes++
  }

  /** The locks of this flight, before anything that depends on them. */
  #open(send: Send): void {
    const isFirst = this.#flights === 0
    if (isFirst) this.#beginning = send(this.#locks.beginShared)
    this.#rows.lock(this.#locks, send, isFirst)
  }

  async #commit(flight: Flight): Promise<CommittedGroup> {
    const appended = eventsOf(this.#steps)
    let seqs: Promise<unknown[]> | undefined
    let committed: Promise<{ command?: string | undefined }> | undefined
    this.firstEvent = appended[0]
    this.isCommitting = true
    await flight.send(
      (send) => this.#open(send),
      (send) => {
        if (appended.length > 0) seqs = send(this.#locks.append, this.#locks.appendParameters(rowsOf(appended)))
        committed = this.#connection.query('commit')
        committed.catch(() => {})
      },
    )
    const { command } = await (committed as NonNullable<typeof committed>).catch((error: unknown) => {
      throw new StatementFailed(error)
    })
    // After a failed statement the server answers a commit with a rollback, and no error.
    if (command !== 'COMMIT') throw new StatementFailed(new Error(`the server answered the commit with ${command}`))
    const events = seqs === undefined ? [] : numbered(appended, await seqs)
    return { outcomes: this.outcomes, events: events ?? 'unseen' }
  }
}

/** The rows of events as JSON. */
function rowsOf(events: readonly NewEvent[]): string {
  return JSON.stringify(
    events.map(({ type, taskId, at, instanceId, data }) => ({
      type,
      task_id: taskId,
      at,
      instance_id: instanceId,
      data: JSON.stringify(data),
    })),
  )
}
