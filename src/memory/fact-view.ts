// Memory as people and models see it: confidences in fractions, no columns of the store, absent keys where there is nothing to say.
import { toFraction } from '../entities/confidence.ts'
import type {
  BranchRecord,
  ConsolidationRecord,
  DecisionRecord,
  FactRecord,
  FactVerdict,
  ObservationRecord,
} from '../entities/memory.ts'

export interface FactView {
  id: string
  text: string
  category: string
  /** 0 to 1. */
  confidence: number
  branch: string
  taskId?: string
  agentId?: string
  sessionId?: string
  status: FactRecord['status']
  /** The fact that says it now; exactly while it is superseded. */
  successorId?: string
  /** It contradicts another one, and both were kept. */
  disputed?: true
  /** What the latest checkpoint of its task said of it. */
  verdict?: FactVerdict
  observationId?: string
  /** The fact below that it was carried over from. */
  originId?: string
  /** The fact above that holds it since a merge. */
  mergedTo?: string
  createdAt: number
  updatedAt: number
}

/** Only the keys that have something to say. */
function present<T extends Record<string, unknown>>(given: T): { [K in keyof T]?: Exclude<T[K], null> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as never
}

export function factView(fact: FactRecord): FactView {
  const { id, text, category, confidence, branch, status, createdAt, updatedAt } = fact
  const { taskId, agentId, sessionId, successorId, verdict, observationId, originId, mergedTo } = fact
  return {
    id,
    text,
    category,
    confidence: toFraction(confidence),
    branch,
    status,
    ...present({ taskId, agentId, sessionId, successorId, verdict, observationId, originId, mergedTo }),
    ...(fact.disputed ? { disputed: true as const } : {}),
    createdAt,
    updatedAt,
  }
}

export interface ObservationView {
  id: string
  sessionId: string
  branch: string
  type: ObservationRecord['type']
  content: string
  outcome?: string
  taskId?: string
  agentId?: string
  createdAt: number
  /** The run that has taken it up. */
  consolidatedBy?: string
}

export function observationView(observation: ObservationRecord): ObservationView {
  const { id, sessionId, branch, type, content, outcome, taskId, agentId, createdAt, consolidatedBy } = observation
  return { id, sessionId, branch, type, content, createdAt, ...present({ outcome, taskId, agentId, consolidatedBy }) }
}

export interface BranchView {
  name: string
  parent?: string
  description: string
  status: BranchRecord['status']
  taskId?: string
  agentId?: string
  createdAt: number
  updatedAt: number
}

export function branchView({ seq: _seq, parent, taskId, agentId, ...branch }: BranchRecord): BranchView {
  return { ...branch, ...present({ parent, taskId, agentId }) }
}

export interface HistoryView {
  id: string
  type: ConsolidationRecord['type']
  sourceBranch: string
  targetBranch: string
  sessionId?: string
  agentId?: string
  taskId?: string
  trigger: string
  observationsProcessed: number
  factsCreated: number
  factsUpdated: number
  factsDeduplicated: number
  durable?: number
  ephemeral?: number
  merged?: number
  rejected?: number
  summary?: string
  at: number
}

export function historyView(run: ConsolidationRecord): HistoryView {
  const { seq: _seq, sessionId, agentId, taskId, durable, ephemeral, merged, rejected, summary, ...always } = run
  return { ...always, ...present({ sessionId, agentId, taskId, durable, ephemeral, merged, rejected, summary }) }
}

export interface DecisionView {
  kind: DecisionRecord['kind']
  otherId?: string
  observationId?: string
  /** How alike the two were, 0 to 1. */
  similarity?: number
  /** Confidence, 0 to 1. */
  before?: number
  after?: number
  note?: string
  /** The run that decided. */
  historyId: string
  type: ConsolidationRecord['type']
  trigger: string
  at: number
}

/** A decision about another fact, seen from the one that it names. */
export type MentionView = Omit<DecisionView, 'otherId'> & {
  /** The fact that was decided about. */
  factId: string
}

export function mentionView(decision: DecisionRecord, run: ConsolidationRecord): MentionView {
  const { otherId: _itself, ...view } = decisionView(decision, run)
  return { factId: decision.factId, ...view }
}

export function decisionView(decision: DecisionRecord, run: ConsolidationRecord): DecisionView {
  const { kind, otherId, observationId, similarity, before, after, note } = decision
  return {
    kind,
    ...present({ otherId, observationId, similarity, note }),
    ...(before === null ? {} : { before: toFraction(before) }),
    ...(after === null ? {} : { after: toFraction(after) }),
    historyId: run.id,
    type: run.type,
    trigger: run.trigger,
    at: run.at,
  }
}
