// The port: all that the engine knows of storage. Whoever implements it decides where the rows lie; nothing outside `ledger/`
// knows SQL. A step is judged on rows loaded inside its own transaction, and steps that arrive together share one commit.
import type { BoardEntry, BoardFields, BoardRecord, MailRecord, MirroredText } from '../entities/board.ts'
import type { CallKind, CallRecord } from '../entities/call.ts'
import type { DependencyRecord } from '../entities/dependency.ts'
import type { EventType, TaskEvent } from '../entities/event.ts'
import type { InstanceRecord } from '../entities/instance.ts'
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
import type { MessageRecord } from '../entities/message.ts'
import type { RunRecord } from '../entities/run.ts'
import type { TaskRecord, TaskStatus } from '../entities/task.ts'
import type { ObjectiveRecord, StintRecord, TeamRecord } from '../entities/team.ts'

/**
 * Work inside a transaction, written as a generator: SQLite runs it synchronously, PostgreSQL awaits each request, and both
 * run the same text. What is yielded is the ledger's own business; `yield*` the verbs of `Tx`, never anything else.
 */
export type Op<R> = Generator<unknown, R, any>

/** One engine step: load what it concerns, judge it with a pure synchronous function, write what was judged. */
export interface Step<L, D, R> {
  /** For errors and traces. */
  readonly name: string
  load(tx: Reads): Op<L>
  /** Pure: no clock, no randomness, no I/O. Throws an ErrandError to refuse; then nothing of the step is written. */
  judge(loaded: L): D
  write(tx: Tx, decision: D): Op<R>
}

/** A step whose rows are nobody's business but its own: what queues and composes steps. */
export type AnyStep<R = unknown> = Step<any, any, R>

/** A step whose load and judgement are one: nothing to weigh but what `write` is given. */
export function writing<R>(name: string, write: (tx: Tx) => Op<R>): Step<void, void, R> {
  return { name, *load() {}, judge() {}, write }
}

export interface TaskFilter {
  statuses?: TaskStatus[]
  parentId?: string | null
  executor?: string
  metadata?: Record<string, string | number | boolean | null>
  keyPrefix?: string
  owner?: string
  /** All of them. */
  tags?: string[]
  /** Competes for a slot or a claim, or does not. */
  ready?: boolean
  /** Below this task, at any depth. */
  below?: string
  /** Of the WAITING ones only those whose holder was lost or let go of them (true), or only the others (false). */
  letGo?: boolean
  /** Of the failed ones only those with this message. */
  failedWith?: string
  /** Words that must all stand in the name, the goal or the description, or begin the id; in either case of letters. */
  words?: string[]
  ids?: readonly string[]
  /** Created at this time or later, in epoch milliseconds. */
  createdFrom?: number
  /** Created at this time or earlier, in epoch milliseconds. */
  createdTo?: number
}

/** Which task somebody is looking for. */
export interface ClaimFilter {
  /** Who claims: tasks that are meant for somebody else are left out. */
  owner?: string | undefined
  parentId?: string | undefined
  /** Below this task, at any depth. */
  below?: string | undefined
  /** Tasks for this role and for nobody in particular; without it only the latter. */
  role?: string | undefined
  /** All of them. */
  tags?: string[] | undefined
}

/** Which branches somebody is looking for. */
export interface BranchFilter {
  status?: BranchStatus
  parent?: string
  taskId?: string
}

/** Which observations somebody is looking for. */
export interface ObservationFilter {
  branch?: string
  sessionId?: string
  taskId?: string
  agentId?: string
  types?: readonly ObservationType[]
}

/** Which facts somebody is looking for. */
export interface FactFilter {
  branches: readonly string[]
  status?: FactStatus
  category?: string
  taskId?: string
  agentId?: string
  sessionId?: string
  /** Only what a checkpoint has found so. */
  verdict?: FactVerdict
  disputed?: boolean
}

/** Which runs of consolidation somebody is looking for. */
export interface ConsolidationFilter {
  type?: ConsolidationType
  taskId?: string
  agentId?: string
  sessionId?: string
  /** Source or target. */
  branch?: string
}

