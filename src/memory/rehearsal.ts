// A transaction for the rehearsal of a step: its reads are made outside of any transaction, and its writes stay in memory, where the reads
// that a comparison needs find them. Writes of other rows are dropped. Every write that a rehearsed step makes is listed here.
import { memoized } from '../core/memoized.ts'
import { summaryCategory } from '../entities/confidence.ts'
import { subjectOf } from '../entities/disagreement.ts'
import { wordsOf } from '../entities/fact-tokens.ts'
import type { BranchRecord, FactRecord } from '../entities/memory.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'

/** What an operation on this transaction yields: a query, which is answered by its result. */
export type Query = (tx: Reads) => Op<unknown>

type Parts = { [Part in keyof Tx]?: Partial<Tx[Part]> }
type Verbs = Record<string, (...given: unknown[]) => Op<unknown>>

export function rehearsedTx(): Tx {
  const parts: Parts = {
    ...memoryParts(),
    task: { save: dropped, saveDefinition: dropped },
    team: { insert: dropped, save: dropped, insertObjective: dropped, saveObjective: dropped, saveStint: dropped },
    consolidation: { insert: dropped, decide: dropped },
    event: { append: dropped },
  }
  return new Proxy({} as Tx, { get: (_, part: keyof Tx) => verbsOf(part, parts[part] ?? {}) })
}

function verbsOf(part: keyof Tx, own: object): object {
  const asked =
    (verb: string) =>
    (...given: unknown[]) =>
      found((tx) => (tx[part as keyof Reads] as unknown as Verbs)[verb]?.(...given) as Op<unknown>)
  return new Proxy(own as Verbs, { get: (verbs, verb: string) => verbs[verb] ?? asked(verb) })
}

function* found<R>(query: (tx: Reads) => Op<R>): Op<R> {
  return (yield query) as R
}

function* dropped(): Op<never> {
  return undefined as never
}

function memoryParts(): Parts {
  const branches = new Map<string, BranchRecord>()
  const consumed = new Set<string>()
  function* branchNamed(name: string): Op<BranchRecord | undefined> {
    return branches.get(name) ?? (yield* found((tx) => tx.branch.get(name)))
  }
  function* saveBranch({ name, status }: Pick<BranchRecord, 'name' | 'status'>): Op<void> {
    branches.set(name, { ...((yield* branchNamed(name)) as BranchRecord), status })
  }
  return {
    fact: factVerbs(),
    branch: {
      get: branchNamed,
      *lineage(name) {
        const lineage: BranchRecord[] = []
        for (let next: string | null = name; next !== null; ) {
          const branch: BranchRecord | undefined = yield* branchNamed(next)
          if (branch !== undefined) lineage.push(branch)
          next = branch?.parent ?? null
        }
        return lineage
      },
      *insert(branch) {
        branches.set(branch.name, { ...branch, seq: firstSeq + branches.size })
        return firstSeq + branches.size
      },
      save: saveBranch,
      saveStatus: saveBranch,
    },
    observation: {
      *pending(branch, sessionId, limit) {
        const pending = yield* found((tx) => tx.observation.pending(branch, sessionId, limit + consumed.size))
        return pending.filter(({ id }) => !consumed.has(id)).slice(0, limit)
      },
      insert: dropped,
      *consume(id) {
        consumed.add(id)
      },
    },
  }
}

/** New rows come after all that are stored. */
const firstSeq = 2 ** 52

const isComparable = ({ status, category }: FactRecord): boolean => status === 'active' && category !== summaryCategory

function factVerbs(): Partial<Tx['fact']> {
  /** The facts that were written. */
  const written = new Map<string, FactRecord>()
  const subject = memoized(subjectOf)
  const wordSet = memoized((text) => new Set(wordsOf(text)))
  /** The facts that a query finds and those that were written, as they are now. */
  function* now(query: (tx: Reads) => Op<FactRecord[]>, isMeant: (fact: FactRecord) => boolean): Op<FactRecord[]> {
    const facts = new Map((yield* found(query)).map((fact) => [fact.id, fact]))
    for (const fact of written.values()) {
      if (isMeant(fact)) facts.set(fact.id, fact)
      else facts.delete(fact.id)
    }
    return [...facts.values()].filter(isComparable).sort((a, b) => a.seq - b.seq)
  }
  /** All facts after the `seq`, because only a whole list can be combined with what was written. */
  function* rest(
    after: number,
    page: (tx: Reads, after: number, limit: number) => Op<FactRecord[]>,
    isMeant: (fact: FactRecord) => boolean,
  ): Op<FactRecord[]> {
    const facts = yield* now((tx) => everyRow((from, limit) => page(tx, from, limit)), isMeant)
    return facts.filter(({ seq }) => seq > after)
  }
  return {
    *get(id) {
      return written.get(id) ?? (yield* found((tx) => tx.fact.get(id)))
    },
    active: (branch, after) =>
      rest(
        after,
        (tx, from, limit) => tx.fact.active(branch, from, limit),
        (fact) => fact.branch === branch,
      ),
    unmerged: (branch, after) =>
      rest(
        after,
        (tx, from, limit) => tx.fact.unmerged(branch, from, limit),
        (fact) => fact.branch === branch && fact.mergedConfidence !== fact.confidence,
      ),
    uncompared: (branch, measure, limit) =>
      now(
        (tx) => tx.fact.uncompared(branch, measure, limit),
        (fact) => fact.branch === branch && fact.comparedBy !== measure,
      ),
    candidates: (branch, words, threshold) =>
      now(
        (tx) => tx.fact.candidates(branch, words, threshold),
        (fact) => fact.branch === branch && words.some((word) => wordSet(fact.text).has(word)),
      ),
    *sameSubject(branch, about) {
      const facts = yield* now(
        (tx) => tx.fact.sameSubject(branch, about),
        (fact) => fact.branch === branch && about !== '' && subject(fact.text) === about,
      )
      // The latest hundred, as in the ledger.
      return facts.slice(-100)
    },
    *insert(fact) {
      const seq = firstSeq + written.size
      written.set(fact.id, { ...fact, seq })
      return seq
    },
    *save(fact) {
      written.set(fact.id, fact)
    },
    keepVector: dropped,
  }
}
