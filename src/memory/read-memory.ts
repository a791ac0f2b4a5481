// What is asked of memory: facts of a branch, branches, observations, the history. The latest first, a page at a time.
import type { Caller } from '../bus/caller.ts'
import { categoryNamed } from '../entities/confidence.ts'
import type {
  BranchStatus,
  ConsolidationType,
  FactRecord,
  FactStatus,
  FactVerdict,
  ObservationType,
} from '../entities/memory.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import {
  type BranchView,
  branchView,
  type FactView,
  factView,
  type HistoryView,
  historyView,
  type ObservationView,
  observationView,
} from './fact-view.ts'
import type { MemoryHost } from './memory-host.ts'
import { branchMeant } from './standing.ts'

export interface FactQuery {
  /** Default: as `mem:observe`. */
  branch?: string | undefined
  category?: string | undefined
  status?: FactStatus | undefined
  taskId?: string | undefined
  agentId?: string | undefined
  sessionId?: string | undefined
  verdict?: FactVerdict | undefined
  disputed?: boolean | undefined
  /** Those of the branches above too, but for what the branch itself has carried up. */
  inherited?: boolean | undefined
  limit: number
  /** Where the page before ended. */
  before?: number | undefined
}

/** Position of the next page; null at the end. */
export interface FactPage {
  facts: FactView[]
  next: number | null
}

const pageSize = 200

/** @throws ErrandError NOT_FOUND for the branch, FORBIDDEN */
export function listFacts(host: MemoryHost, caller: Caller, query: FactQuery): Promise<FactPage> {
  return host.read(function* (tx): Op<FactPage> {
    const { name } = yield* branchMeant(tx, caller, { branch: query.branch }, 'read')
    const lineage = query.inherited === true ? (yield* tx.branch.lineage(name)).map((each) => each.name) : [name]
    const { category, status, taskId, agentId, sessionId, verdict, disputed, limit } = query
    const named = category === undefined ? undefined : categoryNamed(category)
    const about = { category: named, status, taskId, agentId, sessionId, verdict, disputed }
    const filter = { branches: lineage, ...given(about) }
    const found: FactRecord[] = []
    let before = query.before ?? Number.MAX_SAFE_INTEGER
    // One more than wanted tells whether there is another page. What is left out may empty a page of the ledger.
    while (found.length <= limit) {
      const page = yield* tx.fact.list(filter, pageSize, before)
      for (const fact of page) if (!(yield* isShownAsOrigin(tx, fact, lineage, status))) found.push(fact)
      if (page.length < pageSize) break
      before = (page.at(-1) as FactRecord).seq
    }
    const facts = found.slice(0, limit)
    return { facts: facts.map(factView), next: found.length > limit ? (facts.at(-1)?.seq ?? null) : null }
  })
}

/** A copy whose origin is on the same list says nothing new. */
function* isShownAsOrigin(
  tx: Reads,
  fact: FactRecord,
  lineage: readonly string[],
  status: FactStatus | undefined,
): Op<boolean> {
  if (fact.originId === null || lineage.length === 1) return false
  const origin = yield* tx.fact.get(fact.originId)
  return origin !== undefined && lineage.includes(origin.branch) && (status === undefined || origin.status === status)
}

/** The branch that a list is bound to: the one that is named, else that of the caller's task; undefined for all of them. */
function* branchShown(tx: Reads, caller: Caller, branch: string | undefined): Op<string | undefined> {
  if (caller.taskId === undefined && branch === undefined) return undefined
  return (yield* branchMeant(tx, caller, { branch }, 'read')).name
}

/** Without the keys of which nothing was said. */
function given<T extends Record<string, unknown>>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}

export interface BranchQuery {
  status?: BranchStatus | undefined
  parent?: string | undefined
  taskId?: string | undefined
  /** Counting reads an entry for each fact: about 6 ms for 100,000 of them. */
  counts: boolean
  limit: number
  after?: number | undefined
}

export interface ListedBranch extends BranchView {
  /** Its active facts, summaries excluded; exactly where they were to be counted. */
  facts?: number
}

/** By age. */
export function listBranches(
  host: MemoryHost,
  { limit, after = 0, counts, ...filter }: BranchQuery,
): Promise<{ branches: ListedBranch[]; next: number | null }> {
  return host.read(function* (tx): Op<{ branches: ListedBranch[]; next: number | null }> {
    const found = yield* tx.branch.list(given(filter), limit + 1, after)
    const page = found.slice(0, limit)
    const facts = counts ? yield* tx.fact.countActive(page.map(({ name }) => name)) : undefined
    const branches = page.map((branch) => ({
      ...branchView(branch),
      ...(facts === undefined ? {} : { facts: facts.get(branch.name) ?? 0 }),
    }))
    return { branches, next: found.length > limit ? (page.at(-1)?.seq ?? null) : null }
  })
}

export interface ObservationQuery {
  branch?: string | undefined
  sessionId?: string | undefined
  taskId?: string | undefined
  agentId?: string | undefined
  types?: readonly ObservationType[] | undefined
  limit: number
  before?: number | undefined
}

/** A caller with a task sees those of one branch, by default its own. @throws ErrandError NOT_FOUND, FORBIDDEN */
export function listObservations(
  host: MemoryHost,
  caller: Caller,
  { limit, before = Number.MAX_SAFE_INTEGER, ...query }: ObservationQuery,
): Promise<{ observations: ObservationView[]; next: number | null }> {
  return host.read(function* (tx): Op<{ observations: ObservationView[]; next: number | null }> {
    const branch = yield* branchShown(tx, caller, query.branch)
    const found = yield* tx.observation.list(given({ ...query, branch }), limit + 1, before)
    const page = found.slice(0, limit)
    return {
      observations: page.map(observationView),
      next: found.length > limit ? (page.at(-1)?.seq ?? null) : null,
    }
  })
}

export interface HistoryQuery {
  type?: ConsolidationType | undefined
  taskId?: string | undefined
  agentId?: string | undefined
  sessionId?: string | undefined
  /** As source or target. */
  branch?: string | undefined
  limit: number
  before?: number | undefined
}

/** Runs of consolidation, merges among them (conformance S2-100). @throws ErrandError NOT_FOUND, FORBIDDEN for a branch out of reach */
export function listHistory(
  host: MemoryHost,
  caller: Caller,
  { limit, before = Number.MAX_SAFE_INTEGER, ...query }: HistoryQuery,
): Promise<{ history: HistoryView[]; next: number | null }> {
  return host.read(function* (tx): Op<{ history: HistoryView[]; next: number | null }> {
    const branch = yield* branchShown(tx, caller, query.branch)
    const found = yield* tx.consolidation.list(given({ ...query, branch }), limit + 1, before)
    const page = found.slice(0, limit)
    return { history: page.map(historyView), next: found.length > limit ? (page.at(-1)?.seq ?? null) : null }
  })
}
