// The part of the port for memory: branches, observations, facts, decisions about them, and teams.
import type {
  BranchRecord,
  BranchStatus,
  ConsolidationRecord,
  ConsolidationType,
  DecisionRecord,
  FactRecord,
  FactStatus,
  FactVerdict,
  ObservationRecord,
  ObservationType,
} from '../entities/memory.ts'
import type { TaskRecord, TaskStatus } from '../entities/task.ts'
import type { ObjectiveRecord, StintRecord, TeamRecord } from '../entities/team.ts'
import type { Op } from './op.ts'

/** Which branches to find. */
export interface BranchFilter {
  status?: BranchStatus
  parent?: string
  taskId?: string
}

/** Which observations to find. */
export interface ObservationFilter {
  branch?: string
  sessionId?: string
  taskId?: string
  agentId?: string
  types?: readonly ObservationType[]
}

/** Which facts to find. */
export interface FactFilter {
  branches: readonly string[]
  status?: FactStatus
  category?: string
  taskId?: string
  agentId?: string
  sessionId?: string
  /** Only facts with this verdict of a checkpoint. */
  verdict?: FactVerdict
  disputed?: boolean
}

/** Which runs of consolidation to find. */
export interface ConsolidationFilter {
  type?: ConsolidationType
  taskId?: string
  agentId?: string
  sessionId?: string
  /** Source or target. */
  branch?: string
}

/** Which team tasks to find. */
export interface TeamFilter {
  type?: string | undefined
  statuses?: readonly TaskStatus[] | undefined
}

/** The number of tasks of a type, by their outcomes. */
export interface TypeCount {
  type: string | null
  total: number
  completed: number
  failed: number
  canceled: number
  /** The sum of milliseconds from creation to completion, of the completed ones. */
  completedMs: number
}

export interface MemoryReads {
  readonly branch: {
    get(name: string): Op<BranchRecord | undefined>
    /** The same, for a step that creates a branch of this name if there is none: no other step does until it is committed. */
    toCreate(name: string): Op<BranchRecord | undefined>
    /** The branch of a task itself, which is older than those of its agents. */
    ofTask(taskId: string): Op<BranchRecord | undefined>
    /** The branches of a task and of its agents, by age: at most `limit` after the `seq`. */
    allOfTask(taskId: string, limit: number, after: number): Op<BranchRecord[]>
    /** The branch and all above it, itself first, `main` last; empty for an unknown one. */
    lineage(name: string): Op<BranchRecord[]>
    /** By age: at most `limit` after the `seq`. */
    list(filter: BranchFilter, limit: number, after: number): Op<BranchRecord[]>
  }
  readonly observation: {
    get(id: string): Op<ObservationRecord | undefined>
    /** Memorable observations of a branch that no run has consumed, oldest first; of one session, or of all. */
    pending(branch: string, sessionId: string | null, limit: number): Op<ObservationRecord[]>
    /** The sessions with such observations, in the order of their first one, each once. */
    pendingSessions(branch: string): Op<string[]>
    /** The branches on which a session has such observations. */
    pendingBranches(sessionId: string): Op<string[]>
    countPending(branch: string, sessionId: string): Op<number>
    /** The latest first: at most `limit` before the `seq`. */
    list(filter: ObservationFilter, limit: number, before: number): Op<ObservationRecord[]>
  }
  readonly fact: {
    get(id: string): Op<FactRecord | undefined>
    /** At most `limit` facts whose id begins with `prefix`, by id. */
    findByPrefix(prefix: string, limit: number): Op<FactRecord[]>
    /** The latest first: at most `limit` before the `seq`. */
    list(filter: FactFilter, limit: number, before: number): Op<FactRecord[]>
    /** Active facts of a branch by age, summaries excluded: at most `limit` after the `seq`. */
    active(branch: string, after: number, limit: number): Op<FactRecord[]>
    /** How many such facts each of these branches has, 0 for an unknown one. Takes time in proportion to them: 6 ms for 100,000. */
    countActive(branches: readonly string[]): Op<Map<string, number>>
    /**
     * Active facts of a branch, summaries excluded, that may be alike beyond a threshold to a text of these distinct words; contains all
     * that are alike. Found through an index of words, the rarest first, never by reading all facts.
     */
    candidates(branch: string, words: readonly string[], threshold: number): Op<FactRecord[]>
    /**
     * Active facts of a branch, summaries excluded, about the same subject (see `subjectOf`), oldest first; the latest hundred of more.
     * None for ''.
     */
    sameSubject(branch: string, subject: string): Op<FactRecord[]>
    /** Active facts of a branch, summaries excluded, that have not been compared under this measure, by age. */
    uncompared(branch: string, measure: string, limit: number): Op<FactRecord[]>
    /**
     * Active facts of a branch, summaries excluded, that no merge has carried, or whose confidence has changed since one did; by age,
     * at most `limit` after the `seq`.
     */
    unmerged(branch: string, after: number, limit: number): Op<FactRecord[]>
    /** The summary of an agent on a branch. */
    summaryOf(branch: string, agentId: string): Op<FactRecord | undefined>
    /**
     * Active facts of these branches, summaries excluded, in which any of the words is found (by its stem), best first. Text rank: higher
     * is better, without a fixed scale; rare words count for more. Of words that thousands of facts have, the latest are found.
     */
    search(
      branches: readonly string[],
      words: readonly string[],
      limit: number,
    ): Op<Array<{ fact: FactRecord; rank: number }>>
    /** Vectors of active facts of a branch, as they were kept under this model; base64 of 32-bit floats. */
    vectors(branch: string, model: string): Op<Array<{ factId: string; vector: string }>>
  }
  readonly consolidation: {
    get(id: string): Op<ConsolidationRecord | undefined>
    /** The latest first: at most `limit` before the `seq`. */
    list(filter: ConsolidationFilter, limit: number, before: number): Op<ConsolidationRecord[]>
    /** Decisions about a fact: the latest `limit`, latest first. */
    decisionsOn(factId: string, limit: number): Op<DecisionRecord[]>
    /** Decisions about other facts that name this one as the other of the two, latest first: at most `limit`. */
    decisionsNaming(factId: string, limit: number): Op<DecisionRecord[]>
    /** Decisions of a run, in order: at most `limit` after the `seq`. */
    decisions(consolidationId: string, limit: number, after: number): Op<DecisionRecord[]>
  }
  readonly team: {
    get(taskId: string): Op<TeamRecord | undefined>
    ofBranch(branch: string): Op<TeamRecord | undefined>
    /** Teams with their tasks, deleted ones excluded, latest first. */
    list(filter: TeamFilter, limit: number, offset: number): Op<Array<{ team: TeamRecord; task: TaskRecord }>>
    /** Completed tasks whose memory has not been consolidated for good and on which no agent is active, by age. */
    unclosed(limit: number): Op<Array<{ taskId: string; seq: number }>>
    /** By number. */
    objectives(taskId: string): Op<ObjectiveRecord[]>
    /** In the order in which they joined. */
    stints(taskId: string): Op<StintRecord[]>
    /** Those of agents that work on it now, however many have worked on it before. In the order in which they joined. */
    activeStints(taskId: string): Op<StintRecord[]>
    /** The latest stint of an agent on a task. */
    latestStint(taskId: string, agentId: string): Op<StintRecord | undefined>
    /** The active stint of the task that works as an agent. */
    stintOfWorker(workerId: string): Op<StintRecord | undefined>
    /** Active stints whose worker has settled, oldest first. */
    abandoned(limit: number): Op<StintRecord[]>
    /** Stints of an agent on all tasks, deleted ones excluded, latest first. */
    timeline(
      agentId: string,
      limit: number,
      offset: number,
    ): Op<Array<{ stint: StintRecord; task: TaskRecord; team: TeamRecord }>>
    /** By type, those without one last; deleted tasks excluded. */
    countByType(): Op<TypeCount[]>
  }
}

