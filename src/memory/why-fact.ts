// Why a fact is as it is: which observations said it, what each run decided about it and about others because of it, and which facts
// below it came from.
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import type { FactRecord } from '../entities/memory.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { isReadable, requireReadable } from './branch-scope.ts'
import {
  type DecisionView,
  decisionView,
  type FactView,
  factView,
  type MentionView,
  mentionView,
  type ObservationView,
  observationView,
} from './fact-view.ts'
import type { MemoryHost } from './memory-host.ts'

/** A fact with what made it. */
export interface FactHistory {
  fact: FactView
  /** What said it, oldest first: the one that it was made of, and those that confirmed it. */
  observations: ObservationView[]
  /** Oldest first; the latest 500. */
  decisions: DecisionView[]
  /** There are older ones. */
  moreDecisions?: true
}

export interface FactWhy extends FactHistory {
  /**
   * Decisions about other facts in which this one was the other side, oldest first: what contradicts it or gave way to it, what it took
   * the place of, where it was carried. The latest 100.
   */
  mentions: MentionView[]
  /** There are older ones. */
  moreMentions?: true
  /** Facts of branches below that it was carried from, or made surer by; each with its own story, down to the observations; at most 100. */
  sources: FactHistory[]
  /** The facts that `mentions` and `decisions` name, but for those in `sources`; at most 200. */
  others: FactView[]
  /** The fact that says it now. */
  successor?: FactView
}

const maxSources = 100
const maxDecisions = 500
const maxMentions = 100
const maxOthers = 200

/**
 * `ref` is an id or a unique beginning of one. A caller with a task is told only of facts that it reads.
 * @throws ErrandError NOT_FOUND { factId }, INVALID_INPUT { candidates }, FORBIDDEN for one on a branch that the caller does not read
 */
export function whyFact(host: MemoryHost, caller: Caller, ref: string): Promise<FactWhy> {
  return host.read(function* (tx): Op<FactWhy> {
    const fact = yield* findFact(tx, caller, ref)
    const { told, sourceIds } = yield* factHistoryOf(tx, fact)
    const sources = yield* sourcesOf(tx, caller, fact, sourceIds)
    const { mentions, isCut } = yield* mentionsOf(tx, caller, fact)
    const successor = fact.successorId === null ? undefined : yield* tx.fact.get(fact.successorId)
    return {
      ...told,
      mentions,
      ...(isCut ? { moreMentions: true as const } : {}),
      sources,
      others: yield* othersOf(tx, caller, told, mentions, sources),
      ...(successor === undefined ? {} : { successor: factView(successor) }),
    }
  })
}

function* mentionsOf(tx: Reads, caller: Caller, { id }: FactRecord): Op<{ mentions: MentionView[]; isCut: boolean }> {
  const found = yield* tx.consolidation.decisionsNaming(id, maxMentions + 1)
  const mentions: MentionView[] = []
  for (const decision of found.slice(0, maxMentions).reverse()) {
    const run = yield* tx.consolidation.get(decision.consolidationId)
    const about = yield* tx.fact.get(decision.factId)
    if (run === undefined || about === undefined || !(yield* isReadable(tx, caller, about.branch))) continue
    mentions.push(mentionView(decision, run))
  }
  return { mentions, isCut: found.length > maxMentions }
}

function* othersOf(
  tx: Reads,
  caller: Caller,
  { fact, decisions }: FactHistory,
  mentions: readonly MentionView[],
  sources: readonly FactHistory[],
): Op<FactView[]> {
  const met = new Set([fact.id, ...sources.map((source) => source.fact.id)])
  const others: FactView[] = []
  for (const id of [...mentions.map(({ factId }) => factId), ...decisions.map(({ otherId }) => otherId)]) {
    if (id === undefined || met.has(id)) continue
    if (others.length >= maxOthers) break
    met.add(id)
    const other = yield* tx.fact.get(id)
    if (other !== undefined && (yield* isReadable(tx, caller, other.branch))) others.push(factView(other))
  }
  return others
}

