// Queries of memory: facts, branches, observations, history. Latest first, in pages.
import { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import { omitUndefined } from '../core/omit-undefined.ts'
import { once } from '../core/once.ts'
import { categoryNamed } from '../entities/confidence.ts'
import {
  branchStatuses,
  consolidationTypes,
  type FactRecord,
  type FactStatus,
  factStatuses,
  factVerdicts,
  observationTypes,
} from '../entities/memory.ts'
import { taskIdSchema } from '../entities/task-fields.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { resolveBranch } from './branch-scope.ts'
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
import {
  agentIdSchema,
  branchSchema,
  categorySchema,
  pageLimitSchema,
  pageShape,
  positionSchema,
  sessionIdSchema,
} from './request-fields.ts'

export const factQuerySchema = once(() =>
  z.strictObject({
    branch: branchSchema().optional().describe('Default: that of the calling task, else main.'),
    category: categorySchema().optional(),
    status: z.enum(factStatuses).optional().describe('Default: both.'),
    taskId: taskIdSchema.optional().describe('Only facts found while working on this task.'),
    agentId: agentIdSchema().optional().describe('Only facts found by this agent.'),
    sessionId: sessionIdSchema().optional(),
    verdict: z.enum(factVerdicts).optional().describe('Only facts with this verdict of a checkpoint.'),
    disputed: z.boolean().optional().describe('true: only facts that contradict another one; false: only the others.'),
    /** Leaves out copies of the branch's own facts. */
    inherited: z.boolean().default(false).describe('Includes facts of the branches above it. Default false.'),
    ...pageShape(),
  }),
)

/** Position of the next page; null at the end. */
interface Next {
  next: number | null
}

/** One row more than the limit shows whether there is another page. */
function pageOf<R extends { seq: number }>(found: readonly R[], limit: number): Next & { rows: R[] } {
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? (rows.at(-1)?.seq ?? null) : null }
}

const pageSize = 200

/** Lists facts. @throws ErrandError NOT_FOUND for the branch, FORBIDDEN */
export function listFacts(
  host: MemoryHost,
  caller: Caller,
  {
    branch,
    category,
    inherited,
    limit,
    before = Number.MAX_SAFE_INTEGER,
    ...rest
  }: z.output<ReturnType<typeof factQuerySchema>>,
): Promise<Next & { facts: FactView[] }> {
  return host.read(function* (tx): Op<Next & { facts: FactView[] }> {
    const { name } = yield* resolveBranch(tx, caller, { branch }, 'read')
    const lineage = inherited ? (yield* tx.branch.lineage(name)).map((each) => each.name) : [name]
    const about = omitUndefined({ ...rest, category: category && categoryNamed(category) })
    const found: FactRecord[] = []
    // Copies that are left out may empty a page of the ledger.
    for (let last = before; found.length <= limit; ) {
      const page = yield* tx.fact.list({ branches: lineage, ...about }, pageSize, last)
      for (const fact of page) if (!(yield* isShownAsOrigin(tx, fact, lineage, rest.status))) found.push(fact)
      if (page.length < pageSize) break
      last = (page.at(-1) as FactRecord).seq
    }
    const { rows, next } = pageOf(found, limit)
    return { facts: rows.map(factView), next }
  })
}

/** A copy is left out if its origin is on the same list. */
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

/** The branch to which a list is limited: the named one, else that of the caller's task; undefined for all. */
function* branchShown(tx: Reads, caller: Caller, branch: string | undefined): Op<string | undefined> {
  if (caller.taskId === undefined && branch === undefined) return undefined
  return (yield* resolveBranch(tx, caller, { branch }, 'read')).name
}

export const branchQuerySchema = once(() =>
  z.strictObject({
    status: z.enum(branchStatuses).optional(),
    parent: branchSchema().optional().describe('Only branches directly below this one.'),
    taskId: taskIdSchema.optional().describe('Only branches of this task and its agents.'),
    /** Counting reads an index entry per fact: about 6 ms for 100,000 of them. */
    counts: z.boolean().default(false).describe('Counts the active facts of each, summaries excluded. Default false.'),
    limit: pageLimitSchema(),
    after: positionSchema(),
  }),
)

export interface ListedBranch extends BranchView {
  /** Number of active facts, summaries excluded; only if `counts` is set. */
  facts?: number
}

/** Lists branches, oldest first. */
export function listBranches(
  host: MemoryHost,
  { limit, after = 0, counts, ...filter }: z.output<ReturnType<typeof branchQuerySchema>>,
): Promise<Next & { branches: ListedBranch[] }> {
  return host.read(function* (tx): Op<Next & { branches: ListedBranch[] }> {
    const { rows, next } = pageOf(yield* tx.branch.list(omitUndefined(filter), limit + 1, after), limit)
    const facts = counts ? yield* tx.fact.countActive(rows.map(({ name }) => name)) : undefined
    const branches = rows.map((branch) => ({
      ...branchView(branch),
      ...(facts === undefined ? {} : { facts: facts.get(branch.name) ?? 0 }),
    }))
    return { branches, next }
  })
}

export const observationQuerySchema = once(() =>
  z.strictObject({
    branch: branchSchema().optional().describe('Default: all; for a calling task its own.'),
    sessionId: sessionIdSchema().optional(),
    taskId: taskIdSchema.optional(),
    agentId: agentIdSchema().optional(),
    types: z.array(z.enum(observationTypes)).min(1).optional().describe('Default: all.'),
    ...pageShape(),
  }),
)

/** A caller with a task sees those of one branch, its own by default. @throws ErrandError NOT_FOUND, FORBIDDEN */
export function listObservations(
  host: MemoryHost,
  caller: Caller,
  { limit, before = Number.MAX_SAFE_INTEGER, ...query }: z.output<ReturnType<typeof observationQuerySchema>>,
): Promise<Next & { observations: ObservationView[] }> {
  return host.read(function* (tx): Op<Next & { observations: ObservationView[] }> {
    const branch = yield* branchShown(tx, caller, query.branch)
    const found = yield* tx.observation.list(omitUndefined({ ...query, branch }), limit + 1, before)
    const { rows, next } = pageOf(found, limit)
    return { observations: rows.map(observationView), next }
  })
}

export const historyQuerySchema = once(() =>
  z.strictObject({
    type: z.enum(consolidationTypes).optional(),
    taskId: taskIdSchema.optional(),
    agentId: agentIdSchema().optional(),
    sessionId: sessionIdSchema().optional(),
    branch: branchSchema().optional().describe('As source or target. Default for a calling task: its own.'),
    ...pageShape(),
  }),
)

/** Lists runs of consolidation, including merges. @throws ErrandError NOT_FOUND, FORBIDDEN for a branch out of scope */
export function listHistory(
  host: MemoryHost,
  caller: Caller,
  { limit, before = Number.MAX_SAFE_INTEGER, ...query }: z.output<ReturnType<typeof historyQuerySchema>>,
): Promise<Next & { history: HistoryView[] }> {
  return host.read(function* (tx): Op<Next & { history: HistoryView[] }> {
    const branch = yield* branchShown(tx, caller, query.branch)
    const found = yield* tx.consolidation.list(omitUndefined({ ...query, branch }), limit + 1, before)
    const { rows, next } = pageOf(found, limit)
    return { history: rows.map(historyView), next }
  })
}
