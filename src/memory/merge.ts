// Merges the facts of a branch into a branch above it. Facts that exist there gain confidence, new ones are copied with a reference to
// their origin, and contradictions are settled by policy. No fact is left out, and merged facts
// are not merged again.

import { z } from 'zod'
import { counted } from '../core/counted.ts'
import { ErrandError } from '../core/errors.ts'
import { once } from '../core/once.ts'
import { fullConfidence, merged } from '../entities/confidence.ts'
import { type BranchRecord, type FactRecord, mainBranch } from '../entities/memory.ts'
import type { Source } from '../entities/source.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { requireBranch, requireOpenBranch, setBranchStatus } from './branches.ts'
import { type AlikeFact, alikeTo, compare, comparedWith, settleContradictions } from './compare.ts'
import { ConsolidationRun } from './consolidation-run.ts'
import { confirmFact, insertFact, markFact } from './fact-writes.ts'
import { grounds, type MemoryStep, type Resolution } from './memory-step.ts'
import { together } from './outside-answers.ts'

export interface MergeRequest {
  from: string
  /** A branch above `from`. */
  into: string
  /** `durable`: only facts that a checkpoint found durable. */
  only: 'all' | 'durable'
  taskId: string | null
  agentId: string | null
  trigger: string
}

export const mergeOutcomeSchema = once(() =>
  z.object({
    /** Facts that were created or confirmed on the target. */
    merged: z.int().min(0),
    /** Facts that lost against a contradicting fact. */
    rejected: z.int().min(0),
    conflicts: z.array(
      z.object({
        /** On the source branch. */
        factId: z.string(),
        /** On the target. */
        otherId: z.string(),
        ground: z.enum(grounds),
        /** Which fact holds on the target. */
        resolution: z.enum(['keep-both', 'source', 'target']),
      }),
    ),
    mergeId: z.string(),
  }),
)
export type Merge = z.output<ReturnType<typeof mergeOutcomeSchema>>
/** A contradiction between two facts that was found by a merge. */
export type Conflict = Merge['conflicts'][number]

const pageSize = 1_000

/** @throws ErrandError NOT_FOUND, BRANCH_CLOSED for an archived target, INVALID_INPUT for a target that is not above the source. */
export function* mergeBranch(
  tx: Tx,
  memory: MemoryStep,
  { from, into, only, taskId, agentId, trigger }: MergeRequest,
): Op<Merge> {
  const source = yield* requireBranch(tx, from)
  yield* requireOpenBranch(tx, into)
  yield* requireAbove(tx, source, into)
  const run = new ConsolidationRun(memory, {
    type: 'merge',
    sourceBranch: from,
    targetBranch: into,
    taskId: taskId ?? source.taskId,
    agentId: agentId ?? source.agentId,
    trigger,
  })
  yield* memory.prepare(tx, from)
  const carrier = new Carrier(memory, run, into)
  for (let after = 0; ; ) {
    const facts = yield* tx.fact.unmerged(from, after, pageSize)
    for (const fact of facts) if (only === 'all' || fact.verdict === 'durable') yield* carrier.offer(tx, fact)
    const last = facts.at(-1)
    if (last === undefined || facts.length < pageSize) break
    after = last.seq
  }
  if (only === 'all' && source.status === 'active') yield* setBranchStatus(tx, source, 'merged', memory.ctx)
  const { merged: count, rejected, conflicts } = carrier
  const summary = `${counted(count, 'fact')} of ${from} reached ${into}${rejected === 0 ? '' : `, ${rejected} were rejected`}.`
  const { historyId } = yield* run.close(tx, { merged: count, rejected, summary })
  return { merged: count, rejected, conflicts, mergeId: historyId }
}

function* requireAbove(tx: Tx, source: BranchRecord, into: string): Op<void> {
  const above = (yield* tx.branch.lineage(source.name)).slice(1).map(({ name }) => name)
  if (above.includes(into)) return
  const why =
    source.name === mainBranch
      ? 'nothing is above it'
      : `"${into}" is not above it. Above it are: ${above.map((name) => `"${name}"`).join(', ')}`
  throw new ErrandError('INVALID_INPUT', `Cannot merge "${source.name}" into "${into}": ${why}.`, {
    from: source.name,
    into,
    above,
  })
}

/** A fact to merge; if it stands for several, its confidence may be higher than its own. */
export interface Offer {
  fact: FactRecord
  /** All facts that it stands for, itself included. */
  members: readonly FactRecord[]
  category: string
  confidence: number
  statedBy: Source[]
}

/** Carries facts to one branch and counts the outcomes. */
export class Carrier {
  merged = 0
  rejected = 0
  readonly conflicts: Conflict[] = []
  readonly #memory: MemoryStep
  readonly #run: ConsolidationRun
  readonly #into: string

  constructor(memory: MemoryStep, run: ConsolidationRun, into: string) {
    this.#memory = memory
    this.#run = run
    this.#into = into
  }

