// Reads the outcome of closing a team back from the history, so that completing the task again returns the same.
import type { DecisionRecord, FactRecord } from '../../entities/memory.ts'
import type { TeamRecord } from '../../entities/team.ts'
import { everyRow } from '../../ledger/all-rows.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { groundIn } from '../compare.ts'
import type { Conflict, Merge } from '../merge.ts'

export interface FirstOutcome {
  merge: Merge | null
  durable: string[]
  ephemeral: number
}

export function* firstOutcome(tx: Reads, team: TeamRecord): Op<FirstOutcome> {
  const checkpoint = team.checkpointId === null ? undefined : yield* tx.consolidation.get(team.checkpointId)
  return {
    merge: team.mergeId === null ? null : yield* mergeOf(tx, team.mergeId),
    durable: yield* durableFacts(tx, team),
    ephemeral: checkpoint?.ephemeral ?? 0,
  }
}

const pageSize = 1_000

function* mergeOf(tx: Reads, mergeId: string): Op<Merge> {
  const run = yield* tx.consolidation.get(mergeId)
  const conflicts: Conflict[] = []
  /** Facts of the source branch, by their copies. */
  const sources = new Map<string, string>()
  for (const decision of yield* everyRow((after, limit) => tx.consolidation.decisions(mergeId, limit, after))) {
    if (decision.kind === 'carried') sources.set(decision.factId, decision.otherId as string)
    const conflict = conflictOf(decision, sources)
    if (conflict !== undefined) conflicts.push(conflict)
  }
  return { merged: run?.merged ?? 0, rejected: run?.rejected ?? 0, conflicts, mergeId }
}

/** Which fact of a conflict was the merged one follows from the facts that this merge had carried before. */
function conflictOf(
  { kind, factId, otherId, note }: DecisionRecord,
  sources: ReadonlyMap<string, string>,
): Conflict | undefined {
  if ((kind !== 'contradicted' && kind !== 'settled') || otherId === null) return undefined
  const ground = groundIn(note)
  const source = sources.get(factId)
  if (source === undefined) {
    return { factId: sources.get(otherId) ?? otherId, otherId: factId, ground, resolution: 'source' }
  }
  return { factId: source, otherId, ground, resolution: kind === 'contradicted' ? 'keep-both' : 'target' }
}

/** The facts that existed and were active when the team was closed, oldest first. */
function* durableFacts(tx: Reads, { branch, closedAt }: TeamRecord): Op<string[]> {
  const closed = closedAt ?? 0
  const held = ({ status, createdAt, updatedAt }: FactRecord): boolean =>
    createdAt <= closed && (status === 'active' || updatedAt > closed)
  const ids: string[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = yield* tx.fact.list({ branches: [branch], verdict: 'durable' }, pageSize, before)
    ids.push(...page.filter(held).map(({ id }) => id))
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return ids.toReversed()
    before = last.seq
  }
}