/** Which team tasks somebody is looking for. */
export interface TeamFilter {
  type?: string
  statuses?: readonly TaskStatus[]
}

/** How many tasks of a type there were, and what they came to. */
export interface TypeCount {
  type: string | null
  total: number
  completed: number
  failed: number
  canceled: number
  /** The sum of milliseconds from creation to completion, of the completed ones. */
  completedMs: number
}

/** A task, and what an event told of it once. */
export interface ToldTask {
  task: TaskRecord
  event: TaskEvent
}

/** What a set statement canceled or hid: the positions of its events, which are the list of it. */
export interface Cascade {
  type: EventType
  first: number
  last: number
}

export interface Reads {
  readonly task: {
    get(id: string): Op<TaskRecord | undefined>
    getBySeq(seq: number): Op<TaskRecord | undefined>
    getByKey(key: string): Op<TaskRecord | undefined>
    /** At most `limit` tasks whose id begins with `prefix`. */
    findByPrefix(prefix: string, limit: number): Op<TaskRecord[]>
    /** Ready tasks of one executor in one lane ('' for no lane), highest priority first, then oldest. */
    ready(executor: string, lane: string, limit: number): Op<TaskRecord[]>
    /** Lanes in which an executor has ready tasks, the first `most` (or all); that with the best of them first, by priority, then age. */
    lanes(executor: string, most?: number): Op<string[]>
    /** Open runs in a lane. */
    openInLane(lane: string): Op<number>
    /** The best task that may be claimed: highest priority, then oldest. */
    claimable(claim: ClaimFilter): Op<TaskRecord | undefined>
    /** Tasks whose lease is over at `now`. */
    lapsed(now: number, limit: number): Op<TaskRecord[]>
    /** Tasks that are not settled and whose deadline is over at `now`. */
    late(now: number, limit: number): Op<TaskRecord[]>
    /** Of the tasks that are not deleted. Reads all of them: for a read model that begins, not for a step. */
    countByStatus(): Op<Record<TaskStatus, number>>
    countQueued(): Op<{ ready: number; claimable: number }>
    /** Is any task of these executors ready or on a timer, or has an open run? */
    anyAwake(executors: string[]): Op<boolean>
    list(filter: TaskFilter, limit: number, after?: { priority: number; seq: number }): Op<TaskRecord[]>
    /** The same tasks by age, the latest first. */
    newest(filter: TaskFilter, limit: number, offset: number): Op<TaskRecord[]>
    /** The same by age, the oldest first, from a `seq` on. */
    oldest(filter: TaskFilter, limit: number, afterSeq: number): Op<TaskRecord[]>
    /** Tasks as an event at or before a position last told of them, deleted ones since included; the oldest first. */
    asOf(position: number, limit: number, afterSeq: number, ids?: readonly string[]): Op<ToldTask[]>
    count(filter: TaskFilter): Op<number>
    children(parentId: string): Op<TaskRecord[]>
    /** All descendants, below settled ones too; root excluded. */
    subtree(rootId: string): Op<TaskRecord[]>
    /** From the task's parent up to the root. */
    ancestors(id: string): Op<TaskRecord[]>
    /** Of the children that are not deleted: is one not settled; has one failed or been canceled; is there any? */
    childFacts(parentId: string): Op<{ any: boolean; live: boolean; broken: boolean }>
    /** Tasks whose timer is due at `now`, soonest first. */
    due(now: number, limit: number): Op<TaskRecord[]>
    /** The soonest timer, lease or deadline. */
    nextDue(): Op<number | undefined>
  }
  readonly dependency: {
    /** Ids of what a task is blocked by, in the order in which they were named. */
    openBlockers(taskId: string): Op<string[]>
    /** All that it was told to come after, satisfied or not, in order. */
    blockers(taskId: string): Op<string[]>
    /** Open edges that point at a blocker. */
    dependents(blockerId: string): Op<DependencyRecord[]>
    openWaits(callId: string): Op<DependencyRecord[]>
    hasOpenWaits(callId: string): Op<boolean>
    /** Is one of the targets reachable from `from` over open edges and over parents that wait for children? The path to it. */
    path(from: readonly string[], targets: ReadonlySet<string>): Op<string[] | undefined>
  }
  readonly run: {
    get(taskId: string, number: number): Op<RunRecord | undefined>
    list(taskId: string): Op<RunRecord[]>
    openOf(instanceId: string): Op<RunRecord[]>
    /** Open runs of all engines, by executor. */
    countOpen(): Op<Map<string, number>>
    due(now: number, limit: number): Op<RunRecord[]>
    nextDue(): Op<number | undefined>
  }
  readonly call: {
    get(id: string): Op<CallRecord | undefined>
    list(taskId: string, kinds?: CallKind[]): Op<CallRecord[]>
    /** From a `seq` on, of the given kinds. */
    since(taskId: string, seq: number, kinds: CallKind[]): Op<CallRecord[]>
    /** Entries without an outcome. */
    open(taskId: string): Op<CallRecord[]>
    due(now: number, limit: number): Op<CallRecord[]>
    nextDue(): Op<number | undefined>
  }
  readonly message: {
    list(taskId: string): Op<MessageRecord[]>
    /** At most `limit` messages whose number is above `after`, in order. */
    page(taskId: string, after: number, limit: number): Op<MessageRecord[]>
    get(id: string): Op<MessageRecord | undefined>
    /** Those that are no announcements, beyond a number. */
    spoken(taskId: string, after: number): Op<MessageRecord[]>
    count(taskId: string): Op<number>
    /** Number of the latest message that was sent to the task and is meant for its model; 0 when there is none. */
    lastDelivered(taskId: string): Op<number>
  }
  readonly event: {
    /** Events after a position, oldest first; of one task, or of all. */
    after(seq: number, limit: number, taskId?: string): Op<TaskEvent[]>
    /** Events before a position, latest first; of one task, or of all. */
    before(seq: number, limit: number, taskId?: string): Op<TaskEvent[]>
    last(): Op<number>
    /** The position of the latest event of a type for a task; 0 when there is none. */
    lastOf(taskId: string, type: EventType): Op<number>
  }
  readonly instance: {
    open(): Op<InstanceRecord[]>
    get(id: string): Op<InstanceRecord | undefined>
  }
  /** What the ledger itself was told, as JSON by name. */
  readonly setting: {
    get(name: string): Op<unknown>
  }
  readonly board: {
    get(name: string): Op<BoardRecord | undefined>
    /** By name. */
    list(): Op<BoardRecord[]>
    /** The task with a number. */
    entry(board: string, number: number): Op<BoardEntry | undefined>
    entryOf(board: string, taskId: string): Op<BoardEntry | undefined>
    /** Tasks with their numbers, deleted ones excluded, by number: at most `limit` beyond `after`. */
    page(board: string, after: number, limit: number): Op<Array<{ entry: BoardEntry; task: TaskRecord }>>
    /** Edges between tasks of the ledger whose dependent is on the board, each with the number of both ends; null for one that is not on it. */
    edges(board: string): Op<BoardEdge[]>
    /** Every task that comes after this one, freed by now or not, oldest first. */
    dependentsOf(board: string, taskId: string): Op<BoardNeighbour[]>
    /** Every task that this one was told to come after, in order. */
    blockersOf(board: string, taskId: string): Op<BoardNeighbour[]>
    /** Tasks younger than `seq` that are not deleted and have no number on the board, by age; of all, or below one. */
    unnumbered(board: string, seq: number, below: string | null, limit: number): Op<Array<{ id: string; seq: number }>>
    /** The highest `seq` of any task; 0 without one. */
    lastSeq(): Op<number>
    /** The unsettled task that has a workspace, if any. */
    boundTo(board: string, workspace: string): Op<BoardEntry | undefined>
  }
  readonly mail: {
    get(id: string): Op<MailRecord | undefined>
    request(requestId: string): Op<MailRecord | undefined>
    /** Unread, oldest first. */
    unread(board: string, recipient: string, limit: number): Op<MailRecord[]>
    /** Requests and their answers to or from somebody, the latest first. */
    requests(board: string, member: string, limit: number): Op<MailRecord[]>
  }
  readonly branch: {
    get(name: string): Op<BranchRecord | undefined>
    /** The branch of a task itself, which is older than those of its agents. */
    ofTask(taskId: string): Op<BranchRecord | undefined>
    /** The branch and all above it, itself first, `main` last; empty for an unknown one. */
    lineage(name: string): Op<BranchRecord[]>
    /** By age: at most `limit` after the `seq`. */
    list(filter: BranchFilter, limit: number, after: number): Op<BranchRecord[]>
  }
  readonly observation: {
    get(id: string): Op<ObservationRecord | undefined>
    /** Memorable ones of a branch that no run has taken up, oldest first; of one session, or of all. */
    pending(branch: string, sessionId: string | null, limit: number): Op<ObservationRecord[]>
    /** The sessions that have such, in the order of their first one, each once. */
    pendingSessions(branch: string): Op<string[]>
    /** The branches on which a session has such. */
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
     * Active facts of a branch, summaries excluded, that may be alike beyond a threshold to a text of these distinct words: none that
     * is alike is missing. Found through an index of words, the rarest first, never by reading all facts.
     */
    candidates(branch: string, words: readonly string[], threshold: number): Op<FactRecord[]>
    /**
     * Active facts of a branch, summaries excluded, that are about the same subject (see `subjectOf`), oldest first; of more than a
     * hundred the latest. None for ''.
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
     * Active facts of these branches, summaries excluded, that any of the words is found in (by its stem), best first. Text rank:
     * higher is better, of no fixed scale; rare words count for more. Of words that thousands of facts have the latest are found.
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
    /** Decisions about a fact: the latest `limit`, the latest first. */
    decisionsOn(factId: string, limit: number): Op<DecisionRecord[]>
    /** Decisions about other facts that name this one as the other of the two, the latest first: at most `limit`. */
    decisionsNaming(factId: string, limit: number): Op<DecisionRecord[]>
    /** Decisions of a run, in order: at most `limit` after the `seq`. */
    decisions(consolidationId: string, limit: number, after: number): Op<DecisionRecord[]>
  }
  readonly team: {
    get(taskId: string): Op<TeamRecord | undefined>
    ofBranch(branch: string): Op<TeamRecord | undefined>
    /** Teams with their tasks, deleted ones excluded, the latest first. */
    list(filter: TeamFilter, limit: number, offset: number): Op<Array<{ team: TeamRecord; task: TaskRecord }>>
    /** Ids of completed tasks whose memory has not been consolidated for good, by age. */
    unclosed(limit: number, after: number): Op<Array<{ taskId: string; seq: number }>>
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
    /** Stints of an agent on all tasks, deleted ones excluded, the latest first. */
    timeline(
      agentId: string,
      limit: number,
      offset: number,
    ): Op<Array<{ stint: StintRecord; task: TaskRecord; team: TeamRecord }>>
    /** By type, those without one last; deleted tasks excluded. */
    countByType(): Op<TypeCount[]>
  }
  readonly mirror: {
    /** Who writes the files of a folder, and until when it may be trusted to. */
    holder(dir: string): Op<{ board: string; instanceId: string; until: number } | undefined>
    /** The latest texts of a file, the newest first. */
    texts(dir: string, number: number, limit: number): Op<MirroredText[]>
    /** Numbers that have a text. */
    numbers(dir: string): Op<number[]>
  }
}

