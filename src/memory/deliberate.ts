// Steps are synchronous, and what memory has to know for them is not always: likeness may be a function of the embedder's or a
// matter of vectors, and a judge may be asked about a contradiction. So a step that meets something unknown notes it, goes on with a
// stand-in, and is taken back; the answers are found outside of the transaction, and the step runs again, now knowing them. With
// likeness by words and no judge nothing is ever unknown: one round, and nothing is awaited.

import type { ComparedFact } from '../api/options.ts'
import { ErrandError } from '../core/errors.ts'
import { summaryCategory, toFraction } from '../entities/confidence.ts'
import { disagree, lacksNumbers, readingOf, saysLess, subjectOf } from '../entities/disagreement.ts'
import { likeness as jaccard, wordsOf } from '../entities/fact-tokens.ts'
import type { FactRecord } from '../entities/memory.ts'
import { isConfirmed } from '../entities/source.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { StepContext } from '../steps/step-context.ts'
import { findOut, Knowledge, Questions, type Ruling } from './knowledge.ts'
import type { MemoryHost } from './memory-host.ts'
import type { MemorySettings } from './memory-settings.ts'
import { cosine, vectorFromText, vectorToText } from './vectors.ts'

/** By what two facts contradict each other; `function`: the option `contradicts` says so. */
export const grounds = ['numbers', 'negation', 'function'] as const
export type Ground = (typeof grounds)[number]

/** Which fact holds on a branch: the one that has come to it, or the one that was there. */
export type Resolution = 'keep-both' | 'incoming' | 'there'

/** A fact as it is compared; it need not be stored yet. */
export type FactLike = Pick<
  FactRecord,
  'text' | 'category' | 'confidence' | 'statedBy' | 'branch' | 'taskId' | 'agentId' | 'sessionId' | 'createdAt'
>

const maxRounds = 50
/** The model that answered last, so that the vectors that it made before are found without asking it. */
const lastModels = new WeakMap<MemorySettings, string>()

/**
 * Runs one step of memory. `write` may run several times; what the last time writes is kept.
 * @throws ErrandError NO_MODEL, EXECUTION_ERROR { option } where a question finds no answer, LIMIT_EXCEEDED when there is no end of
 *   questions; then nothing of the step is kept.
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
        // What was refused on the strength of a stand-in may be fine once the answer is known.
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
    `Each of ${maxRounds} rounds of "${name}" raised new questions about likeness or contradictions. Nothing was changed. Do the functions of the option \`memory\` answer the same each time?`,
    { rounds: maxRounds },
  )
}

/** What the writing of memory is given beside the transaction: one for each round. */
export class Deliberation {
  readonly ctx: StepContext
  readonly settings: MemorySettings
  readonly #host: MemoryHost
  readonly #known: Knowledge
  readonly #asked: Questions
  /** Ids are the same in every round, so that what was said of a fact stays true of it. */
  readonly #ids: string[]
  #idsTaken = 0
  readonly #wordsOf = remembering((text) => new Set(wordsOf(text)))
  readonly #subjectOf = remembering(subjectOf)
  readonly #readingOf = remembering(readingOf)
  /** What was read of branches whose facts are all candidates, by id. */
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

  /** Name of what texts are compared by, for `comparedBy`. `sample` is any text that is going to be compared. */
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

  /** 0 to 1. */
  likeness(a: string, b: string): number {
    const { similarity } = this.settings
    if (similarity === 'jaccard') return jaccard(this.#wordsOf(a), this.#wordsOf(b))
    if (a === b) return 1
    return typeof similarity === 'function' ? this.#answered(a, b) : this.#cosine(a, b)
  }

  /** Likeness has no direction: a pair is asked about once. */
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
    // As long as the model is not known one text is enough: the vectors of the others may lie in the ledger.
    const isFirst = this.#known.model !== null || this.#asked.texts.size === 0
    if (known === undefined && isFirst) this.#asked.texts.add(text)
    return known
  }

