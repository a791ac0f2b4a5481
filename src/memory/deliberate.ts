// Runs steps of memory that need asynchronous answers: likeness may be a function of the embedder's or use vectors, and a judge may
// decide contradictions, while steps are synchronous. A step that lacks an answer notes the question, continues with a stand-in, and
// is rolled back; the questions are answered outside the transaction, and the step runs again. With likeness by words and no judge
// there are no questions: one round, nothing awaited.

import { ErrandError } from '../core/errors.ts'
import { summaryCategory, toFraction } from '../entities/confidence.ts'
import { disagree, lacksNumbers, readingOf, saysLess, subjectOf } from '../entities/disagreement.ts'
import { likeness as jaccard, wordsOf } from '../entities/fact-tokens.ts'
import type { FactRecord } from '../entities/memory.ts'
import type { ComparedFact } from '../entities/options.ts'
import { isConfirmed } from '../entities/source.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import { findOut, Knowledge, Questions, type Ruling } from './knowledge.ts'
import type { MemoryHost } from './memory-host.ts'
import type { MemorySettings } from './memory-settings.ts'
import { cosine, vectorFromText, vectorToText } from './vectors.ts'

/** How two facts contradict each other; `function`: according to the option `contradicts`. */
export const grounds = ['numbers', 'negation', 'function'] as const
export type Ground = (typeof grounds)[number]

/** Which of two contradicting facts holds on a branch. */
export type Resolution = 'keep-both' | 'incoming' | 'existing'

/** A fact to compare; it need not be stored. */
export type FactLike = Pick<
  FactRecord,
  'text' | 'category' | 'confidence' | 'statedBy' | 'branch' | 'taskId' | 'agentId' | 'sessionId' | 'createdAt'
>

const maxRounds = 50
/** The model of the latest answer, so that its stored vectors are found without a new request. */
const lastModels = new WeakMap<MemorySettings, string>()

/**
 * Runs one step of memory. `write` may run several times; only the last run is committed.
 * @throws ErrandError NO_MODEL; EXECUTION_ERROR { option } when a question cannot be answered; LIMIT_EXCEEDED when new questions keep
 *   arising. Nothing is changed then.
 */
export async function deliberate<R>(
  host: MemoryHost,
  name: string,
  write: (tx: Tx, d: Deliberation) => Op<R>,
): Promise<R> {
  const ctx = await host.stepContext()
  const known = new Knowledge()
  known.model = lastModels.get(host.memory) ?? null
  let asked = new Questions()
  const ids: string[] = []
  const unanswered = new Error('questions are open')
  const step = {
    name,
    *decide(tx: Tx): Op<R> {
      asked = new Questions()
      try {
        const result = yield* write(tx, new Deliberation(host, ctx, known, asked, ids))
        if (asked.isEmpty) return result
      } catch (error) {
        // An error based on a stand-in may not occur with the answer.
        if (asked.isEmpty) throw error
      }
      throw unanswered
    },
  }
  for (let round = 1; round <= maxRounds; round++) {
    try {
      return await host.step(step)
    } catch (error) {
      if (error !== unanswered) throw error
    }
    await findOut(host, known, asked)
    if (known.model !== null) lastModels.set(host.memory, known.model)
  }
  throw new ErrandError(
    'LIMIT_EXCEEDED',
    `Each of ${maxRounds} rounds of "${name}" raised new questions about likeness or contradictions. Nothing was changed. Make sure that the functions of the option \`memory\` return the same answer each time.`,
    { rounds: maxRounds },
  )
}

/** What a step of memory uses beside the transaction; one per round. */
export class Deliberation {
  readonly ctx: StepContext
  readonly settings: MemorySettings
  readonly #host: MemoryHost
  readonly #known: Knowledge
  readonly #asked: Questions
  /** Ids stay the same in every round, so that answers about a fact stay valid. */
  readonly #ids: string[]
  #idsTaken = 0
  readonly #wordsOf = memoized((text) => new Set(wordsOf(text)))
  readonly #subjectOf = memoized(subjectOf)
  readonly #readingOf = memoized(readingOf)
  /** The facts, by id, of branches that were read completely. */
  readonly #branches = new Map<string, Map<string, FactRecord>>()

  constructor(host: MemoryHost, ctx: StepContext, known: Knowledge, asked: Questions, ids: string[]) {
    this.ctx = ctx
    this.settings = host.memory
    this.#host = host
    this.#known = known
    this.#asked = asked
    this.#ids = ids
  }

