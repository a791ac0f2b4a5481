// One step of a group whose steps go in waves: its generator, its buffer, and what it has taken.
import type { TaskEvent } from '../../entities/event.ts'
import type { NewEvent, Op, Step, Tx } from '../ledger.ts'
import { isSeveral } from '../op.ts'
import type { Asked, Request } from '../statement.ts'
import { WriteBuffer } from '../write-buffer.ts'

export class WaveStep {
  /** Of its step. */
  readonly name: string
  /** Its place in the group. */
  readonly at: number
  readonly buffer = new WriteBuffer()
  readonly events: NewEvent[] = []
  /** Journal entries that belong to its tasks. */
  readonly calls = new Set<string>()
  /** By task that it has read: the parent. */
  readonly parents = new Map<string, string>()
  readonly #step: Step
  readonly #tx: Tx
  readonly #op: Op<unknown>
  isStarted = false
  isDone = false
  /**
   * Reads what earlier steps may have written: it waits until they have ended (or nearly, see `readAfter`), and later steps begin when it
   * has ended.
   */
  isBarrier = false
  /**
   * The number of writes that the group had sent when this step read what admission counts, while steps before it waited for replies. If
   * they write more, it begins again.
   */
  readAfter: number | undefined
  /** A part of it has been sent, so it can be refused only together with the whole group. */
  isSent = false
  /** It has created tasks that are not sent: the order in which they are decides about their numbers. */
  createsTasks = false
  hasNumberedTasks = false
  /** It owns tasks, so that journal entries may be theirs. */
  ownsTasks = false
  /** Requests that were sent, or that the reply to a write of this flight will answer. */
  waiting: readonly Request[] = []
  /** What the step has yielded and has no whole reply for, and the replies so far. */
  #asked: Asked | undefined
  #replies = new Map<Request, unknown>()
  /** It has asked for nothing yet, and has not begun again. */
  #isFresh = true
  outcome: { ok: true; value: unknown } | { ok: false; error: unknown } | undefined

  constructor(step: Step, at: number, tx: Tx) {
    this.name = step.name
    this.at = at
    this.#step = step
    this.#tx = tx
    this.#op = step.decide(tx)
  }

  /** Its first requests may be sent before the steps before it have ended: it has written nothing, so that it can begin again. */
  get mayReadEarly(): boolean {
    return this.#isFresh && this.events.length === 0 && this.buffer.isEmpty
  }

  /** The same step from its beginning. It does not read early a second time. */
  again(): WaveStep {
    const step = new WaveStep(this.#step, this.at, this.#tx)
    step.#isFresh = false
    return step
  }

  /**
   * The requests that the buffer cannot answer, or a deferred write that may not be kept yet; none when the step has ended. The same ones until
   * their replies are noted.
   */
  next(accepts: (write: Request) => boolean): readonly Request[] {
    this.isStarted = true
    let reply: unknown
    for (;;) {
      if (this.#asked === undefined) {
        const next = this.#op.next(reply)
        if (next.done) {
          this.outcome = { ok: true, value: next.value }
          return []
        }
        this.#asked = next.value as Asked
      }
      const asked = isSeveral(this.#asked) ? this.#asked : [this.#asked]
      const open = asked.filter((request) => !this.#isAnswered(request, accepts))
      if (open.length > 0) return open
      const replies = asked.map((request) => this.#replies.get(request))
      reply = isSeveral(this.#asked) ? replies : replies[0]
      this.#asked = undefined
      this.#replies.clear()
    }
  }

  #isAnswered(request: Request, accepts: (write: Request) => boolean): boolean {
    if (request.deferred) {
      if (!accepts(request)) return false
      if (request.appends !== undefined && request.appends !== 'unseen') this.events.push(request.appends)
      else this.buffer.add(request)
      return true
    }
    if (this.#replies.has(request)) return true
    const known = this.buffer.answer(request)
    if (known !== undefined) this.#replies.set(request, known)
    return known !== undefined
  }

  noteReply(request: Request, reply: unknown): void {
    if (!request.deferred) this.#replies.set(request, reply)
  }

  /** The replies to the requests that were sent; they are no longer waited for. */
  takeReplies(): Array<readonly [Request, unknown]> {
    const replies = this.waiting.map((request) => [request, this.#replies.get(request)] as const)
    this.#isFresh &&= replies.length === 0
    this.waiting = []
    return replies
  }
}

/** The events of all steps that were not refused, in their order, before they are numbered. */
export function eventsOf(steps: readonly WaveStep[]): NewEvent[] {
  return steps.flatMap(({ outcome, events }) => (outcome?.ok === true ? events : []))
}

/** Undefined unless the numbers rise: the order of returned rows is not promised, and an event must not get the number of another. */
export function numbered(events: readonly NewEvent[], rows: readonly unknown[]): TaskEvent[] | undefined {
  const seqs = (rows as Array<{ seq: number }>).map(({ seq }) => seq)
  const rise = seqs.length === events.length && seqs.every((seq, at) => at === 0 || seq > (seqs[at - 1] as number))
  return rise ? events.map((event, at) => ({ seq: seqs[at] as number, ...event })) : undefined
}
