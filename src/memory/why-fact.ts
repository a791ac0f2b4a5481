// Why a fact is as it is: which observations said it, what each run decided about it, and which facts below it came from.
import type { Caller } from '../bus/caller.ts'
import type { FactRecord } from '../entities/memory.ts'
import { ErrandError } from '../errors.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import {
  type DecisionView,
  decisionView,
  type FactView,
  factView,
  type ObservationView,
  observationView,
} from './fact-view.ts'
import type { MemoryHost } from './memory-host.ts'
import { requireReadable } from './standing.ts'

/** A fact with what made it. */
export interface FactStory {
  fact: FactView
  /** What said it, oldest first: the one that it was made of, and those that confirmed it. */
  observations: ObservationView[]
  /** Oldest first. */
  decisions: DecisionView[]
}

export interface FactWhy extends FactStory {
  /** Facts of branches below that it was carried from, or made surer by; each with its own story, down to the observations. */
  sources: FactStory[]
  /** The fact that says it now. */
  successor?: FactView
}

const mostSources = 100

/** @throws ErrandError NOT_FOUND { factId }, FORBIDDEN for one on a branch that the caller does not read */
export function whyFact(host: MemoryHost, caller: Caller, factId: string): Promise<FactWhy> {
  return host.read(function* (tx): Op<FactWhy> {
    const fact = yield* tx.fact.get(factId)
    if (fact === undefined) {
      throw new ErrandError('NOT_FOUND', `There is no fact ${factId}. \`mem:facts\` lists those of a branch.`, {
        factId,
      })
    }
    yield* requireReadable(tx, caller, fact.branch)
    const { told, sourceIds } = yield* storyOf(tx, fact)
    const successor = fact.successorId === null ? undefined : yield* tx.fact.get(fact.successorId)
    return {
      ...told,
      sources: yield* sourcesOf(tx, caller, fact, sourceIds),
      ...(successor === undefined ? {} : { successor: factView(successor) }),
    }
  })
}

/** Level by level. A caller with a task is told only of what it reads. */
function* sourcesOf(tx: Reads, caller: Caller, fact: FactRecord, ids: readonly string[]): Op<FactStory[]> {
  const met = new Set([fact.id])
  const stories: FactStory[] = []
  const open = [...ids]
  for (let id = open.shift(); id !== undefined && stories.length < mostSources; id = open.shift()) {
    const source = met.has(id) ? undefined : yield* tx.fact.get(id)
    met.add(id)
    if (source === undefined || !(yield* isReadable(tx, caller, source))) continue
    const { told, sourceIds } = yield* storyOf(tx, source)
    stories.push(told)
    open.push(...sourceIds)
  }
  return stories
}

function* isReadable(tx: Reads, caller: Caller, { branch }: FactRecord): Op<boolean> {
  try {
    yield* requireReadable(tx, caller, branch)
    return true
  } catch (error) {
    if (ErrandError.isInstance(error) && error.code === 'FORBIDDEN') return false
    throw error
  }
}

function* storyOf(tx: Reads, fact: FactRecord): Op<{ told: FactStory; sourceIds: string[] }> {
  const decisions: DecisionView[] = []
  const observationIds = new Set(fact.observationId === null ? [] : [fact.observationId])
  const sourceIds = fact.originId === null ? [] : [fact.originId]
  for (const decision of yield* tx.consolidation.decisionsOn(fact.id)) {
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
  return { told: { fact: factView(fact), observations, decisions }, sourceIds }
}
