// A group of steps in one transaction, beside the groups of other processes. The steps go in waves: one flight serves the next requests of each
// of them. Each is judged on rows that the transaction has locked, and the result is that of the steps one after the other (wave-claims.ts).
import type { CommittedGroup, QueuedStep, StartTimer, StepOutcome } from '../group-commit.ts'
import type { NewEvent, Tx } from '../ledger.ts'
import type { Request } from '../statement.ts'
import { StatementFailed } from './client.ts'
import type { Begun, LedgerLocks } from './ledger-locks.ts'
import type { ServerConnection } from './server-connection.ts'
import { type Learned, WaveClaims } from './wave-claims.ts'
import { BeginsAgain, OutOfOrder, RunsAlone, RunsOneByOne } from './wave-errors.ts'
import { Flight, type Send } from './wave-flight.ts'
import { eventsOf, Lane, numbered } from './wave-lane.ts'

export class WaveGroup {
  readonly #connection: ServerConnection
  readonly #locks: LedgerLocks
  readonly #lanes: Lane[]
  readonly #claims: WaveClaims
  /** How many have begun: they do so in order, and a step that reads again has begun before. */
  #begunLanes = 0
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
    this.#lanes = group.map(({ step }, at) => new Lane(step, at, tx))
    this.#claims = new WaveClaims(this.#lanes, learned)
  }

  /** Complete once all steps have ended. */
  get outcomes(): StepOutcome[] {
    return this.#lanes.map(({ outcome }) => outcome as StepOutcome)
  }

  /** The first flight has arrived: others may wait for its locks. */
  get holdsLocks(): boolean {
    return this.#flights > 0
  }

  /** What it has claimed so far. */
  get touched(): { tasks: string[]; keys: string[] } {
    return { tasks: this.#claims.tasks, keys: this.#claims.keys }
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
      const isLast = this.#lanes.every((lane) => lane.isDone) && this.#flights > 0
      if (isLast) return await this.#commit(flight)
      await flight.send((send) => this.#open(send))
      await this.#claims.requireKeys()
      this.#flights++
      if (this.#beginning !== undefined) this.begun = this.#locks.begun(await this.#beginning)
      this.#beginning = undefined
      for (const lane of this.#lanes) this.#claims.noteReplies(lane)
    }
  }

  #advance(flight: Flight, mayGoOn: () => boolean): void {
    let mayStart = true
    let haveEnded = true
    for (const { at } of this.#lanes) {
      if (at === this.#begunLanes && at > 0 && !mayGoOn()) {
        this.#lanes.length = at
        return
      }
      const lane = this.#resumed(at, haveEnded)
      const waits = lane.waiting.length > 0 || lane.readAfter !== undefined
      if (!lane.isDone && !waits && (lane.isStarted || mayStart)) {
        this.#begunLanes = Math.max(this.#begunLanes, at + 1)
        this.#advanceLane(lane, flight)
        if (lane.isBarrier && !lane.isDone && lane.waiting.length > 0 && !haveEnded) lane.readAfter = this.#writes
      }
      if (lane.isBarrier && !lane.isDone) mayStart = false
      haveEnded &&= lane.isDone
    }
  }

  /** One that has read early begins again if the steps before it have written since, and else goes on when they have ended. */
  #resumed(at: number, haveEnded: boolean): Lane {
    const lane = this.#lanes[at] as Lane
    if (lane.readAfter === undefined) return lane
    if (lane.readAfter === this.#writes) {
      if (!haveEnded) return lane
      lane.readAfter = undefined
      this.#claims.noteReplies(lane)
      return lane
    }
    const again = lane.again()
    this.#lanes[at] = again
    this.#claims.replace(lane, again)
    return again
  }

  #advanceLane(lane: Lane, flight: Flight): void {
    let requests: readonly Request[] = []
    try {
      // One that has ended only waits for its writes.
      if (lane.outcome === undefined) requests = lane.next((write) => this.#claims.accepts(lane, write))
    } catch (error) {
      if ([RunsAlone, OutOfOrder, BeginsAgain].some((each) => error instanceof each)) throw error
      if (lane.isSent) throw new RunsOneByOne()
      lane.outcome = { ok: false, error }
      lane.isDone = true
      return
    }
    // A deferred write that may not be kept yet, or rows of a step before it.
    const waits = requests.some(({ deferred }) => deferred) || !this.#claims.mayRead(lane, requests)
    if (waits || !this.#claims.mayNumber(lane)) return
    for (const write of lane.draft.take()) this.#write(lane, write, flight)
    lane.hasNumberedTasks ||= lane.createsTasks
    lane.createsTasks = false
    lane.waiting = requests
    lane.isDone = requests.length === 0
    for (const request of requests) {
      if (lane.draft.isUnnumbered(request)) continue
      if (request.want === 'rows') flight.addRead(lane, request)
      else this.#write(lane, request, flight)
    }
  }

  #write(lane: Lane, request: Request, flight: Flight): void {
    flight.addWrite(lane, request)
    lane.isSent = true
    this.#writes++
  }

  /** The locks of this flight, before anything that depends on them. */
  #open(send: Send): void {
    const isFirst = this.#flights === 0
    if (isFirst) this.#beginning = send(this.#locks.beginShared)
    this.#claims.lock(this.#locks, send, isFirst)
  }

  async #commit(flight: Flight): Promise<CommittedGroup> {
    const appended = eventsOf(this.#lanes)
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
