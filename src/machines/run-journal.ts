// The entries that earlier runs of a task recorded, found by kind, name and params (or key), n-th among equals, never by position
// alone. It also tracks entries that have not been asked for again: completed work that a new call must not silently repeat.
import { type CallKind, type CallRecord, identOf } from '../entities/call.ts'
import { callKeyOf } from '../entities/conversation.ts'
import type { MessageRecord } from '../entities/message.ts'
import { holdsBack, isAnotherWay, isExcusedBy } from './divergence.ts'
import { replayOf } from './replay.ts'

/** An entry that has not been asked for. */
interface Unasked {
  entry: CallRecord
  /** It counts for the divergence guard. */
  holds: boolean
}

export class RunJournal {
  readonly #attempt: number
  readonly #entries = new Map<string, CallRecord>()
  readonly #messages = new Map<string, string>()
  readonly #claims = new Map<string, Claims>()
  readonly #unasked = new Map<string, Unasked>()
  /** Completed entries that no longer hold calls back, because the run takes another way than an earlier attempt. */
  readonly #excused = new Map<string, Unasked>()
  #excusedBy: CallRecord | undefined
  /** The first failure of an entry with several tries. */
  readonly #failures = new Map<string, CallRecord>()
  /** The keys of calls that contain entries, by call id; and the keys of these entries. */
  readonly #parents = new Map<string, string>()
  readonly #inside = new Map<string, string[]>()
  /** Calls whose recorded outcome was returned: entries inside them are not asked for. */
  readonly #replayed = new Set<string>()
  /** Calls whose function is running now, and all whose function ran in this run. */
  readonly #open = new Set<string>()
  readonly #made = new Set<string>()
  /** The ids of entries that lost a race which stands. */
  readonly #withdrawn: ReadonlySet<string>
  /** Called when fewer entries hold calls back. */
  onFewer: () => void = () => {}