/** Level by level. A caller with a task is told only of what it reads. */
function* sourcesOf(tx: Reads, caller: Caller, fact: FactRecord, ids: readonly string[]): Op<FactHistory[]> {
  const met = new Set([fact.id])
  const stories: FactHistory[] = []
  const open = [...ids]
  for (let id = open.shift(); id !== undefined && stories.length < maxSources; id = open.shift()) {
    const source = met.has(id) ? undefined : yield* tx.fact.get(id)
    met.add(id)
    if (source === undefined || !(yield* isReadable(tx, caller, source.branch))) continue
    const { told, sourceIds } = yield* factHistoryOf(tx, source)
    stories.push(told)
    open.push(...sourceIds)
  }
  return stories
}

function* factHistoryOf(tx: Reads, fact: FactRecord): Op<{ told: FactHistory; sourceIds: string[] }> {
  const decisions: DecisionView[] = []
  const observationIds = new Set(fact.observationId === null ? [] : [fact.observationId])
  const sourceIds = fact.originId === null ? [] : [fact.originId]
  const found = yield* tx.consolidation.decisionsOn(fact.id, maxDecisions + 1)
  for (const decision of found.slice(0, maxDecisions).reverse()) {
    const run = yield* tx.consolidation.get(decision.consolidationId)
    if (run === undefined) continue
    decisions.push(decisionView(decision, run))
    if (decision.observationId !== null) observationIds.add(decision.observationId)
    const isSource = decision.kind === 'carried' || decision.kind === 'boosted' || decision.kind === 'confirmed'
    if (isSource && decision.otherId !== null) sourceIds.push(decision.otherId)
  }
  const observations: ObservationView[] = []
  for (const id of observationIds) {
    const observation = yield* tx.observation.get(id)
    if (observation !== undefined) observations.push(observationView(observation))
  }
  const more = found.length > maxDecisions ? { moreDecisions: true as const } : {}
  return { told: { fact: factView(fact), observations, decisions, ...more }, sourceIds }
}

const prefixPattern = /^fact-[a-z0-9]*$/
const maxCandidates = 10

/**
 * A fact by what people write: an id, or a beginning of one, with or without `fact-`. Of a beginning only facts that the caller reads
 * count: it does not learn by guessing which others there are.
 * @throws ErrandError NOT_FOUND { factId }, INVALID_INPUT { factId, candidates } when several ids begin so, FORBIDDEN for the whole id
 *   of one that the caller does not read
 */
function* findFact(tx: Reads, caller: Caller, ref: string): Op<FactRecord> {
  const exact = yield* tx.fact.get(ref)
  if (exact !== undefined) {
    yield* requireReadable(tx, caller, exact.branch)
    return exact
  }
  const prefix = ref.startsWith('fact-') ? ref : `fact-${ref}`
  const begun = prefixPattern.test(prefix) ? yield* tx.fact.findByPrefix(prefix, maxCandidates) : []
  const found: FactRecord[] = []
  for (const fact of begun) if (yield* isReadable(tx, caller, fact.branch)) found.push(fact)
  const whole = found.find(({ id }) => id === prefix)
  if (whole !== undefined) return whole
  const [only] = found
  if (only === undefined) {
    throw new ErrandError(
      'NOT_FOUND',
      `There is no fact ${ref}. A fact is named by its id or any unique beginning of it; \`mem:facts\` lists those of a branch.`,
      { factId: ref },
    )
  }
  // Where not all were looked at there may be others.
  if (found.length === 1 && begun.length < maxCandidates) return only
  const candidates = found.map(({ id }) => id)
  throw new ErrandError(
    'INVALID_INPUT',
    `"${ref}" is the beginning of several facts: ${candidates.join(', ')}${begun.length < maxCandidates ? '' : ' and others'}. Write more of the id.`,
    { factId: ref, candidates },
  )
}
