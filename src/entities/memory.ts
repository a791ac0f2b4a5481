// Memory: what agents observed, the facts that came of it, the branches that both lie on, and the record of how one became the
// other. Vocabulary and shapes of what is stored; what is done with them lives in `memory/`.
import type { Source } from './source.ts'

/** The branch that every ledger has: what is known for good. */
export const mainBranch = 'main'

/** What an agent may observe, in the words of the document (conformance S2-060). */
export const observationTypes = ['tool_use', 'discovery', 'decision', 'error', 'insight'] as const
export type ObservationType = (typeof observationTypes)[number]

/** The observations that become facts; the others are kept to look at. */
export const memorableTypes = ['insight', 'decision', 'discovery'] as const
export type MemorableType = (typeof memorableTypes)[number]

/** `merged`: what it held has been given to the branch above it. `archived`: nothing is added to it any more. */
export const branchStatuses = ['active', 'merged', 'archived'] as const
export type BranchStatus = (typeof branchStatuses)[number]

/** `superseded`: another fact, its successor, says it now. */
export const factStatuses = ['active', 'superseded'] as const
export type FactStatus = (typeof factStatuses)[number]

/** What a checkpoint may say of a fact: that it outlasts its task, or not. */
export const factVerdicts = ['durable', 'ephemeral'] as const
export type FactVerdict = (typeof factVerdicts)[number]

/** At which level somebody may ask for consolidation: of one session, of an agent, of a task, across tasks. */
export const consolidationLevels = ['session', 'agent', 'task', 'project'] as const
export type ConsolidationLevel = (typeof consolidationLevels)[number]

/** What a run of consolidation was about (conformance S2-096, Q-10), and the merge of one branch into another. */
export const consolidationTypes = [
  'session_end',
  'agent_complete',
  'task_checkpoint',
  'project_checkpoint',
  'merge',
] as const
export type ConsolidationType = (typeof consolidationTypes)[number]

/** How a contradiction between two facts is settled: both stay and are flagged, or one gives way to the other (conformance Q-11). */
export const contradictionPolicies = ['keep-both', 'highest-confidence', 'newest'] as const
export type ContradictionPolicy = (typeof contradictionPolicies)[number]

/** A row of the branch table. Times are epoch milliseconds. */
export interface BranchRecord {
  /** Short name in indexes; rising, never reused. */
  seq: number
  name: string
  /** The branch above it, whose facts it sees; null for `main` alone. */
  parent: string | null
  description: string
  status: BranchStatus
  /** The task, and the agent, that it was made for; null for `main` and for branches that were made by hand. */
  taskId: string | null
  agentId: string | null
  createdAt: number
  updatedAt: number
}

/** A row of the observation table: what somebody saw, as it was said. */
export interface ObservationRecord {
  seq: number
  id: string
  sessionId: string
  branch: string
  type: ObservationType
  content: string
  /** What came of it, in a few words; null when nobody said. */
  outcome: string | null
  taskId: string | null
  agentId: string | null
  /** Who stated it, as the engine knows the caller; `taskId` and `agentId` say what it is about. */
  statedBy: Source
  createdAt: number
  /** The run of consolidation that has taken it up; null before. It is taken up once. */
  consolidatedBy: string | null
}

/** A row of the fact table. */
export interface FactRecord {
  seq: number
  id: string
  branch: string
  text: string
  category: string
  /** Whole hundredths, 0 to 100 (conformance C-68). */
  confidence: number
  /** Who stated it, and who confirmed it since; never empty. */
  statedBy: Source[]
  /** What it is about, as its observation says; null where nothing is said. */
  sessionId: string | null
  taskId: string | null
  agentId: string | null
  /** The observation that it was first made of; null for one that was stated, carried over, or made of others. */
  observationId: string | null
  /** The fact of another branch that it was carried over from. */
  originId: string | null
  status: FactStatus
  /** The fact that says it now; set exactly while it is superseded. */
  successorId: string | null
  /** It contradicts another one, and both were kept. */
  disputed: boolean
  /** What the latest checkpoint of its task said of it; null before the first. */
  verdict: FactVerdict | null
  /** Under which measure of likeness it has been compared with all active facts of its branch; null when it has not. */
  comparedBy: string | null
  /** The fact of the branch above that holds it since a merge, and the confidence that was carried there. */
  mergedTo: string | null
  mergedConfidence: number | null
  createdAt: number
  updatedAt: number
}

/** A row of the consolidation table: one run, also of a merge. Only ever added. */
export interface ConsolidationRecord {
  seq: number
  id: string
  type: ConsolidationType
  sourceBranch: string
  targetBranch: string
  sessionId: string | null
  agentId: string | null
  taskId: string | null
  /** What set it off: `ability`, `agent:complete`, `task:complete`, `session-end`, `every-n`, … */
  trigger: string
  observationsProcessed: number
  factsCreated: number
  factsUpdated: number
  factsDeduplicated: number
  /** Of checkpoints; null elsewhere. */
  durable: number | null
  ephemeral: number | null
  /** Of merges; null elsewhere. Facts that reached the target, and facts that were settled against. */
  merged: number | null
  rejected: number | null
  summary: string | null
  at: number
}

/**
 * What a run decided about one fact.
 *
 * `created`: it was made. `boosted`: seen again, so more certain. `confirmed`: seen again, and certain already. `superseded`: `otherId`
 * says it now. `summarized`: it is the summary of an agent. `carried`: it came from `otherId` on the branch below. `judged`: a checkpoint
 * found it durable or ephemeral. `contradicted`: it and `otherId` cannot both hold, and both stay. `settled`: it gave way to `otherId`.
 */
export const decisionKinds = [
  'created',
  'boosted',
  'confirmed',
  'superseded',
  'summarized',
  'carried',
  'judged',
  'contradicted',
  'settled',
] as const
export type DecisionKind = (typeof decisionKinds)[number]

/** A row of the decision table. Only ever added: with these every fact can say why it is as it is. */
export interface DecisionRecord {
  seq: number
  consolidationId: string
  kind: DecisionKind
  factId: string
  /** The other fact, where there is one: a successor, an origin, a contradiction. */
  otherId: string | null
  /** The observation that said it. */
  observationId: string | null
  /** How alike the two were, 0 to 1; null where nothing was compared. */
  similarity: number | null
  /** Confidence before and after, in hundredths; null where it did not change. */
  before: number | null
  after: number | null
  /** In words: the verdict, the policy, the ground. */
  note: string | null
}
