// Steps of memory compare facts, and likeness may be a function of the embedder's or use vectors, and a judge may decide contradictions: these
// answers are awaited, while a transaction awaits nothing. So a step is rehearsed before: the same code runs on rows that are read, its writes
// stay in memory, and it waits for each answer. The step then looks the answers up. With likeness by words and no functions there is nothing
// to ask and no rehearsal.

import { ErrandError } from '../core/errors.ts'
import { memoized } from '../core/memoized.ts'
import { nextTurn } from '../core/turns.ts'
import { summaryCategory, toFraction } from '../entities/confidence.ts'
import { disagree, lacksNumbers, readingOf, saysLess, subjectOf } from '../entities/disagreement.ts'
import { likeness as jaccard, wordsOf } from '../entities/fact-tokens.ts'
import type { FactRecord } from '../entities/memory.ts'
import type { ComparedFact } from '../entities/options.ts'
import { isConfirmed } from '../entities/source.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import type { MemoryHost } from './memory-host.ts'
import type { MemorySettings } from './memory-settings.ts'
import { Answers, fetchAnswers, Questions, type Ruling, together, Unanswered } from './outside-answers.ts'
import { type Query, rehearsedTx } from './rehearsal.ts'
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

const maxTries = 10
/** The model of the latest answer, so that its stored vectors are found without a new request. */
const lastModels = new WeakMap<MemorySettings, string>()

/**
 * Runs one step of memory. `write` runs for the rehearsal and in the transaction; both again if an answer is missing in the transaction,
 * because rows have changed since they were read.
 * @throws ErrandError NO_MODEL; EXECUTION_ERROR { option } when a question cannot be answered; LIMIT_EXCEEDED when answers are missing each
 *   time. Nothing is changed then.
 */
export async function runMemoryStep<R>(
  host: MemoryHost,
  name: string,
  write: (tx: Tx, memory: MemoryStep) => Op<R>,
): Promise<R> {
  const ctx = await host.stepContext()
  const answers = new Answers(lastModels.get(host.memory) ?? null)
  const answer = async (asked: Questions): Promise<void> => {
    await fetchAnswers(host, answers, asked)
    if (answers.model !== null) lastModels.set(host.memory, answers.model)
  }
  const step = {
    name,
    decide: (tx: Tx) => withoutQuestions(write(tx, new MemoryStep(host, ctx, answers))),
  }
  for (let tries = 1; tries <= maxTries; tries++) {
    if (mayAsk(host.memory))
      await rehearse(host, write(rehearsedTx(), new MemoryStep(host, ctx, answers, true)), answer)
    try {
      return await host.step(step)
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      await answer(error.asked)
    }
  }
  throw new ErrandError(
    'LIMIT_EXCEEDED',
    `In each of ${maxTries} tries "${name}" lacked answers about likeness or contradictions that it had not needed before. Nothing was changed. Make sure that the functions of the option \`memory\` return the same answer each time, and that no other process keeps changing the same facts.`,
    { tries: maxTries },
  )
}

function mayAsk({ similarity, contradicts, onContradiction }: MemorySettings): boolean {
  return similarity !== 'jaccard' || contradicts !== null || typeof onContradiction === 'function'
}

/** Refuses the first questions. */
function* withoutQuestions<R>(op: Op<R>): Op<R> {
  for (let next = op.next(); ; ) {
    if (next.done) return next.value
    if (next.value instanceof Questions) throw new Unanswered(next.value)
    let reply: unknown
    try {
      reply = yield next.value
    } catch (error) {
      next = op.throw(error)
      continue
    }
    next = op.next(reply)
  }
}

/** Runs an operation outside of any transaction. If it is refused, the rehearsal ends: whether the step is refused depends on its own rows. */
async function rehearse(host: MemoryHost, op: Op<unknown>, answer: (asked: Questions) => Promise<void>): Promise<void> {
  let reply: unknown
  for (;;) {
    let next: IteratorResult<unknown>
    try {
      next = op.next(reply)
    } catch (error) {
      if (error instanceof ErrandError || error instanceof Unanswered) return
      throw error
    }
    if (next.done) return
    await nextTurn()
    if (next.value instanceof Questions) reply = await answer(next.value)
    else reply = await host.read(next.value as Query)
  }
}

/** What a step of memory uses beside the transaction; one for each run. */
export class MemoryStep {
  readonly ctx: StepContext
  readonly settings: MemorySettings
  readonly isRehearsal: boolean
  readonly #host: MemoryHost
  readonly #answers: Answers
  readonly #wordsOf = memoized((text) => new Set(wordsOf(text)))
  readonly #subjectOf = memoized(subjectOf)
  readonly #readingOf = memoized(readingOf)
  /** The facts, by id, of branches that were read completely. */
  readonly #branches = new Map<string, Map<string, FactRecord>>()

  constructor(host: MemoryHost, ctx: StepContext, answers: Answers, isRehearsal = false) {
    this.ctx = ctx
    this.settings = host.memory
    this.isRehearsal = isRehearsal
    this.#host = host
    this.#answers = answers
  }

  nextId(prefix: string): string {
    return this.#host.nextId(prefix)
  }

