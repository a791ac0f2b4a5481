// The requests of a run that wait, as `run.race` sees them. They begin one turn after they are made, so that a race that is called in the
// same turn can begin all of them in one step.
/* oxlint-disable unicorn/no-thenable -- `Waiting` is a promise. */
import { ErrandError } from '../core/errors.ts'
import { restoredError } from '../core/restored-error.ts'
import { typeName } from '../core/type-name.ts'
import type { NewCall, Step } from '../ledger/ledger.ts'
import { entryKeyOf } from '../machines/run-journal.ts'
import { matchingOutside } from '../operations/steps/answer-schema.ts'
import { beginRace, isWithdrawn, type RaceEntry, type WaitBegun, withdrawn } from '../operations/steps/race.ts'
import type { EntryDescription } from './call-scope.ts'
import type { RunCore } from './run-core.ts'

/** One request that waits. */
export class Entrant {
  /** Its entry in the journal, as its run finds it; undefined for a request that was refused. */
  key: string | undefined
  /** The id of that entry. */
  callId = ''
  #beginning: Extract<RaceEntry, { record: NewCall }> | undefined
  #alone: Promise<WaitBegun> | undefined
  readonly #inRace = Promise.withResolvers<WaitBegun>()

  describe(entry: EntryDescription): void {
    this.key = entryKeyOf(entry)
  }

  /** Begins a new entry: with a race that has taken it, or alone. */
  async begin(record: NewCall, begin: Step<WaitBegun>, alone: () => Promise<WaitBegun>): Promise<WaitBegun> {
    this.callId = record.id
    this.#beginning = { record, begin }
    await Promise.resolve()
    if (this.#beginning === undefined) return this.#inRace.promise
    this.#beginning = undefined
    this.#alone = alone()
    return this.#alone
  }

  /** For the step of a race. The entry begins with that step if it has not begun. */
  take(): RaceEntry {
    const taken = this.#beginning ?? { id: this.callId }
    this.#beginning = undefined
    return taken
  }

  /** Resolves when an entry that begins alone is recorded. */
  async recorded(): Promise<void> {
    await this.#alone?.catch(() => {})
  }

  /** Another request of its race was refused: it does not begin. */
  withdraw(): void {
    if ('record' in this.take()) this.#inRace.reject(restoredError(withdrawn))
  }

  /** The step of the race that took it is done, or has failed. */
  beginsWith(race: Promise<WaitBegun>): void {
    this.#inRace.resolve(race)
  }
}

/** What a request that waits returns. What `then` makes of it may take part in a race in its place. */
export class Waiting<T> extends Promise<T> {
  entrant: { request: Promise<unknown>; is: Entrant } | undefined

  static of<T>(request: Promise<T>, is: Entrant): Waiting<T> {
    const waiting = new Waiting<T>((resolve) => resolve(request))
    waiting.entrant = { request, is }
    handled(waiting)
    return waiting
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise, and `then` keeps what the promise belongs to.
  override then<A = T, B = never>(
    done?: ((value: T) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const next = super.then(done, failed) as Waiting<A | B>
    next.entrant = this.entrant
    return next
  }
}

type Racer = NonNullable<Waiting<unknown>['entrant']>

/**
 * Settles as the first of these requests does, and withdraws the others. Called in the turn in which they are made, it begins them.
 * `wake` checks whether an entry is over.
 */
export async function raceIn(core: RunCore, given: unknown, wake: (callId: string) => void): Promise<unknown> {
  const racers = racersIn(given)
  const promises = given as ReadonlyArray<Promise<unknown>>
  const refused = racers.findIndex(({ is }) => is.key === undefined)
  if (refused >= 0) {
    for (const { is } of racers) is.withdraw()
    return promises[refused]
  }
  const entry = core.describe('race', 'race', { entries: racers.map(({ is }) => is.key) })
  const found = core.find(entry)
  const winner = racers.findIndex(({ is }) => found?.status === 'completed' && found.result === is.callId)
  if (winner >= 0) return promises[winner]
  const over = found?.status === 'pending' ? -1 : await core.busy(() => begin(core, entry, racers))
  // What is recorded decides: another one may be over that this run does not know of yet.
  const first = over < 0 ? await firstOf(racers) : over
  // The losers learn that they are withdrawn.
  for (const { is } of racers) wake(is.callId)
  return promises[first]
}

async function begin(core: RunCore, entry: EntryDescription, racers: readonly Racer[]): Promise<number> {
  // In the turn of the request.
  const entries = racers.map(({ is }) => is.take())
  const record = core.entryOf(entry)
  const begun = Promise.all(racers.map(({ is }) => is.recorded())).then(() =>
    matchingOutside(() => core.step(beginRace(record, entries, core.host.stepContext()))),
  )
  for (const [index, { is }] of racers.entries()) {
    if ('record' in (entries[index] as RaceEntry)) is.beginsWith(begun.then(({ states }) => states[index] as WaitBegun))
  }
  return (await begun).winner
}

/** Resolves to the index of the request that settles first; one that is withdrawn does not count. */
function firstOf(racers: readonly Racer[]): Promise<number> {
  return new Promise((resolve, reject) => {
    let left = racers.length
    for (const [index, { request }] of racers.entries()) {
      request.then(
        () => resolve(index),
        (error: unknown) => {
          if (!isWithdrawn(error)) resolve(index)
          else if (--left === 0) reject(error)
        },
      )
    }
  })
}

/** @throws ErrandError INVALID_INPUT for what is no list of requests that wait. */
function racersIn(given: unknown): Racer[] {
  if (!Array.isArray(given) || given.length === 0) throw refusal(typeName(given))
  return given.map((each: unknown) => {
    if (each instanceof Waiting && each.entrant !== undefined) return each.entrant
    throw refusal(`a list with ${typeName(each)}`)
  })
}

function refusal(what: string): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `run.race takes a list of what run.ask, run.wait, run.waitForSignal and run.sleep return, or of what \`then\` makes of it, got ${what}. Call them in the list: run.race([run.ask('Go on?'), run.sleep('1h')]). A call cannot be withdrawn: await it, with \`timeoutMs\`.`,
    {},
  )
}

/** As with Promise.race, the rejections of a list are handled, whatever becomes of the race. */
export function handleAll(given: unknown): void {
  if (Array.isArray(given)) for (const each of given) if (each instanceof Promise) handled(each)
}

/** Its rejection is not unhandled. Not with its own `then`, which makes another request of it. */
function handled(promise: Promise<unknown>): void {
  void Promise.prototype.then.call(promise, undefined, () => {})
}
