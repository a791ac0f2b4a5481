// Invariants of memory after any operations: nothing is lost, every count was earned, and no confidence exceeds its observations.
// Violations are returned in words; an empty list means that all hold.
import { disagree, readingOf, saysLess, subjectOf } from '../../src/entities/disagreement.ts'
import { likeness, wordsOf } from '../../src/entities/fact-tokens.ts'
import type { DecisionRecord, FactRecord } from '../../src/entities/memory.ts'
import type { Tables } from './world.ts'

export function complaints(tables: Tables, threshold: number): string[] {
  return [
    ...confidences(tables),
    ...successors(tables),
    ...lostObservations(tables, threshold),
    ...lostInMerges(tables, threshold),
    ...lostInGroups(tables, threshold),
    ...survivors(tables),
    ...accounts(tables),
    ...counters(tables),
  ]
}

const saysTheSame = (a: string, b: string, threshold: number): boolean =>
  a === b || likeness(wordsOf(a), wordsOf(b)) > threshold

const contradict = (a: string, b: string, threshold: number): boolean =>
  (subjectOf(a) === subjectOf(b) || saysTheSame(a, b, threshold)) && disagree(a, b) !== null

function confidences({ facts }: Tables): string[] {
  return facts
    .filter(({ confidence }) => !Number.isInteger(confidence) || confidence < 0 || confidence > 100)
    .map(({ id, confidence }) => `${id} has the confidence ${confidence}`)
}

/** The current successor of a fact; undefined for a chain without an end. */
function endOf(facts: ReadonlyMap<string, FactRecord>, id: string | null): FactRecord | undefined {
  let fact = id === null ? undefined : facts.get(id)
  for (let steps = 0; fact !== undefined && fact.status === 'superseded' && steps <= facts.size; steps++) {
    fact = fact.successorId === null ? undefined : facts.get(fact.successorId)
  }
  return fact?.status === 'active' ? fact : undefined
}

const byId = ({ facts }: Tables) => new Map(facts.map((fact) => [fact.id, fact]))

/** A superseded fact is superseded in the table as well, by the fact of the decision, on the same branch. */
function successors(tables: Tables): string[] {
  const facts = byId(tables)
  const broken = tables.facts
    .filter((fact) => fact.status === 'superseded' && endOf(facts, fact.id)?.branch !== fact.branch)
    .map(({ id }) => `${id} is superseded, and by nothing that holds on its branch`)
  const undone = tables.decisions
    .filter(({ kind }) => kind === 'superseded' || kind === 'settled')
    .filter(({ factId, otherId }) => facts.get(factId)?.successorId !== otherId)
    .map(({ factId }) => `${factId} was decided to give way and did not`)
  return [...broken, ...undone]
}

/** Every consumed observation is covered by a fact. */
function lostObservations(tables: Tables, threshold: number): string[] {
  const facts = byId(tables)
  const saidBy = new Map<string, DecisionRecord>()
  for (const decision of tables.decisions) {
    if (decision.observationId !== null) saidBy.set(decision.observationId, decision)
  }
  return tables.observations
    .filter(({ consolidatedBy }) => consolidatedBy !== null)
    .flatMap(({ id, content, branch }) => {
      const fact = facts.get(saidBy.get(id)?.factId ?? '')
      if (fact === undefined) return [`${id} (${content}) became nothing`]
      if (!saysTheSame(fact.text, content, threshold)) return [`${id} (${content}) was lost in “${fact.text}”`]
      if (contradict(fact.text, content, threshold)) return [`${id} (${content}) was taken for “${fact.text}”`]
      return endOf(facts, fact.id)?.branch === branch ? [] : [`${id} (${content}) is said by nothing any more`]
    })
}

/** A merged fact is covered by the fact above. */
function lostInMerges(tables: Tables, threshold: number): string[] {
  const facts = byId(tables)
  const mergedInto = Map.groupBy(tables.facts, ({ mergedTo }) => mergedTo)
  return tables.facts
    .filter(({ mergedTo }) => mergedTo !== null)
    .flatMap(({ id, text, mergedTo }) => {
      const holder = facts.get(mergedTo as string)
      if (holder === undefined) return [`${id} was carried to nothing`]
      if (!isCovered(text, holder, mergedInto.get(mergedTo) ?? [], threshold))
        return [`${id} (${text}) was lost in “${holder.text}”`]
      if (contradict(holder.text, text, threshold)) return [`${id} (${text}) was taken for “${holder.text}”`]
      return endOf(facts, holder.id) === undefined ? [`${id} (${text}) is held by nothing any more`] : []
    })
}

