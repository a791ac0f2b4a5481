// One step of a group whose steps go in waves: its generator, its draft, and what it has claimed.
import type { TaskEvent } from '../../../entities/event.ts'
import { Draft } from '../../draft.ts'
import type { NewEvent, Op, Step, Tx } from '../../ledger.ts'
import type { Request } from '../../statement.ts'

export class Lane {
  /** Of its step. */
  readonly name: string
  /** Its place in the group. */
  readonly at: number
  readonly draft = new Draft()
  readonly events: NewEvent[] = []
  /** Journal entries that belong to its tasks. */
  readonly calls = new Set<string>()
  /** By task that it has read: the parent. */
  readonly parents = new Map<string, string>()
  readonly #op: Op<unknown>
  isStarted = false
  isDone = false
  /** Reads what earlier steps may have written: it goes on when they have ended, and later steps begin when it has ended. */
  isBarrier = false
  /** A part of it has been sent, so it can be refused only together with the whole group. */
  isSent = false
  /** It has created tasks that are not sent: the order in which they are decides about their numbers. */
  createsTasks = false
  hasNumberedTasks = false
  /** It owns tasks, so that journal entries may be theirs. */
  ownsTasks = false
  /** Waits for another lane. */
  parked: Request | undefined
  /** Waits for its reply. */
  waiting: Request | undefined
  reply: unknown
  outcome: { ok: true; value: unknown } | { ok: false; error: unknown } | undefined

  constructor({ name, decide }: Step, at: number, tx: Tx) {
    this.name = name
    this.at = at
    this.#op = decide(tx)
  }

  /** The next request that the draft cannot answer; undefined when the step has ended. */
  next(accepts: (write: Request) => boolean): Request | undefined {
    this.isStarted = true
    let request = this.parked
    this.parked = undefined
    for (;;) {
      if (request === undefined) {
        const next = this.#op.next(this.reply)
        this.reply = undefined
        if (next.done) {
          this.outcome = { ok: true, value: next.value }
          return undefined
        }
        request = next.value as Request
      }
      if (request.deferred) {
        if (!accepts(request)) {
          this.parked = request
          return request
        }
        if (request.appends !== undefined && request.appends !== 'unseen') this.events.push(request.appends)
        else this.draft.add(request)
      } else {
        this.reply = this.draft.answer(request)
        if (this.reply === undefined) return request
      }
      request = undefined
    }
  }
}

/** The events of all lanes that were not refused, in their order, before they are numbered. */
export function eventsOf(lanes: readonly Lane[]): NewEvent[] {
  return lanes.flatMap(({ outcome, events }) => (outcome?.ok === true ? events : []))
}

/** Undefined unless the numbers rise: the order of returned rows is not promised, and an event must not get the number of another. */
export function numbered(events: readonly NewEvent[], rows: readonly unknown[]): TaskEvent[] | undefined {
  const seqs = (rows as Array<{ seq: number }>).map(({ seq }) => seq)
  const rise = seqs.length === events.length && seqs.every((seq, at) => at === 0 || seq > (seqs[at - 1] as number))
  return rise ? events.map((event, at) => ({ seq: seqs[at] as number, ...event })) : undefined
}
