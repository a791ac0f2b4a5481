// Views of memory for people and models: confidences as fractions, no internal columns, no empty keys.
import { toFraction } from '../entities/confidence.ts'
import type {
  BranchRecord,
  ConsolidationRecord,
  DecisionRecord,
  FactRecord,
  ObservationRecord,
} from '../entities/memory.ts'

/** A row in which nullable columns are optional. */
type Present<Row> = { [K in keyof Row as null extends Row[K] ? never : K]: Row[K] } & {
  [K in keyof Row as null extends Row[K] ? K : never]?: Exclude<Row[K], null>
}

/** The keys that are not null, without the row's sequence number. */
function present<Row extends object>(row: Row): Present<Omit<Row, 'seq'>> {
  return Object.fromEntries(Object.entries(row).filter(([key, value]) => key !== 'seq' && value !== null)) as never
}

type ShownOfFact = Omit<FactRecord, 'seq' | 'confidence' | 'disputed' | 'comparedBy' | 'mergedConfidence'>

export interface FactView extends Present<ShownOfFact> {
  /** 0 to 1. */
  confidence: number
  /** It contradicts another fact, and both were kept. */
  disputed?: true
}

export function factView(fact: FactRecord): FactView {
  const { confidence, disputed, comparedBy: _measure, mergedConfidence: _carried, ...shown } = fact
  return {
    ...present(shown),
    confidence: toFraction(confidence),
    ...(disputed ? { disputed: true as const } : {}),
  }
}

export interface ObservationView extends Present<Omit<ObservationRecord, 'seq'>> {}

export function observationView(observation: ObservationRecord): ObservationView {
  return present(observation)
}

export interface BranchView extends Present<Omit<BranchRecord, 'seq'>> {}

export function branchView(branch: BranchRecord): BranchView {
  return present(branch)
}

export interface HistoryView extends Present<Omit<ConsolidationRecord, 'seq'>> {}

export function historyView(run: ConsolidationRecord): HistoryView {
  return present(run)
}

type ShownOfDecision = Omit<DecisionRecord, 'seq' | 'consolidationId' | 'factId' | 'before' | 'after'>

export interface DecisionView extends Present<ShownOfDecision>, Pick<ConsolidationRecord, 'type' | 'trigger' | 'at'> {
  /** Confidence, 0 to 1. */
  before?: number
  after?: number
  /** The run that made the decision. */
  historyId: string
}

export function decisionView(decision: DecisionRecord, { type, trigger, at }: ConsolidationRecord): DecisionView {
  const { consolidationId: historyId, factId: _about, before, after, ...shown } = decision
  return {
    ...present({ ...shown, before: before && toFraction(before), after: after && toFraction(after) }),
    historyId,
    type,
    trigger,
    at,
  }
}

/** A decision about another fact that names this one. */
export interface MentionView extends Omit<DecisionView, 'otherId'> {
  /** The fact that the decision is about. */
  factId: string
}

export function mentionView(decision: DecisionRecord, run: ConsolidationRecord): MentionView {
  const { otherId: _itself, ...view } = decisionView(decision, run)
  return { factId: decision.factId, ...view }
}
