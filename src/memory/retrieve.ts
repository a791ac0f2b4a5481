// Recall: the facts of a branch and those above it that match a query, best first. Ranked by text, weighted by confidence and age.
import { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import { once } from '../core/once.ts'
import { toFraction, toHundredths } from '../entities/confidence.ts'
import { wordsOf } from '../entities/fact-tokens.ts'
import type { FactRecord } from '../entities/memory.ts'
import { sourceSchema } from '../entities/source.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { resolveBranch } from './branch-scope.ts'
import type { MemoryHost } from './memory-host.ts'
import { branchTargetShape, fractionSchema } from './request-fields.ts'

export const retrieveSchema = once(() =>
  z.strictObject({
    query: z.string().max(100_000).describe('What the facts should be about, in words.'),
    limit: z.int().min(0).max(100).default(5),
    ...branchTargetShape('The branch to search, with those above it.'),
    minConfidence: fractionSchema().optional().describe('Minimum confidence, 0 to 1.'),
  }),
)
type RetrieveRequest = z.output<ReturnType<typeof retrieveSchema>>

/** The shape that the agent loop reads, with `text` for readers of nodes. */
export const chunkSchema = once(() =>
  z.object({
    id: z.string(),
    content: z.string(),
    text: z.string(),
    category: z.string(),
    confidence: z.number(),
    statedBy: z.array(sourceSchema()),
    branch: z.string(),
    /** 0 to 1; 1 is a certain fact of today that matches best. */
    score: z.number(),
  }),
)
type Chunk = z.output<ReturnType<typeof chunkSchema>>

/** How many of the best texts are weighted. */
const minWeighed = 50
const weighedPerChunk = 4
const halfLifeMs = 30 * 24 * 60 * 60 * 1_000
const oldestWeight = 0.5

/** @throws ErrandError NOT_FOUND for branch or task, FORBIDDEN */
export async function retrieve(host: MemoryHost, caller: Caller, request: RetrieveRequest): Promise<Chunk[]> {
  const words = wordsOf(request.query)
  const { at } = await host.stepContext()
  return host.read(function* (tx): Op<Chunk[]> {
    const { name } = yield* resolveBranch(tx, caller, request, 'read')
    if (words.length === 0 || request.limit === 0) return []
    const branches = (yield* tx.branch.lineage(name)).map((branch) => branch.name)
    const minConfidence = toHundredths(request.minConfidence ?? 0)
    let shown: Weighed[] = []
    for (let count = Math.max(minWeighed, request.limit * weighedPerChunk); ; count *= 8) {
      const found = yield* tx.fact.search(branches, words, count)
      const best = found.reduce((highest, { rank }) => Math.max(highest, rank), -Infinity)
      const weighed = found
        .filter(({ fact }) => fact.confidence >= minConfidence)
        .map(({ fact, rank }) => ({ fact, score: weightOf(fact, best > 0 ? rank / best : 1, at) }))
        .sort((a, b) => b.score - a.score || b.fact.seq - a.fact.seq)
      shown = yield* deduplicate(tx, weighed, request.limit)
      // Search deeper only if the search returned all that it was allowed to.
      if (shown.length === request.limit || found.length < count) break
    }
    return shown.map(({ fact, score }) => chunkOf(fact, score))
  })
}

/** Half of the weight decays with age, with a half-life of thirty days. */
function weightOf({ confidence, updatedAt }: FactRecord, text: number, at: number): number {
  const recency = oldestWeight + (1 - oldestWeight) * 0.5 ** (Math.max(0, at - updatedAt) / halfLifeMs)
  return text * (0.5 + toFraction(confidence) / 2) * recency
}

interface Weighed {
  fact: FactRecord
  score: number
}

/** Of a fact and its merged copies on the branches above only the best is shown. */
function* deduplicate(tx: Reads, weighed: readonly Weighed[], limit: number): Op<Weighed[]> {
  const seen = new Set<string>()
  const shown: Weighed[] = []
  for (const each of weighed) {
    if (shown.length === limit) break
    const top = yield* topOf(tx, each.fact)
    if (seen.has(top)) continue
    seen.add(top)
    shown.push(each)
  }
  return shown
}

/** Merges lead upward only, so this ends. */
function* topOf(tx: Reads, fact: FactRecord): Op<string> {
  let top = fact
  while (top.mergedTo !== null) {
    const above = yield* tx.fact.get(top.mergedTo)
    if (above === undefined) break
    top = above
  }
  return top.id
}

function chunkOf({ id, text, category, confidence, statedBy, branch }: FactRecord, score: number): Chunk {
  return { id, content: text, text, category, confidence: toFraction(confidence), statedBy, branch, score }
}
