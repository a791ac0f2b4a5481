// Explains a fact: its observations, the decisions of each run about it and about others because of it, and its sources on branches below.
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

/** A fact with its history. */
export interface FactHistory {
  fact: FactView
  /** The observation it was made from and those that confirmed it, oldest first. */
  observations: ObservationView[]
  /** Oldest first; the latest 500. */
  decisions: DecisionView[]
  /** There are older decisions. */
  moreDecisions?: true
}

export interface FactWhy extends FactHistory {
  /**
   * Decisions about other facts that name this one, oldest first, at most the latest 100: facts that contradict it, were superseded by
   * it, or to which it was carried.
   */
  mentions: MentionView[]
  /** There are older mentions. */
  moreMentions?: true
  /** Facts of branches below from which it was carried or confirmed, each with its own history; at most 100. */
  sources: FactHistory[]
  /** The facts named by `mentions` and `decisions`, except those in `sources`; at most 200. */
  others: FactView[]
  /** The fact that superseded it. */
  successor?: FactView
}

const maxSources = 100
const maxDecisions = 500
const maxMentions = 100
const maxOthers = 200

/**
 * `ref` is an id or a unique prefix of one. A caller with a task sees only facts that it may read.
 * @throws ErrandError NOT_FOUND { factId }, INVALID_INPUT { candidates }, FORBIDDEN for a fact on a branch that the caller may not read
 */
export function whyFact(host: MemoryHost, caller: Caller, ref: string): Promise<FactWhy> {
  return host.read(function* (tx): Op<FactWhy> {
    const fact = yield* findFact(tx, caller, ref)
    const { history, sourceIds } = yield* factHistoryOf(tx, fact)
    const sources = yield* sourcesOf(tx, caller, fact, sourceIds)
    const { mentions, isCut } = yield* mentionsOf(tx, caller, fact)
    const successor = fact.successorId === null ? undefined : yield* tx.fact.get(fact.successorId)
    return {
      ...history,
      mentions,
      ...(isCut ? { moreMentions: true as const } : {}),
      sources,
      others: yield* othersOf(tx, caller, history, mentions, sources),
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
  const seen = new Set([fact.id, ...sources.map((source) => source.fact.id)])
  const others: FactView[] = []
  for (const id of [...mentions.map(({ factId }) => factId), ...decisions.map(({ otherId }) => otherId)]) {
    if (id === undefined || seen.has(id)) continue
    if (others.length >= maxOthers) break
    seen.add(id)
    const other = yield* tx.fact.get(id)
    if (other !== undefined && (yield* isReadable(tx, caller, other.branch))) others.push(factView(other))
  }
  return others
}

/** The sources, level by level, as far as the caller may read them. */
function* sourcesOf(tx: Reads, caller: Caller, fact: FactRecord, ids: readonly string[]): Op<FactHistory[]> {
  const seen = new Set([fact.id])
  const histories: FactHistory[] = []
  const open = [...ids]
  for (let id = open.shift(); id !== undefined && histories.length < maxSources; id = open.shift()) {
    const source = seen.has(id) ? undefined : yield* tx.fact.get(id)
    seen.add(id)
    if (source === undefined || !(yield* isReadable(tx, caller, source.branch))) continue
    const { history, sourceIds } = yield* factHistoryOf(tx, source)
    histories.push(history)
    for (const sourceId of sourceIds) open.push(sourceId)
  }
  return histories
}

function* factHistoryOf(tx: Reads, fact: FactRecord): Op<{ history: FactHistory; sourceIds: string[] }> {
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
  return { history: { fact: factView(fact), observations, decisions, ...more }, sourceIds }
}

const prefixPattern = /^fact-[a-z0-9]*$/
const maxCandidates = 10

/**
 * Finds a fact by its id or a prefix, with or without `fact-`. For a prefix only facts that the caller may read are considered, so that
 * guessing reveals nothing.
 * @throws ErrandError NOT_FOUND { factId }, INVALID_INPUT { factId, candidates } when several ids match, FORBIDDEN for the full id of a
 *   fact that the caller may not read
 */
function* findFact(tx: Reads, caller: Caller, ref: string): Op<FactRecord> {
  const exact = yield* tx.fact.get(ref)
  if (exact !== undefined) {
    yield* requireReadable(tx, caller, exact.branch)
    return exact
  }
  const prefix = ref.startsWith('fact-') ? ref : `fact-${ref}`
  const matching = prefixPattern.test(prefix) ? yield* tx.fact.findByPrefix(prefix, maxCandidates) : []
  const found: FactRecord[] = []
  for (const fact of matching) if (yield* isReadable(tx, caller, fact.branch)) found.push(fact)
  const whole = found.find(({ id }) => id === prefix)
  if (whole !== undefined) return whole
  const [only] = found
  if (only === undefined) {
    throw new ErrandError(
      'NOT_FOUND',
      `There is no fact ${ref}. Use its id or a unique prefix of it; \`mem:facts\` lists those of a branch.`,
      { factId: ref },
    )
  }
  // If the search was cut off, there may be others.
  if (found.length === 1 && matching.length < maxCandidates) return only
  const candidates = found.map(({ id }) => id)
  throw new ErrandError(
    'INVALID_INPUT',
    `"${ref}" matches several facts: ${candidates.join(', ')}${matching.length < maxCandidates ? '' : ' and others'}. Use more characters of the id.`,
    { factId: ref, candidates },
  )
}