/** A superseded fact is covered by its survivor. */
function lostInGroups(tables: Tables, threshold: number): string[] {
  const facts = byId(tables)
  const groups = Map.groupBy(
    tables.decisions.filter(({ kind }) => kind === 'superseded'),
    ({ consolidationId, otherId }) => `${consolidationId} ${otherId}`,
  )
  return [...groups.values()].flatMap((group) => {
    const survivor = facts.get(group[0]?.otherId ?? '') as FactRecord
    const losers = group.map(({ factId }) => facts.get(factId) as FactRecord)
    return losers
      .filter(({ text }) => !isCovered(text, survivor, losers, threshold))
      .map(({ id, text }) => `${id} (${text}) was lost in “${survivor.text}”`)
  })
}

/** Alike to the holder, or to something that went into the same one, and so on: groups are chains. */
function isCovered(text: string, holder: FactRecord, taken: readonly FactRecord[], threshold: number): boolean {
  const others = new Set(taken.map((fact) => fact.text))
  const open = [holder.text]
  for (let said = open.pop(); said !== undefined; said = open.pop()) {
    const known = said
    if (saysTheSame(known, text, threshold)) return true
    for (const other of others) if (saysTheSame(known, other, threshold) && others.delete(other)) open.push(other)
  }
  return false
}

/** The survivor of a group has the highest confidence, then says more, then is newest; it never says less. */
function survivors(tables: Tables): string[] {
  const facts = byId(tables)
  return tables.decisions
    .filter(({ kind }) => kind === 'superseded')
    .flatMap(({ factId, otherId }) => {
      const [loser, survivor] = [facts.get(factId), facts.get(otherId ?? '')]
      if (loser === undefined || survivor === undefined) return [`${factId} gave way to nothing`]
      const [kept, superseded] = [readingOf(survivor.text), readingOf(loser.text)]
      if (saysLess(kept, superseded)) return [`${factId} gave way to ${survivor.id}, which says less`]
      // Among equals the newest survives, unless another one says more.
      const isOutdone = tables.facts.some(
        (each) => each.branch === loser.branch && saysLess(superseded, readingOf(each.text)),
      )
      const better =
        survivor.confidence - loser.confidence ||
        Number(isOutdone) ||
        survivor.createdAt - loser.createdAt ||
        survivor.seq - loser.seq
      return better > 0 ? [] : [`${factId} gave way to ${survivor.id}, which is no better`]
    })
}

/** Each confidence is the result of the history, step by step. */
function accounts(tables: Tables): string[] {
  return tables.facts.flatMap((fact) => {
    const own = tables.decisions.filter(({ factId }) => factId === fact.id)
    let known = own.find(({ kind }) => kind === 'created' || kind === 'carried')?.after
    for (const { kind, before, after } of own) {
      if (kind !== 'boosted') continue
      if (known !== undefined && before !== known)
        return [`${fact.id} was boosted from ${before}, though it was at ${known}`]
      if ((after as number) <= (before as number)) return [`${fact.id} was boosted from ${before} to ${after}`]
      known = after
    }
    return known === undefined || known === fact.confidence
      ? []
      : [`${fact.id} is at ${fact.confidence}, and by the history at ${known}`]
  })
}

/** The counts of a run match its decisions. */
function counters(tables: Tables): string[] {
  return tables.runs.flatMap((run) => {
    const own = tables.decisions.filter(({ consolidationId }) => consolidationId === run['id'])
    const count = (...kinds: string[]) => own.filter(({ kind }) => kinds.includes(kind)).length
    const rejected = (run['rejected'] as number | null) ?? 0
    const taken = tables.observations.filter(({ consolidatedBy }) => consolidatedBy === run['id']).length
    const seen = {
      factsCreated: count('created', 'carried') - rejected,
      factsUpdated: count('boosted', 'judged'),
      factsDeduplicated: count('confirmed', 'superseded'),
      observationsProcessed: taken,
    }
    return Object.entries(seen)
      .filter(([name, number]) => run[name] !== number)
      .map(([name, number]) => `${run['type']} ${run['id']} says ${name}: ${run[name]}, and it was ${number}`)
  })
}
