// Memory: observations of agents, the facts derived from them, their branches, and the record of how facts were derived. Vocabulary and
// stored records; the operations are in `memory/`.
import type { Source } from './source.ts'

/** The branch that every ledger has, for permanent facts. */
export const mainBranch = 'main'

/** Types of observations. */
export const observationTypes = ['tool_use', 'discovery', 'decision', 'error', 'insight'] as const
export type ObservationType = (typeof observationTypes)[number]

/** The types of observations that become facts; the others are only stored. */
export const memorableTypes = ['insight', 'decision', 'discovery'] as const
export type MemorableType = (typeof memorableTypes)[number]

/** `merged`: its facts have been merged into the parent branch. `archived`: it is read-only. */
export const branchStatuses = ['active', 'merged', 'archived'] as const
export type BranchStatus = (typeof branchStatuses)[number]

/** `superseded`: replaced by another fact, its successor. */
export const factStatuses = ['active', 'superseded'] as const
export type FactStatus = (typeof factStatuses)[number]

/** The verdicts of a checkpoint: whether a fact outlasts its task. */
export const factVerdicts = ['durable', 'ephemeral'] as const
export type FactVerdict = (typeof factVerdicts)[number]

/** The levels of consolidation: one session, an agent, a task, across tasks. */
export const consolidationLevels = ['session', 'agent', 'task', 'project'] as const
export type ConsolidationLevel = (typeof consolidationLevels)[number]

/** Types of consolidation runs, and the merge of one branch into another. */
export const consolidationTypes = [
  'session_end',
  'agent_complete',
  'task_checkpoint',
  'project_checkpoint',
  'merge',
] as const
export type ConsolidationType = (typeof consolidationTypes)[number]

/** How a contradiction between two facts is resolved: both stay and are flagged, or one supersedes the other. */
export const contradictionPolicies = ['keep-both', 'highest-confidence', 'newest'] as const
export type ContradictionPolicy = (typeof contradictionPolicies)[number]

/** A row of the branch table. Times are epoch milliseconds. */
export interface BranchRecord {
  /** Short name in indexes; rising, never reused. */
  seq: number
  name: string
  /** The parent branch, whose facts it sees; null only for `main`. */
  parent: string | null
  description: string
  status: BranchStatus
  /** The task and the agent that it was created for; null for `main` and for branches that were created by hand. */
  taskId: string | null
  agentId: string | null
  createdAt: number
  updatedAt: number
}

/** A row of the observation table, with the observation as stated. */
export interface ObservationRecord {
  seq: number
  id: string
  sessionId: string
  branch: string
  type: ObservationType
  content: string
  /** Its outcome in a few words; null when not given. */
  outcome: string | null
  taskId: string | null
  agentId: string | null
  /** The source, set from the caller; `taskId` and `agentId` are what the observation is about. */
  statedBy: Source
  createdAt: number
  /** The run that consolidated it; null before. It is consolidated once. */
  consolidatedBy: string | null
}

/** A row of the fact table. */
export interface FactRecord {
  seq: number
  id: string
  branch: string
  text: string
  category: string
  /** Whole hundredths, 0 to 100. */
  confidence: number
  /** The sources that stated and confirmed it; never empty. */
  statedBy: Source[]
  /** Taken from its observation; null when not given. */
  sessionId: string | null
  taskId: string | null
  agentId: string | null
  /** The observation that it was first derived from; null for a fact that was stated, carried over, or derived from others. */
  observationId: string | null
  /** The fact of another branch from which it was carried over. */
  originId: string | null
  status: FactStatus
  /** The fact that replaced it; set exactly while it is superseded. */
  successorId: string | null
  /** It contradicts another fact, and both were kept. */
  disputed: boolean
  /** The verdict of the latest checkpoint of its task; null before the first. */
  verdict: FactVerdict | null
  /** The similarity measure with which it has been compared with all active facts of its branch; null when it has not. */
  comparedBy: string | null
  /** The fact of the parent branch into which it was merged, and the confidence that was carried there. */
  mergedTo: string | null
  mergedConfidence: number | null
  createdAt: number
  updatedAt: number
}

/** A row of the consolidation table: one run or merge. Append-only. */
export interface ConsolidationRecord {
  seq: number
  id: string
  type: ConsolidationType
  sourceBranch: string
  targetBranch: string
  sessionId: string | null
  agentId: string | null
  taskId: string | null
  /** What triggered it: `ability`, `agent:complete`, `task:complete`, `session-end`, `every-n`, … */
  trigger: string
  observationsProcessed: number
  factsCreated: number
  factsUpdated: number
  factsDeduplicated: number
  /** Only of checkpoints. */
  durable: number | null
  ephemeral: number | null
  /** Only of merges: facts that reached the target, and facts that lost a contradiction. */
  merged: number | null
  rejected: number | null
  summary: string | null
  at: number
}

/**
 * The decisions of a run about one fact.
 *
 * `created`: it was created. `boosted`: observed again, with higher confidence. `confirmed`: observed again at full confidence.
 * `superseded`: replaced by `otherId`. `summarized`: it is the summary of an agent. `carried`: it came from `otherId` on a child branch.
 * `judged`: a checkpoint found it durable or ephemeral. `contradicted`: it contradicts `otherId`, and both stay. `settled`: it lost a
 * contradiction to `otherId`.
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

/** A row of the decision table. Append-only: these rows explain the state of every fact. */
export interface DecisionRecord {
  seq: number
  consolidationId: string
  kind: DecisionKind
  factId: string
  /** The other fact: a successor, an origin, a contradiction; null for none. */
  otherId: string | null
  /** The observation behind the decision. */
  observationId: string | null
  /** The similarity of the two facts, 0 to 1; null when they were not compared. */
  similarity: number | null
  /** Confidence before and after, in hundredths; null where it did not change. */
  before: number | null
  after: number | null
  /** For people: the verdict, the policy, the reason. */
  note: string | null
}
