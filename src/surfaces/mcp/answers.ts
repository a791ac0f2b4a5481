// Answers that have not been sent yet. If a client withdraws its request, or is gone before the answer is sent, the call ends, and what it
// took for the client (a claim, mail) is given back. The next call of the same agent waits for that.
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { waitAtMost } from '../../core/signals.ts'
import { endGraceMs } from './agent-sessions.ts'

export type RequestId = string | number
type GiveBack = () => Promise<unknown>

/** The answer of one call: sent or lost, whichever comes first. */
export class OpenAnswer {
  readonly #lost = new AbortController()
  #isSent = false
  readonly taken: GiveBack[] = []

  /** For what gives back what the call has taken. */
  readonly whenLost = (giveBack: GiveBack): void => void this.taken.push(giveBack)

  /** Aborts when the answer is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  sent(): void {
    this.#isSent = true
  }

  lose(why: string): void {
    if (!this.#isSent) this.#lost.abort(new ErrandError('EXECUTION_ERROR', why))
  }
}

/** The open answers of one connection, or of one request over HTTP, which may hold several calls. */
export class Answers {
  readonly #open = new Map<RequestId, OpenAnswer>()
  #isGone = false

  begin(id: RequestId): OpenAnswer {
    const answer = new OpenAnswer()
    if (this.#isGone) answer.lose(gone)
    this.#open.set(id, answer)
    return answer
  }

  /** Whether something has been taken that must be given back if the answers are lost. */
  get haveTaken(): boolean {
    return [...this.#open.values()].some(({ taken }) => taken.length > 0)
  }

  withdraw(id: RequestId): void {
    this.#open.get(id)?.lose('The client has withdrawn this request.')
    this.#open.delete(id)
  }

  sent(id: RequestId): void {
    this.#open.get(id)?.sent()
    this.#open.delete(id)
  }

  allSent(): void {
    for (const id of this.#open.keys()) this.sent(id)
  }

  /** The client is gone. */
  lose(): void {
    this.#isGone = true
    for (const answer of this.#open.values()) answer.lose(gone)
    this.#open.clear()
  }
}

const gone = 'The client is gone.'

/** The answers of requests over HTTP by client: a client withdraws a request with another request. */
export class AnswersByClient {
  readonly #open = new Map<string, Set<Answers>>()

  /** @param client the principal and the name of the agent. The returned function ends the entry. */
  add(client: string, answers: Answers): () => void {
    const those = this.#open.get(client) ?? new Set()
    this.#open.set(client, those.add(answers))
    return () => {
      those.delete(answers)
      if (those.size === 0 && this.#open.get(client) === those) this.#open.delete(client)
    }
  }

  /** If several programs use one name, their requests may have the same id: all of these end, with an error that says why. */
  withdraw(client: string, id: RequestId): void {
    for (const answers of this.#open.get(client) ?? []) answers.withdraw(id)
  }

  lose(): void {
    for (const those of this.#open.values()) for (const answers of those) answers.lose()
  }
}

/** What has to be given back, by agent. */
export class Returns {
  readonly #clock: Clock
  readonly #report: (error: unknown) => void
  readonly #running = new Map<string | undefined, Set<Promise<void>>>()
  /** What could not be given back yet, because the ledger did not work. */
  readonly #owed = new Map<string | undefined, Set<GiveBack>>()

  constructor(clock: Clock, report: (error: unknown) => void) {
    this.#clock = clock
    this.#report = report
  }

  /** Gives back what the call takes if its answer is lost, once the call has ended. */
  follow(agent: string | undefined, { lost, taken }: OpenAnswer, call: Promise<unknown>): void {
    const giveBack = (): void => {
      const work = call.then(
        () => this.#giveBack(agent, taken),
        () => this.#giveBack(agent, taken),
      )
      const running = this.#running.get(agent) ?? new Set()
      this.#running.set(agent, running.add(work))
      void work.finally(() => {
        running.delete(work)
        if (running.size === 0 && this.#running.get(agent) === running) this.#running.delete(agent)
      })
    }
    if (lost.aborted) giveBack()
    else lost.addEventListener('abort', giveBack, { once: true })
  }

  /** Resolves when an agent holds nothing any more that it does not know of. */
  async settled(agent: string | undefined): Promise<void> {
    await Promise.all(this.#running.get(agent) ?? new Set())
    const owed = this.#owed.get(agent) ?? []
    this.#owed.delete(agent)
    await this.#giveBack(agent, owed)
  }

  /** The same for all agents, for a limited time: a call may ignore that it was aborted. */
  async allSettled(): Promise<void> {
    const running = [...this.#running.values()].flatMap((each) => [...each])
    await waitAtMost(this.#clock, endGraceMs, Promise.all(running))
  }

  async #giveBack(agent: string | undefined, taken: Iterable<GiveBack>): Promise<void> {
    for (const giveBack of taken) {
      try {
        await giveBack()
      } catch (error) {
        // Any other refusal says that the claim has ended already.
        if (ErrandError.isInstance(error) && !error.code.startsWith('LEDGER_')) continue
        this.#owed.set(agent, (this.#owed.get(agent) ?? new Set()).add(giveBack))
        this.#report(error)
      }
    }
  }
}