  /** `attempt` is the present one: its entries that the run does not ask for again have diverged. */
  constructor(entries: readonly CallRecord[] = [], messages: readonly MessageRecord[] = [], attempt = 0) {
    this.#attempt = attempt
    const parents = new Set(entries.map((entry) => entry.parentId))
    const remade = new Set<CallRecord>()
    for (const entry of entries) {
      const key = entryKeyOf(entry)
      const earlier = this.#entries.get(key)
      if (earlier !== undefined && isAnotherWay(earlier, entry)) {
        if (!this.#failures.has(key)) this.#failures.set(key, earlier)
        if (entry.attempt === attempt) remade.add(earlier)
      }
      // Entries are in the order of creation, so later ones with the same key are newer tries.
      this.#entries.set(key, entry)
      if (parents.has(entry.id)) this.#parents.set(entry.id, key)
    }
    const byModels = new Set<string>()
    for (const message of messages) {
      if (message.ident !== null)
        this.#messages.set(
          entryKeyOf({ ...message, kind: 'message', name: message.role, ident: message.ident }),
          message.id,
        )
      for (const index of (message.step?.calls ?? []).keys()) byModels.add(identOf(callKeyOf(message.id, index), null))
    }
    for (const [key, entry] of this.#entries) {
      const scope = this.#scopeOf(entry)
      if (scope !== undefined) getOrAdd(this.#inside, scope, () => []).push(key)
      this.#claimsOf(entry.kind, entry.name, entry.ident).record(entry)
      const holds = holdsBack(entry) && !byModels.has(entry.ident)
      if (entry.kind !== 'value' && entry.kind !== 'race' && (holds || entry.attempt === attempt))
        this.#unasked.set(key, { entry, holds })
    }
    this.#withdrawn = withdrawnOf(entries, attempt)
    for (const claims of this.#claims.values()) claims.sort()
    for (const earlier of remade) this.remade(earlier)
  }

  /**
   * Claims the next ordinal of an identity. Synchronous, so that the order of the requests decides and not that of their ends. Entries
   * recorded inside the same call (`scope`, its key; undefined for the executor itself) precede those recorded elsewhere.
   */
  claim(kind: CallKind, name: string, ident: string, scope?: string): number {
    const claims = this.#claimsOf(kind, name, ident)
    return (
      claims.take((entry) => this.#scopeOf(entry) === scope) ??
      claims.take((entry) => !this.#isShut(entry)) ??
      claims.next()
    )
  }

  claimMessage(role: string, ident: string): number {
    return this.#claimsOf('message', role, ident).next()
  }

  /** Adds an entry that this run has recorded before asking for it. */
  remember(entry: CallRecord): void {
    this.#entries.set(entryKeyOf(entry), entry)
  }

  /** For a run that continues from the ledger itself: its own entries do not count as diverged. Entries inside calls still do. */
  takeAll(): void {
    for (const [key, { entry }] of this.#unasked) if (entry.parentId === null) this.#unasked.delete(key)
    this.onFewer()
  }

  find(kind: CallKind, name: string, ident: string, ordinal: number): CallRecord | undefined {
    if (this.#entries.size === 0) return undefined
    const key = entryKeyOf({ kind, name, ident, ordinal })
    this.#excused.delete(key)
    if (this.#unasked.delete(key)) this.onFewer()
    return this.#entries.get(key)
  }

  /** It lost a race, and the winner's outcome still counts: it is not requested anew. */
  isWithdrawn({ id }: CallRecord): boolean {
    return this.#withdrawn.has(id)
  }

  /** The newest entry of a kind that a task has one of. */
  latest(kind: CallKind): CallRecord | undefined {
    return [...this.#entries.values()].findLast((entry) => entry.kind === kind)
  }

  /** The newest entry of its kind, name and params, by its id. */
  withId(id: string): CallRecord | undefined {
    return [...this.#entries.values()].find((entry) => entry.id === id)
  }

  findMessage(role: string, ident: string, ordinal: number): string | undefined {
    return this.#messages.get(entryKeyOf({ kind: 'message', name: role, ident, ordinal }))
  }

  // ── entries that have not been asked for ──

  /** Whether completed entries have not been asked for and hold new calls back. */
  get isStanding(): boolean {
    for (const each of this.#unasked.values()) if (this.#counts(each)) return true
    return false
  }

  /** These entries, in journal order. */
  get standing(): CallRecord[] {
    return [...this.#unasked.values()].filter((each) => this.#counts(each)).map(({ entry }) => entry)
  }

  /** Entries that no longer hold calls back, because a call that failed before has been repeated. */
  get excused(): CallRecord[] {
    return [...this.#excused.values()].filter((each) => this.#counts(each)).map(({ entry }) => entry)
  }

  /** Completed calls equal to this one, inside calls that are not repeated. */
  equalsInside(kind: CallKind, name: string, ident: string): CallRecord[] {
    if (this.#entries.size === 0) return []
    return this.#claimsOf(kind, name, ident).unclaimed.filter((entry) => holdsBack(entry) && this.#isShut(entry))
  }

  /** Marks a call whose recorded outcome was returned and whose function does not run again. */
  replayed(entry: CallRecord): void {
    const key = entryKeyOf(entry)
    this.#replayed.add(key)
    this.#forgetInside(key)
  }

  /** Marks a call whose function starts now: entries recorded inside it are expected to be asked for again. */
  opened(key: string): void {
    if (this.#isAllAsked) return
    this.#open.add(key)
    this.#made.add(key)
  }

  closed(key: string): void {
    if (this.#open.size > 0) this.#open.delete(key)
    this.onFewer()
  }

  /** Marks an entry that failed before and is repeated. Its first failure counts, because later attempts may have worked around it too. */
  remade(entry: CallRecord): void {
    const failed = this.#failures.get(entryKeyOf(entry)) ?? entry
    const before = this.#excusedBy
    if (before !== undefined && before.seq <= failed.seq && before.updatedAt <= failed.updatedAt) return
    this.#excusedBy = failed
    for (const [key, each] of this.#unasked) {
      if (!each.holds || !isExcusedBy(failed, each.entry, this.#attempt)) continue
      this.#unasked.delete(key)
      this.#excused.set(key, each)
    }
    this.onFewer()
  }

  /** Entries of this attempt that the run has not asked for, for people. */
  get diverged(): string[] {
    return [...this.#unasked.values()]
      .filter(({ entry }) => entry.attempt === this.#attempt && this.#isWithin(entry, this.#made))
      .map(({ entry }) => `${entry.kind} ${entry.name}`)
  }

  // ── private ──

  /** Nothing is left that could be expected inside a call: so in every first run. */
  get #isAllAsked(): boolean {
    return this.#unasked.size === 0 && this.#excused.size === 0
  }

  #counts({ entry, holds }: Unasked): boolean {
    return holds && this.#isWithin(entry, this.#open)
  }

  #forgetInside(key: string): void {
    for (const inner of this.#inside.get(key) ?? []) {
      this.#unasked.delete(inner)
      this.#excused.delete(inner)
      this.#forgetInside(inner)
    }
  }

  /** True for an entry of the executor itself, or inside one of these calls. */
  #isWithin(entry: CallRecord, calls: ReadonlySet<string>): boolean {
    const scope = this.#scopeOf(entry)
    return scope === undefined || calls.has(scope)
  }

  #scopeOf(entry: CallRecord): string | undefined {
    return entry.parentId === null ? undefined : this.#parents.get(entry.parentId)
  }

  /** True for an entry inside a call whose recorded outcome was returned: the run does not reach it again. */
  #isShut(entry: CallRecord): boolean {
    const scope = this.#scopeOf(entry)
    if (scope === undefined) return false
    return this.#replayed.has(scope) || this.#isShut(this.#entries.get(scope) as CallRecord)
  }

  #claimsOf(kind: string, name: string, ident: string): Claims {
    return getOrAdd(this.#claims, `${kind}\n${name}\n${ident}`, () => new Claims())
  }
}

/** A race stands while the outcome of its winner is replayed: in a new attempt, a winner that failed is requested anew, and so are the others. */
function withdrawnOf(entries: readonly CallRecord[], attempt: number): Set<string> {
  const withdrawn = new Set<string>()
  const races = entries.filter(({ kind, status }) => kind === 'race' && status === 'completed')
  const byId = new Map(races.length > 0 ? entries.map((entry) => [entry.id, entry]) : [])
  for (const { result, details } of races) {
    if (replayOf(byId.get(result as string), attempt, 'fail') !== 'result') continue
    for (const id of (details as { entries: string[] }).entries) if (id !== result) withdrawn.add(id)
  }
  return withdrawn
}

function getOrAdd<V>(map: Map<string, V>, key: string, make: () => V): V {
  const value = map.get(key) ?? make()
  map.set(key, value)
  return value
}

/** The ordinals of one identity: those of the journal, and those that this run has claimed. */
class Claims {
  readonly #unclaimed: CallRecord[] = []
  #next = 0

  get unclaimed(): readonly CallRecord[] {
    return this.#unclaimed
  }

  record(entry: CallRecord): void {
    this.#unclaimed.push(entry)
    this.#next = Math.max(this.#next, entry.ordinal + 1)
  }

  sort(): void {
    this.#unclaimed.sort((one, other) => one.ordinal - other.ordinal)
  }

  /** The first recorded ordinal that matches and has not been claimed. */
  take(suits: (entry: CallRecord) => boolean): number | undefined {
    const index = this.#unclaimed.findIndex(suits)
    return index < 0 ? undefined : (this.#unclaimed.splice(index, 1)[0] as CallRecord).ordinal
  }

  next(): number {
    return this.#next++
  }
}

/** The identity of an entry with its ordinal, as a map key. */
export function entryKeyOf({
  kind,
  name,
  ident,
  ordinal,
}: Pick<CallRecord, 'name' | 'ident' | 'ordinal'> & { kind: string }): string {
  return `${kind}\n${name}\n${ident}\n${ordinal}`
}