export interface MemoryTx {
  readonly branch: MemoryReads['branch'] & {
    /** The new row's seq. */
    insert(branch: Omit<BranchRecord, 'seq'>): Op<number>
    save(branch: Pick<BranchRecord, 'name' | 'status' | 'description' | 'updatedAt'>): Op<void>
    /** Changes a branch of a task between active and merged. The step has read the task before, else it runs alone on a server. */
    saveStatus(branch: Pick<BranchRecord, 'name' | 'taskId' | 'status' | 'updatedAt'>): Op<void>
  }
  readonly observation: MemoryReads['observation'] & {
    /** False if the id exists; nothing is written then. */
    insert(observation: Omit<ObservationRecord, 'seq'>): Op<boolean>
    /** Marks as consumed; an observation that is already consumed keeps its first run. */
    consume(id: string, consolidationId: string): Op<void>
  }
  readonly fact: MemoryReads['fact'] & {
    /** Inserts an active fact with its indexes; a summary is found by `list` and `summaryOf` only. Returns the seq of the new row. */
    insert(fact: Omit<FactRecord, 'seq'>): Op<number>
    /** Writes all that changes while a fact is active. A fact that is no longer active is removed from the indexes. */
    save(fact: FactRecord): Op<void>
    /** Replaces the vector that was kept under this model, if any. */
    keepVector(factId: string, model: string, vector: string): Op<void>
  }
  readonly consolidation: MemoryReads['consolidation'] & {
    insert(run: Omit<ConsolidationRecord, 'seq'>): Op<number>
    decide(decision: Omit<DecisionRecord, 'seq'>): Op<void>
  }
  readonly team: MemoryReads['team'] & {
    insert(team: TeamRecord): Op<void>
    /** Writes all but its task and its branch. */
    save(team: TeamRecord): Op<void>
    insertObjective(objective: ObjectiveRecord): Op<void>
    saveObjective(objective: ObjectiveRecord): Op<void>
    insertStint(stint: StintRecord): Op<void>
    saveStint(stint: StintRecord): Op<void>
  }
}