export interface BoardEdge {
  taskId: string
  /** Null for a task that is not on the board; then the other one is. */
  number: number | null
  blockerId: string
  blockerNumber: number | null
  open: boolean
}

export interface BoardNeighbour {
  taskId: string
  /** Null for a task that is not on the board. */
  number: number | null
  open: boolean
}

export interface CascadeOrder {
  root: string
  at: number
  instanceId: string
}

/** What left the ledger. */
export interface Purged {
  families: number
  tasks: number
  events: number
  /** Position of the latest event that left; 0 when none did. */
  through: number
  /** Where to go on; undefined when all were looked at. */
  next: PurgePosition | undefined
}

export interface PurgePosition {
  completedAt: number
  seq: number
}

export type NewTask = Omit<TaskRecord, 'seq'>
export type NewCall = Omit<CallRecord, 'seq'>
/** What changes of a journal entry. */
export type SavedCall = Pick<
  CallRecord,
  'status' | 'details' | 'result' | 'error' | 'startMessageId' | 'endMessageId' | 'dueAt' | 'updatedAt'
>
export type NewMessage = Omit<MessageRecord, 'n'>
export type NewEvent = Omit<TaskEvent, 'seq'>

export interface Tx extends Reads {
  readonly task: Reads['task'] & {
    /** The new row's seq. */
    insert(task: NewTask): Op<number>
    /** Writes all that changes while a task lives: state, counters, outcome. Raises `version`. */
    save(task: TaskRecord): Op<void>
    /** Writes what a task was told to be: name, input, policy, parent, deletion. */
    saveDefinition(task: TaskRecord): Op<void>
    saveProgress(task: TaskRecord): Op<void>
    /** Counts children that a stored task was given. */
    addChildren(id: string, added: number): Op<void>
    /** Puts the children of a parent that have executors into a lane, or with '' out of it. */
    setLanes(parentId: string, lane: string): Op<void>
    /** Everything below a task is so many levels nearer to its root. */
    raise(rootId: string, by: number): Op<void>
  }
  readonly dependency: Reads['dependency'] & {
    insert(edge: DependencyRecord): Op<void>
    /** Closes one open edge. */
    satisfy(edge: DependencyRecord, at: number): Op<void>
    /** A task that had settled is open again: who still waits for it waits again. Edges of waits only. */
    reopenWaits(blockerId: string): Op<void>
    /** Closes every open edge of one journal entry. */
    satisfyWaits(callId: string, at: number): Op<void>
    remove(taskId: string, blockerId: string): Op<void>
  }
  readonly run: Reads['run'] & {
    insert(run: RunRecord): Op<void>
    save(run: Pick<RunRecord, 'taskId' | 'number' | 'status' | 'outcome' | 'error' | 'endedAt' | 'closedAt'>): Op<void>
  }
  readonly call: Reads['call'] & {
    insert(call: NewCall): Op<void>
    save(call: SavedCall & { id: string }): Op<void>
  }
  readonly message: Reads['message'] & {
    /** Appends with the next number of its task, and returns that number. */
    append(message: NewMessage): Op<number>
  }
  readonly event: Reads['event'] & {
    append(event: NewEvent): Op<number>
  }
  readonly instance: Reads['instance'] & {
    insert(instance: InstanceRecord): Op<void>
    /** A sign of life: it is open (again) until then. */
    renew(id: string, leaseUntil: number): Op<void>
    end(id: string, at: number): Op<void>
  }
  readonly setting: Reads['setting'] & {
    put(name: string, value: unknown): Op<void>
  }
  readonly board: Reads['board'] & {
    /** Inserts a board, or writes the counters of one. */
    save(board: BoardRecord): Op<void>
    insert(entry: BoardEntry): Op<void>
    saveFields(board: string, number: number, fields: BoardFields): Op<void>
  }
  readonly mail: Reads['mail'] & {
    insert(mail: Omit<MailRecord, 'seq'>): Op<number>
    markRead(id: string, at: number): Op<void>
    decide(id: string, verdict: 'approved' | 'rejected'): Op<void>
    /** Removes what was read before a time; a request that nobody has answered stays. */
    forget(before: number): Op<void>
  }
  readonly branch: Reads['branch'] & {
    /** The new row's seq. */
    insert(branch: Omit<BranchRecord, 'seq'>): Op<number>
    save(branch: Pick<BranchRecord, 'name' | 'status' | 'description' | 'updatedAt'>): Op<void>
  }
  readonly observation: Reads['observation'] & {
    /** False, and nothing written, where the id is there already. */
    insert(observation: Omit<ObservationRecord, 'seq'>): Op<boolean>
    /** Marks as taken up; one that is already stays with its first run. */
    consume(id: string, consolidationId: string): Op<void>
  }
  readonly fact: Reads['fact'] & {
    /** Inserts an active fact with what it is found by; a summary is found by `list` and `summaryOf` only. The new row's seq. */
    insert(fact: Omit<FactRecord, 'seq'>): Op<number>
    /** Writes all that changes while a fact lives. One that is no longer active is found by nothing any more. */
    save(fact: FactRecord): Op<void>
    /** In place of the one that was kept under this model, if any. */
    keepVector(factId: string, model: string, vector: string): Op<void>
  }
  readonly consolidation: Reads['consolidation'] & {
    insert(run: Omit<ConsolidationRecord, 'seq'>): Op<number>
    decide(decision: Omit<DecisionRecord, 'seq'>): Op<void>
  }
  readonly team: Reads['team'] & {
    insert(team: TeamRecord): Op<void>
    /** Writes all but its task and its branch. */
    save(team: TeamRecord): Op<void>
    insertObjective(objective: ObjectiveRecord): Op<void>
    saveObjective(objective: ObjectiveRecord): Op<void>
    insertStint(stint: StintRecord): Op<void>
    saveStint(stint: StintRecord): Op<void>
  }
  readonly mirror: Reads['mirror'] & {
    hold(dir: string, board: string, instanceId: string, until: number): Op<void>
    letGo(dir: string, instanceId: string): Op<void>
    keep(text: MirroredText): Op<void>
    /** Forgets texts of a file older than a version; with Infinity all of them. */
    forget(dir: string, number: number, before: number): Op<void>
  }
  /** Set statements over whole families, however large. */
  readonly cascade: {
    /** Cancels every live descendant of a task, below settled ones too, each with its event; undefined when there is none. */
    cancel(order: CascadeOrder & { reason: string | null }): Op<Cascade | undefined>
    /** Marks everything below a task as deleted, each with its event; undefined when there is nothing. */
    hide(order: CascadeOrder): Op<Cascade | undefined>
    /** Journal entries that canceled tasks left open, and whether the run of each is open. */
    openEntries(of: Cascade): Op<Array<{ call: CallRecord; runOpen: boolean }>>
    /** Open edges that lead out of a cascade: from its tasks to others that come after them or wait for them. */
    edgesOut(of: Cascade): Op<DependencyRecord[]>
    /** Looks at so many roots that settled before a time, and removes those whose whole family did, with all that belongs to it. */
    purge(before: number, limit: number, after?: PurgePosition): Op<Purged>
  }
}

