// Recall: the facts of a branch and of those above it that bear on a query, best first. The text decides; confidence and age weigh in.
import { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import { toFraction, toHundredths } from '../entities/confidence.ts'
import { wordsOf } from '../entities/fact-tokens.ts'
import type { FactRecord } from '../entities/memory.ts'
import { sourceSchema } from '../entities/source.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { branchMeant } from './branch-scope.ts'
import type { MemoryHost } from './memory-host.ts'
import { fractionSchema, listenAddressShape } from './request-fields.ts'

export const retrieveSchema = z.strictObject({
  query: z.string().max(100_000).describe('What it is about, in words.'),
  limit: z.int().min(0).max(100).default(5),
  ...listenAddressShape('Where to look: there and on the branches above.'),
  minConfidence: fractionSchema.optional().describe('Only facts at least so sure, 0 to 1.'),
})
type RetrieveRequest = z.output<typeof retrieveSchema>

/** In the shape that the agent's loop reads, with `text` for who reads nodes (conformance C-29). */
export const chunkSchema = z.object({
  id: z.string(),
  content: z.string(),
  text: z.string(),
  category: z.string(),
  confidence: z.number(),
  statedBy: z.array(sourceSchema),
  branch: z.string(),
  /** 0 to 1; 1 is a certain fact of today that fits best. */
  score: z.number(),
})
type Chunk = z.output<typeof chunkSchema>

/** So many of the best texts are weighed. */
const minWeighed = 50
const weighedPerChunk = 4
const halfLifeMs = 30 * 24 * 60 * 60 * 1_000
const oldestWeight = 0.5

/** @throws ErrandError NOT_FOUND for branch or task, FORBIDDEN */
export async function retrieve(host: MemoryHost, caller: Caller, request: RetrieveRequest): Promise<Chunk[]> {
  const words = wordsOf(request.query)
  const { at } = await host.stepContext()
  return host.read(function* (tx): Op<Chunk[]> {
    const { name } = yield* branchMeant(tx, caller, request, 'read')
    if (words.length === 0 || request.limit === 0) return []
    const branches = (yield* tx.branch.lineage(name)).map((branch) => branch.name)
    const least = toHundredths(request.minConfidence ?? 0)
    let shown: Weighed[] = []
    for (let most = Math.max(minWeighed, request.limit * weighedPerChunk); ; most *= 8) {
      const found = yield* tx.fact.search(branches, words, most)
      const best = Math.max(...found.map(({ rank }) => rank))
      const weighed = found
        .filter(({ fact }) => fact.confidence >= least)
        .map(({ fact, rank }) => ({ fact, score: weightOf(fact, best > 0 ? rank / best : 1, at) }))
        .sort((a, b) => b.score - a.score || b.fact.seq - a.fact.seq)
      shown = yield* eachOnce(tx, weighed, request.limit)
      // Further down there are others only where there is more to be found than was looked at.
      if (shown.length === request.limit || found.length < most) break
    }
    return shown.map(({ fact, score }) => chunkOf(fact, score))
  })
}

/** The half of the weight that age takes is halved every thirty days. */
function weightOf({ confidence, updatedAt }: FactRecord, text: number, at: number): number {
  const recency = oldestWeight + (1 - oldestWeight) * 0.5 ** (Math.max(0, at - updatedAt) / halfLifeMs)
  return text * (0.5 + toFraction(confidence) / 2) * recency
}

interface Weighed {
  fact: FactRecord
  score: number
}

/** A fact and what holds it on the branches above are one: the better of them is shown. */
function* eachOnce(tx: Reads, weighed: readonly Weighed[], limit: number): Op<Weighed[]> {
  const met = new Set<string>()
  const shown: Weighed[] = []
  for (const each of weighed) {
    if (shown.length === limit) break
    const top = yield* topOf(tx, each.fact)
    if (met.has(top)) continue
    met.add(top)
    shown.push(each)
  }
  return shown
}

/** Merges lead upward only, so the way has an end. */
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