  /** Identifies how texts are compared, for `comparedBy`. `sample` is any text to compare. */
  *measure(sample: string): Op<string> {
    const { similarity, threshold } = this.settings
    if (similarity === 'jaccard') return `jaccard > ${threshold}`
    if (typeof similarity === 'function') return `function ${similarity.name} > ${threshold}`
    return `embeddings ${yield* this.#modelFor(sample)} > ${threshold}`
  }

  *isAlike(a: string, b: string): Op<boolean> {
    return (yield* this.likeness(a, b)) > this.settings.threshold
  }

  /** Returns the likeness, 0 to 1. */
  *likeness(a: string, b: string): Op<number> {
    const { similarity } = this.settings
    if (similarity === 'jaccard') return jaccard(this.#wordsOf(a), this.#wordsOf(b))
    if (a === b) return 1
    if (similarity === 'embeddings') return cosine(yield* this.#vectorOf(a), yield* this.#vectorOf(b))
    return yield* this.#answers.to('likenesses', a < b ? [a, b] : [b, a])
  }

  #vectorOf(text: string): Op<Float32Array> {
    return this.#answers.to('vectors', text)
  }

  /** The embedding model, which is unknown until it has answered. */
  *#modelFor(sample: string): Op<string> {
    if (this.#answers.model === null) yield* this.#vectorOf(sample)
    return this.#answers.model as string
  }

  /** Active facts of a branch, summaries excluded; includes all that are alike to the text. */
  *candidates(tx: Tx, branch: string, text: string): Op<FactRecord[]> {
    const { similarity, threshold, candidates, contradicts } = this.settings
    if (similarity === 'jaccard') {
      // For the function they may be half as alike. What else the index finds depends on how frequent its words are at the moment.
      const least = contradicts === null ? threshold : threshold / 2
      const found = yield* tx.fact.candidates(branch, [...this.#wordsOf(text)], least)
      return found.filter((fact) => jaccard(this.#wordsOf(fact.text), this.#wordsOf(text)) > least)
    }
    if (similarity !== 'embeddings' && candidates === 'words') {
      return yield* tx.fact.candidates(branch, [...this.#wordsOf(text)], 0)
    }
    if (similarity === 'embeddings') yield* this.#vectorOf(text)
    return [...(yield* this.#factsOf(tx, branch)).values()]
  }

  /** Gets the vectors of a branch, and of texts to be compared with it: the stored ones are read, the others requested together. */
  *prepare(tx: Tx, branch: string, texts: readonly string[] = []): Op<void> {
    if (typeof this.settings.similarity === 'function') {
      const pairs: Array<[string, string]> = []
      for (const text of texts)
        for (const fact of yield* this.candidates(tx, branch, text)) pairs.push([text, fact.text])
      yield* together(pairs, ([a, b]) => this.likeness(a, b))
    }
    if (this.settings.similarity !== 'embeddings') return
    const [first] = texts
    if (first !== undefined) yield* this.#modelFor(first)
    yield* this.#factsOf(tx, branch)
    yield* together(texts, (text) => this.#vectorOf(text))
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
    const [first] = facts.values()
    if (first === undefined) return
    const model = yield* this.#modelFor(first.text)
    const kept = new Set<string>()
    const { vectors } = this.#answers.of
    for (const { factId, vector } of yield* tx.fact.vectors(branch, model)) {
      const text = facts.get(factId)?.text
      if (text === undefined) continue
      kept.add(factId)
      if (!vectors.has(text)) vectors.set(text, vectorFromText(vector))
    }
    const others = [...facts.values()].filter(({ id }) => !kept.has(id))
    yield* together(others, ({ text }) => this.#vectorOf(text))
    for (const fact of others) yield* this.#keepVector(tx, fact)
  }

  *#keepVector(tx: Tx, { id, text }: FactRecord): Op<void> {
    const vector = yield* this.#vectorOf(text)
    yield* tx.fact.keepVector(id, yield* this.#modelFor(text), vectorToText(vector))
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
  *contradicts(existing: FactLike, incoming: FactLike, areRelated?: boolean): Op<Ground | null> {
    const mayDisagree = areRelated ?? (yield* this.#areRelated(existing, incoming))
    const ground = mayDisagree ? disagree(existing.text, incoming.text) : null
    if (ground !== null || this.settings.contradicts === null) return ground
    const pair = [shownTo(existing), shownTo(incoming)] as const
    return (yield* this.#answers.to('contradictions', pair)) ? 'function' : null
  }

  *#areRelated(a: FactLike, b: FactLike): Op<boolean> {
    const subject = this.#subjectOf(a.text)
    return (subject !== '' && subject === this.#subjectOf(b.text)) || (yield* this.isAlike(a.text, b.text))
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
  *settle(incoming: FactLike, existing: FactLike): Op<Resolution> {
    const { onContradiction } = this.settings
    if (onContradiction === 'keep-both') return 'keep-both'
    if (typeof onContradiction === 'function') {
      return resolutionOf(yield* this.#answers.to('rulings', [shownTo(existing), shownTo(incoming)]))
    }
    const bySurety = onContradiction === 'highest-confidence' ? incoming.confidence - existing.confidence : 0
    const holds = (bySurety || incoming.createdAt - existing.createdAt) >= 0
    const [kept, superseded] = holds ? [incoming, existing] : [existing, incoming]
    if (!this.mayReplace(kept, superseded)) return 'keep-both'
    return holds ? 'incoming' : 'existing'
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