/** What a ledger tells whoever acts on it. */
export interface LedgerObserver {
  /** Events of a commit of ours, in order. They are durable. */
  committed(events: readonly TaskEvent[]): void
  /** There may be events that nobody told of: somebody else's commit, or one of ours whose outcome is unknown. */
  stirred(): void
  /** The ledger can no longer be trusted or written: stop. */
  failed(error: unknown): void
}

/** Where tasks live. */
export interface Ledger {
  /** A path, `:memory:` or a URL without its secrets: for messages and for child processes. */
  readonly name: string
  /**
   * Runs a step in a transaction of its own judgement, in order of arrival; resolves when it is durable.
   * @throws what `judge` threw, with nothing written; OUTCOME_UNKNOWN when the commit itself failed; LEDGER_BUSY and
   *   LEDGER_WRITE_FAILED with nothing written.
   */
  step<L, D, R>(step: Step<L, D, R>): Promise<R>
  /** Reads a consistent state outside of any step. */
  read<R>(query: (tx: Reads) => Op<R>): Promise<R>
  /** Makes the death of this instance visible to the others at once. Call before its row is inserted. */
  enlist(instanceId: string): Promise<void>
  /** May the instance still be alive? Certain on one host: a lock that dies with the process. */
  isAlive(instanceId: string): boolean
  /** Forgets an instance that has ended, ours or a dead one. */
  discharge(instanceId: string): void
  /** Tells the observer of commits, ours and others'; returns how to stop. `watchOthers` costs a cheap poll. */
  observe(observer: LedgerObserver, options: { watchOthers: boolean }): () => void
  /** Writes what was asked for, then lets the file go. */
  close(): Promise<void>
}