  *offer(tx: Tx, fact: FactRecord): Op<void> {
    if (fact.mergedTo !== null) return yield* this.passOn(tx, fact)
    const { category, confidence, statedBy } = fact
    yield* this.carry(tx, { fact, members: [fact], category, confidence, statedBy })
  }

  /** Adds the confidence that a merged fact has gained since. */
  *passOn(tx: Tx, fact: FactRecord): Op<void> {
    const holder = yield* holderOf(tx, fact)
    // The fact was merged into another branch.
    if (holder?.branch !== this.#into) return
    const difference = fact.confidence - (fact.mergedConfidence as number)
    yield* markFact(tx, this.#memory, fact, { mergedConfidence: fact.confidence })
    // It lost against the holder, which gains nothing by it.
    if (difference <= 0 || (yield* this.#memory.contradicts(holder, fact)) !== null) return
    yield* this.#raise(
      tx,
      { fact: holder, likeness: yield* this.#memory.likeness(holder.text, fact.text) },
      fact.id,
      holder.confidence + difference,
      fact.statedBy,
    )
  }

  /** `holder` is the fact on the target; `leftOut` are members that it does not cover. */
  *carry(
    tx: Tx,
    { fact, members, category, confidence, statedBy }: Offer,
  ): Op<{ holder: FactRecord; leftOut: FactRecord[] }> {
    const { alike, lesser, contrary } = yield* compare(tx, this.#memory, this.#into, fact)
    const [best] = alike
    if (best !== undefined) {
      const raised = yield* this.#raise(tx, best, fact.id, merged(best.fact.confidence, confidence), statedBy)
      return { holder: raised, leftOut: yield* this.#mark(tx, fact, members, raised) }
    }
    const copy = yield* insertFact(tx, this.#memory, {
      branch: this.#into,
      text: fact.text,
      category,
      confidence,
      statedBy,
      sessionId: fact.sessionId,
      taskId: fact.taskId,
      agentId: fact.agentId,
      originId: fact.id,
      comparedBy: yield* comparedWith(this.#memory, fact.text, lesser),
    })
    this.#run.decide('carried', copy.id, { otherId: fact.id, after: copy.confidence })
    const leftOut = yield* this.#mark(tx, fact, members, copy)
    const settled = yield* settleContradictions(tx, this.#memory, this.#run, copy, contrary)
    for (const { existing, ground, resolution } of settled.settlements) {
      this.conflicts.push({ factId: fact.id, otherId: existing.id, ground, resolution: sideOf(resolution) })
    }
    if (settled.fact.status === 'active') {
      this.merged++
      this.#run.counts.factsCreated++
    } else this.rejected++
    return { holder: settled.fact, leftOut }
  }

  *#raise(
    tx: Tx,
    { fact: existing, likeness }: AlikeFact,
    otherId: string,
    confidence: number,
    by: readonly Source[],
  ): Op<FactRecord> {
    const before = existing.confidence
    const about = { otherId, similarity: likeness }
    this.merged++
    const raised = yield* confirmFact(tx, this.#memory, existing, Math.min(fullConfidence, confidence), by)
    if (raised.confidence === before) {
      this.#run.decide('confirmed', existing.id, about)
      this.#run.counts.factsDeduplicated++
    } else {
      this.#run.decide('boosted', existing.id, { ...about, before, after: raised.confidence })
      this.#run.counts.factsUpdated++
    }
    return raised
  }

  *#mark(tx: Tx, offered: FactRecord, members: readonly FactRecord[], holder: FactRecord): Op<FactRecord[]> {
    const others = members.filter(({ id }) => id !== offered.id)
    const grounds = yield* together(others, (member) => this.#memory.contradicts(holder, member))
    const covered = others.filter(
      (member, at) => grounds[at] === null && !this.#memory.lacksNumbers(holder.text, member.text),
    )
    // A member that is left out may be the only one that connects another with the offered fact.
    const taken = covered.length === others.length ? covered : yield* alikeTo(this.#memory, offered, covered)
    for (const member of [offered, ...taken]) {
      yield* markFact(tx, this.#memory, member, { mergedTo: holder.id, mergedConfidence: member.confidence })
    }
    const marked = new Set(taken)
    return others.filter((member) => !marked.has(member))
  }
}

/** The current successor of the fact into which a fact was merged. */
function* holderOf(tx: Tx, { mergedTo }: FactRecord): Op<FactRecord | undefined> {
  const passed = new Set<string>()
  for (let id = mergedTo; id !== null && !passed.has(id); ) {
    passed.add(id)
    const fact: FactRecord | undefined = yield* tx.fact.get(id)
    if (fact?.status !== 'superseded') return fact
    id = fact.successorId
  }
  return undefined
}

function sideOf(resolution: Resolution): Conflict['resolution'] {
  if (resolution === 'keep-both') return resolution
  return resolution === 'incoming' ? 'source' : 'target'
}