  nextId(prefix: string): string {
    const at = this.#idsTaken++
    const known = this.#ids[at]
    if (known?.startsWith(`${prefix}-`)) return known
    const id = this.#host.nextId(prefix)
    this.#ids[at] = id
    return id
  }

  /** Identifies how texts are compared, for `comparedBy`. `sample` is any text to compare. */
  measure(sample: string): string {
    const { similarity, threshold } = this.settings
    if (similarity === 'jaccard') return `jaccard > ${threshold}`
    if (typeof similarity === 'function') return `function ${similarity.name} > ${threshold}`
    if (this.#known.model === null) this.#vectorOf(sample)
    return `embeddings ${this.#known.model} > ${threshold}`
  }

  isAlike(a: string, b: string): boolean {
    return this.likeness(a, b) > this.settings.threshold
  }

  /** Returns the likeness, 0 to 1. */
  likeness(a: string, b: string): number {
    const { similarity } = this.settings
    if (similarity === 'jaccard') return jaccard(this.#wordsOf(a), this.#wordsOf(b))
    if (a === b) return 1
    return typeof similarity === 'function' ? this.#answered(a, b) : this.#cosine(a, b)
  }

  /** Likeness is symmetric: each pair is one question. */
  #answered(a: string, b: string): number {
    const pair = a < b ? ([a, b] as const) : ([b, a] as const)
    return answerTo(pair, this.#known.likenesses, this.#asked.likenesses) ?? 0
  }

  #cosine(a: string, b: string): number {
    const [vectorA, vectorB] = [this.#vectorOf(a), this.#vectorOf(b)]
    return vectorA === undefined || vectorB === undefined ? 0 : cosine(vectorA, vectorB)
  }

  #vectorOf(text: string): Float32Array | undefined {
    const known = this.#known.vectors.get(text)
    // While the model is unknown, one text is enough: the vectors of the others may be stored.
    const isFirst = this.#known.model !== null || this.#asked.texts.size === 0
    if (known === undefined && isFirst) this.#asked.texts.add(text)
    return known
  }

  /** Active facts of a branch, summaries excluded; includes all that are alike to the text. */
  *candidates(tx: Tx, branch: string, text: string): Op<FactRecord[]> {
    const { similarity, threshold, candidates } = this.settings
    if (similarity === 'jaccard') return yield* tx.fact.candidates(branch, [...this.#wordsOf(text)], threshold)
    if (similarity !== 'embeddings' && candidates === 'words') {
      return yield* tx.fact.candidates(branch, [...this.#wordsOf(text)], 0)
    }
    if (similarity === 'embeddings') this.#vectorOf(text)
    return [...(yield* this.#factsOf(tx, branch)).values()]
  }

  /** Reads the stored vectors of a branch whose facts are about to be compared, so that they are not requested again. */
  *prepare(tx: Tx, branch: string): Op<void> {
    if (this.settings.similarity === 'embeddings') yield* this.#factsOf(tx, branch)
  }

  *#factsOf(tx: Tx, branch: string): Op<Map<string, FactRecord>> {
    const read = this.#branches.get(branch)
    if (read !== undefined) return read
    const active = yield* everyRow((after, limit) => tx.fact.active(branch, after, limit))
    const facts = new Map(active.map((fact) => [fact.id, fact]))
    this.#branches.set(branch, facts)
    if (this.settings.similarity === 'embeddings') yield* this.#takeVectors(tx, branch, facts)
    return facts
  }

  /** Reads stored vectors, and stores new ones. */
  *#takeVectors(tx: Tx, branch: string, facts: ReadonlyMap<string, FactRecord>): Op<void> {
    const { model } = this.#known
    // The model of the stored vectors is unknown until it has answered.
    if (model === null) {
      const [first] = facts.values()
      if (first !== undefined) this.#vectorOf(first.text)
      return
    }
    const kept = new Set<string>()
    for (const { factId, vector } of yield* tx.fact.vectors(branch, model)) {
      const text = facts.get(factId)?.text
      if (text === undefined) continue
      kept.add(factId)
      if (!this.#known.vectors.has(text)) this.#known.vectors.set(text, vectorFromText(vector))
    }
    for (const fact of facts.values()) if (!kept.has(fact.id)) yield* this.#keepVector(tx, fact)
  }

  *#keepVector(tx: Tx, fact: FactRecord): Op<void> {
    const vector = this.#vectorOf(fact.text)
    if (vector === undefined || this.#known.model === null) return
    yield* tx.fact.keepVector(fact.id, this.#known.model, vectorToText(vector))
  }

  /** Must be called for every written fact, to keep the read facts of its branch up to date. */
  *written(tx: Tx, fact: FactRecord): Op<void> {
    const facts = this.#branches.get(fact.branch)
    if (facts === undefined || fact.category === summaryCategory) return
    const isNew = !facts.has(fact.id)
    if (fact.status === 'active') facts.set(fact.id, fact)
    else facts.delete(fact.id)
    if (isNew && this.settings.similarity === 'embeddings') yield* this.#keepVector(tx, fact)
  }

  /**
   * The ground of a contradiction between two facts that are alike or have the same subject, or for which the option `contradicts`
   * returns true; else null. Pass `areRelated` if it is already known.
   */
  contradicts(
    existing: FactLike,
    incoming: FactLike,
    areRelated = this.#areRelated(existing, incoming),
  ): Ground | null {
    const ground = areRelated ? disagree(existing.text, incoming.text) : null
    if (ground !== null || this.settings.contradicts === null) return ground
    const pair = [shownTo(existing), shownTo(incoming)] as const
    return answerTo(pair, this.#known.contradictions, this.#asked.contradictions) === true ? 'function' : null
  }

  #areRelated(a: FactLike, b: FactLike): boolean {
    const subject = this.#subjectOf(a.text)
    return (subject !== '' && subject === this.#subjectOf(b.text)) || this.isAlike(a.text, b.text)
  }

  /** Whether the first text has no numbers and the second has some. */
  lacksNumbers(a: string, b: string): boolean {
    return lacksNumbers(this.#readingOf(a), this.#readingOf(b))
  }

  saysLess(a: string, b: string): boolean {
    return a !== b && saysLess(this.#readingOf(a), this.#readingOf(b))
  }

  /** A vaguer fact never supersedes one that says more, and an unconfirmed fact never supersedes a confirmed one. */
  mayReplace(by: FactLike, fact: FactLike): boolean {
    return !this.saysLess(by.text, fact.text) && (isConfirmed(by.statedBy) || !isConfirmed(fact.statedBy))
  }

  /**
   * Decides which of two contradicting facts holds, given their age in `createdAt`. A judge decides freely; a policy keeps both if the
   * preferred fact may not supersede the other.
   */
  settle(incoming: FactLike, existing: FactLike): Resolution {
    const { onContradiction } = this.settings
    if (onContradiction === 'keep-both') return 'keep-both'
    if (typeof onContradiction === 'function') return resolutionOf(this.#ruled(existing, incoming))
    const bySurety = onContradiction === 'highest-confidence' ? incoming.confidence - existing.confidence : 0
    const holds = (bySurety || incoming.createdAt - existing.createdAt) >= 0
    const [kept, superseded] = holds ? [incoming, existing] : [existing, incoming]
    if (!this.mayReplace(kept, superseded)) return 'keep-both'
    return holds ? 'incoming' : 'existing'
  }

  #ruled(existing: FactLike, incoming: FactLike): Ruling {
    const pair = [shownTo(existing), shownTo(incoming)] as const
    return answerTo(pair, this.#known.rulings, this.#asked.rulings) ?? 'keep-both'
  }
}

/** The answer to a question; undefined if it must be asked. */
function answerTo<Q, A>(question: Q, known: ReadonlyMap<string, A>, asked: Map<string, Q>): A | undefined {
  const key = JSON.stringify(question)
  const answer = known.get(key)
  if (answer === undefined) asked.set(key, question)
  return answer
}

/** Memoizes a function of a text. */
function memoized<V extends {}>(find: (text: string) => V): (text: string) => V {
  const known = new Map<string, V>()
  return (text) => {
    const value = known.get(text) ?? find(text)
    known.set(text, value)
    return value
  }
}

function resolutionOf(ruling: Ruling): Resolution {
  if (ruling === 'keep-both') return ruling
  return ruling === 'second' ? 'incoming' : 'existing'
}

function shownTo({ confidence, ...fact }: FactLike): ComparedFact {
  const { text, category, statedBy, branch, taskId, agentId, sessionId, createdAt } = fact
  return { text, category, confidence: toFraction(confidence), statedBy, branch, taskId, agentId, sessionId, createdAt }
}