  /** Active facts of a branch, summaries excluded, among which all are that are alike to the text. */
  *candidates(tx: Tx, branch: string, text: string): Op<FactRecord[]> {
    const { similarity, threshold, candidates } = this.settings
    if (similarity === 'jaccard') return yield* tx.fact.candidates(branch, [...this.#wordsOf(text)], threshold)
    if (similarity !== 'embeddings' && candidates === 'words') {
      return yield* tx.fact.candidates(branch, [...this.#wordsOf(text)], 0)
    }
    if (similarity === 'embeddings') this.#vectorOf(text)
    return [...(yield* this.#factsOf(tx, branch)).values()]
  }

  /** Facts of this branch are going to be compared: what is kept of them is read, so that nothing is asked twice. */
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

  /** Those that were kept are taken up; those that have been asked for are kept. */
  *#takeVectors(tx: Tx, branch: string, facts: ReadonlyMap<string, FactRecord>): Op<void> {
    const { model } = this.#known
    // Without an answer there is no knowing which vectors are the model's.
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

  /** To be told of every fact that is written, so that what has been read of its branch stays true. */
  *written(tx: Tx, fact: FactRecord): Op<void> {
    const facts = this.#branches.get(fact.branch)
    if (facts === undefined || fact.category === summaryCategory) return
    const isNew = !facts.has(fact.id)
    if (fact.status === 'active') facts.set(fact.id, fact)
    else facts.delete(fact.id)
    if (isNew && this.settings.similarity === 'embeddings') yield* this.#keepVector(tx, fact)
  }

  /**
   * Null unless the two are alike, or about one subject, and disagree; or the option `contradicts` says that they do. Whoever knows
   * whether they are related need not have it found out again.
   */
  contradicts(there: FactLike, incoming: FactLike, areRelated = this.#areRelated(there, incoming)): Ground | null {
    const ground = areRelated ? disagree(there.text, incoming.text) : null
    if (ground !== null || this.settings.contradicts === null) return ground
    const pair = [shownTo(there), shownTo(incoming)] as const
    return answerTo(pair, this.#known.contradictions, this.#asked.contradictions) === true ? 'function' : null
  }

  #areRelated(a: FactLike, b: FactLike): boolean {
    const subject = this.#subjectOf(a.text)
    return (subject !== '' && subject === this.#subjectOf(b.text)) || this.isAlike(a.text, b.text)
  }

  /** Whether the first has no numbers, and the second some. */
  lacksNumbers(a: string, b: string): boolean {
    return lacksNumbers(this.#readingOf(a), this.#readingOf(b))
  }

  saysLess(a: string, b: string): boolean {
    return a !== b && saysLess(this.#readingOf(a), this.#readingOf(b))
  }

  /** A vaguer fact never takes the place of one that says more, nor what a single model or tool states that of what is confirmed. */
  mayReplace(by: FactLike, fact: FactLike): boolean {
    return !this.saysLess(by.text, fact.text) && (isConfirmed(by.statedBy) || !isConfirmed(fact.statedBy))
  }

  /**
   * Which of two facts that contradict each other holds. How old they are is in their `createdAt`, not in who comes. A judge decides
   * freely; a policy keeps both where the one that it prefers may not take the place of the other.
   */
  settle(incoming: FactLike, there: FactLike): Resolution {
    const { onContradiction } = this.settings
    if (onContradiction === 'keep-both') return 'keep-both'
    if (typeof onContradiction === 'function') return resolutionOf(this.#ruled(there, incoming))
    const bySurety = onContradiction === 'highest-confidence' ? incoming.confidence - there.confidence : 0
    const holds = (bySurety || incoming.createdAt - there.createdAt) >= 0
    const [kept, gone] = holds ? [incoming, there] : [there, incoming]
    if (!this.mayReplace(kept, gone)) return 'keep-both'
    return holds ? 'incoming' : 'there'
  }

  #ruled(there: FactLike, incoming: FactLike): Ruling {
    const pair = [shownTo(there), shownTo(incoming)] as const
    return answerTo(pair, this.#known.rulings, this.#asked.rulings) ?? 'keep-both'
  }
}

/** What is known of a question; undefined where it is asked now. */
function answerTo<Q, A>(question: Q, known: ReadonlyMap<string, A>, asked: Map<string, Q>): A | undefined {
  const key = JSON.stringify(question)
  const answer = known.get(key)
  if (answer === undefined) asked.set(key, question)
  return answer
}

/** The same function, called once for each text. */
function remembering<V extends {}>(find: (text: string) => V): (text: string) => V {
  const known = new Map<string, V>()
  return (text) => {
    const value = known.get(text) ?? find(text)
    known.set(text, value)
    return value
  }
}

function resolutionOf(ruling: Ruling): Resolution {
  if (ruling === 'keep-both') return ruling
  return ruling === 'second' ? 'incoming' : 'there'
}

function shownTo({ confidence, ...fact }: FactLike): ComparedFact {
  const { text, category, statedBy, branch, taskId, agentId, sessionId, createdAt } = fact
  return { text, category, confidence: toFraction(confidence), statedBy, branch, taskId, agentId, sessionId, createdAt }
}
