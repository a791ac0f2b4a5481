// The port: the engine's only access to storage. An implementation decides where the rows are; only `ledger/` contains SQL. A step judges
// rows that it reads inside its own transaction, and steps that arrive together share one commit.
/* oxlint-disable max-lines -- One interface, the port that both dialects implement, with its documentation. */
import type { Reader } from '../bus/read-principal.ts'
import type { BoardEntry, BoardFields, BoardRecord, MailRecord, MirroredText } from '../entities/board.ts'
import type { CallKind, CallRecord } from '../entities/call.ts'
import type { DependencyRecord } from '../entities/dependency.ts'
import type { EventType, TaskEvent } from '../entities/event.ts'
import type { InstanceRecord } from '../entities/instance.ts'
import type { MessageRecord } from '../entities/message.ts'
import type { RunRecord } from '../entities/run.ts'
import type { ScheduleRecord } from '../entities/schedule.ts'
import type { SignalRecord } from '../entities/signal.ts'
import type { BriefRecord, TaskRecord, TaskStatus } from '../entities/task.ts'
import type { Trees } from '../entities/task-trees.ts'
import type { ChildFacts } from '../machines/family.ts'
import type { MemoryReads, MemoryTx } from './memory-port.ts'
import type { Op } from './op.ts'

export type * from './memory-port.ts'
export { all, type Op } from './op.ts'

/** One step of the engine: it reads rows, judges them, and writes what it decides, in one transaction. */
export interface Step<R = unknown> {
  /** For errors and traces. */
  readonly name: string
  /**
   * No clock, no randomness, no I/O, and no change of a record that it was given: the same rows lead to the same decision, and the ledger
   * may run it again. Its writes may be kept until it ends or reads a set. Throws an ErrandError to refuse; then nothing of the step is
   * written.
   */
  decide(tx: Tx): Op<R>
  /** Decided after the other steps of its commit, so that it reads what they have written. */
  readonly last?: true | undefined
}

/**
 * A step of this name: `step('pause', function* (tx) { … })`. A step that most tasks take has its generator function outside, and passes it
 * its request: a generator function that is made for each step leaves objects behind that only a collection of the whole heap removes, with
 * all that they refer to.
 */
export function step<R>(name: string, decide: (tx: Tx) => Op<R>): Step<R>
export function step<R, Request>(name: string, decide: (tx: Tx, request: Request) => Op<R>, request: Request): Step<R>
export function step<R, Request>(
  name: string,
  decide: (tx: Tx, request: Request | undefined) => Op<R>,
  request?: Request,
): Step<R> {
  return { name, decide: (tx) => decide(tx, request) }
}

export interface TaskFilter {
  statuses?: TaskStatus[] | undefined
  parentId?: string | null | undefined
  executor?: string | undefined
  metadata?: Record<string, string | number | boolean | null> | undefined
  keyPrefix?: string | undefined
  owner?: string | undefined
  /** The task has all of them. */
  tags?: string[] | undefined
  /** Whether it competes for a slot or a claim. */
  ready?: boolean | undefined
  /** Below this task, at any depth. */
  below?: string | undefined
  /** Of the WAITING tasks only those whose holder was lost or released them (true), or only the others (false). */
  released?: boolean | undefined
  /** Of the failed tasks only those with this message. */
  failedWith?: string | undefined
  /** Failed with this code. */
  failedCode?: string | undefined
  /** Ended, or if open were created, at this time or later, in epoch milliseconds. */
  endedFrom?: number | undefined
  /** Ended, or if open were created, before this time, in epoch milliseconds. */
  endedBefore?: number | undefined
  /** The type of the team; only tasks with a team. */
  type?: string | undefined
  /** Words that must all be in the name, the goal or the description, or begin the id; case-insensitive. */
  words?: string[] | undefined
  ids?: readonly string[] | undefined
  /** The forks of this task. */
  forkedFrom?: string | undefined
  /** The principal of the task (`TaskRecord.principal`). */
  principal?: string | undefined
  /** System tasks only (true), or also (`include`). Default: none, unless the filter names tasks or their parent. */
  system?: boolean | 'include' | undefined
  /** Whether a fork of it exists. */
  forked?: boolean | undefined
  /** Created at this time or later, in epoch milliseconds. */
  createdFrom?: number | undefined
  /** Created at this time or earlier, in epoch milliseconds. */
  createdTo?: number | undefined
}

/** Which tasks a claim may take. */
export interface ClaimFilter {
  /** The claimant: tasks that are meant for another one are excluded. */
  owner?: string | undefined
  parentId?: string | undefined
  /** Below this task, at any depth. */
  below?: string | undefined
  /** Tasks for this role and without a role; undefined: only tasks without a role. */
  role?: string | undefined
  /** The task has all of them. */
  tags?: string[] | undefined
}

/** The runs that an engine may time out: its own, and those of executors that it has. */
export interface OwnRuns {
  instanceId: string
  executors: readonly string[]
}

/** A task with its last event at a past position. */
export interface TaskAtEvent {
  task: TaskRecord
  event: TaskEvent
}

/** What a set statement canceled or hid, as the positions of its events. */
export interface Cascade {
  type: EventType
  first: number
  last: number
}

/** Narrows the ready tasks of an executor. */
export interface ReadyFilter {
  /** Only tasks that name a model. Default false. */
  named?: boolean
  /** Only tasks of these trees. Default: of all. */
  trees?: Trees | undefined
}

/** A task in its live run, as far as the journal concerns itself with it. */
export interface LiveTask extends Pick<TaskRecord, 'id' | 'name' | 'run'> {
  readonly status: 'working'
  readonly policy: Pick<TaskRecord['policy'], 'team'>
}

/** Rows in order; `isLast` is false if more follow, whether for their number or their size. */
export interface Page<T> {
  rows: T[]
  isLast: boolean
}

export interface Reads extends MemoryReads {
  readonly task: {
    get(id: string): Op<TaskRecord | undefined>
    getBySeq(seq: number): Op<TaskRecord | undefined>
    getByKey(key: string): Op<TaskRecord | undefined>
    /** At most `limit` tasks whose id begins with `prefix`. */
    findByPrefix(prefix: string, limit: number): Op<TaskRecord[]>
    /**
     * Ready tasks of one executor in one lane ('' for no lane), highest priority first, then oldest; only those with fewer crashes
     * in a row than `crashes`.
     */
    ready(executor: string, lane: string, limit: number, crashes?: number, only?: ReadyFilter): Op<TaskRecord[]>
    /** Ready tasks of one executor in any lane with `crashes` crashes in a row or more, in the same order. */
    suspects(executor: string, limit: number, crashes: number, only?: ReadyFilter): Op<TaskRecord[]>
    /** Whether any tasks are ready, of any executor: at all, in lanes, and after a crash. */
    readyKinds(): Op<{ any: boolean; inLanes: boolean; suspects: boolean; queuedRuns: boolean; system: boolean }>
    /** Whether any task of these executors is ready, or any task of `named` that names a model. */
    anyReady(executors: readonly string[], named?: readonly string[], trees?: Trees): Op<boolean>
    /** Lanes in which an executor has ready tasks, at most `max`; the lane with the best task first, by priority, then age. */
    lanes(executor: string, max?: number, only?: ReadyFilter): Op<string[]>
    /** Runs in a lane that hold a slot. */
    openInLane(lane: string): Op<number>
    /**
     * The best tasks that may be claimed, at most `limit` (default 1): highest priority, then oldest. Undefined if more than `most` claimable
     * tasks for a role and an owner would have to be looked at; default: all may be.
     */
    claimable(claim: ClaimFilter, limit?: number, most?: number): Op<TaskRecord[] | undefined>
    /** Tasks whose lease is over at `now`. */
    lapsed(now: number, limit: number): Op<TaskRecord[]>
    /** Tasks that are not settled and whose deadline is over at `now`. */
    late(now: number, limit: number): Op<TaskRecord[]>
    /** Of the tasks that are not deleted. Reads all of them: for a read model, not for a step. */
    /** Whether a system task of any executor is ready. */
    anySystemReady(): Op<boolean>
    countByStatus(): Op<Record<TaskStatus, number>>
    countQueued(): Op<{ ready: number; claimable: number }>
    /** The ready tasks of each executor, and when the one that was changed first was changed. Reads all of them, like the counts above. */
    queues(): Op<Array<{ executor: string; ready: number; oldestAt: number }>>
    /** Whether any task of these executors, or any of `named` that names a model, is ready or on a timer, or has an open run. */
    anyAwake(executors: readonly string[], named?: readonly string[], trees?: Trees, withSystem?: boolean): Op<boolean>
    list(filter: TaskFilter, limit: number, after?: { priority: number; seq: number }): Op<TaskRecord[]>
    listBrief(filter: TaskFilter, limit: number): Op<BriefRecord[]>
    /** As `list`, limited in bytes too. */
    page(filter: TaskFilter, limit: number, after?: { priority: number; seq: number }): Op<Page<TaskRecord>>
    /** The same tasks by age, latest first. */
    newest(filter: TaskFilter, limit: number, offset: number): Op<TaskRecord[]>
    /** The same by age, oldest first, from a `seq` on. */
    oldest(filter: TaskFilter, limit: number, afterSeq: number): Op<BriefRecord[]>
    /** Tasks with their last event at or before a position, deleted ones included; oldest first. */
    asOf(position: number, limit: number, afterSeq: number, ids?: readonly string[]): Op<TaskAtEvent[]>
    count(filter: TaskFilter): Op<number>
    children(parentId: string): Op<TaskRecord[]>
    /** All descendants, below settled ones too; root excluded. */
    subtree(rootId: string): Op<TaskRecord[]>
    briefSubtree(rootId: string): Op<BriefRecord[]>
    /** Ids of all descendants, deleted ones included, in no order. */
    idsBelow(rootId: string): Op<string[]>
    /** From the task's parent up to the root. */
    ancestors(id: string): Op<TaskRecord[]>
    /** Of the children that are not deleted. If one can move, the other facts are not read. */
    childFacts(parentId: string): Op<ChildFacts>
    /** Tasks whose timer is due at `now`, soonest first. */
    due(now: number, limit: number): Op<TaskRecord[]>
    /** The soonest timer, schedule, lease, deadline, or time limit of a run that this engine may end; undefined without one. */
    nextDue(own: OwnRuns): Op<number | undefined>
  }
  readonly dependency: {
    /** Ids of the open blockers of a task, in the order in which they were named. */
    openBlockers(taskId: string): Op<string[]>
    /** The first open blocker that will not complete by itself: it failed, was canceled, or is stuck. */
    stuckBehind(taskId: string): Op<string | undefined>
    /** All tasks that it comes after, satisfied or not, in order. */
    blockers(taskId: string): Op<string[]>
    /** Open edges that point at a blocker: all, or the first `limit`. */
    dependents(blockerId: string, limit?: number): Op<DependencyRecord[]>
    openWaits(callId: string): Op<DependencyRecord[]>
    hasOpenWaits(callId: string): Op<boolean>
    /**
     * The path to a target that is reachable from `from` over open edges and over parents that wait for children; undefined if there is
     * none.
     */
    path(from: readonly string[], targets: ReadonlySet<string>): Op<string[] | undefined>
  }
  readonly run: {
    get(taskId: string, number: number): Op<RunRecord | undefined>
    list(taskId: string): Op<RunRecord[]>
    /** At most `limit` runs whose number is above `after`, of one generation or of all, in order. */
    page(taskId: string, after: number, limit: number, generation?: number): Op<RunRecord[]>
    openOf(instanceId: string): Op<RunRecord[]>
    /** System tasks or others whose runs of one engine wait for a slot, at most `limit` that follow `after`: highest priority, then oldest. */
    queuedOf(
      instanceId: string,
      system: boolean,
      after: Pick<TaskRecord, 'priority' | 'seq'> | undefined,
      limit: number,
    ): Op<TaskRecord[]>
    /** Runs of all engines that hold a slot, by executor. */
    countOpen(): Op<Map<string, number>>
    /** Runs of one engine that hold a slot, by executor, and the maximum of crashes in a row of their tasks. */
    countOpenOf(instanceId: string): Op<{ perExecutor: Map<string, number>; system: number; crashes: number }>
    /** Live runs whose time is over at `now` and that this engine may end, soonest first. */
    due(now: number, limit: number, own: OwnRuns): Op<RunRecord[]>
  }
  readonly call: {
    get(id: string): Op<CallRecord | undefined>
    list(taskId: string, kinds?: CallKind[]): Op<CallRecord[]>
    /** What a run may find again: the entries of one generation. */
    ofGeneration(taskId: string, generation: number): Op<CallRecord[]>
    /** At most `limit` entries of kind `call` whose `seq` is above `after`, of one generation or of all, in order, limited in bytes too. */
    page(taskId: string, after: number, limit: number, generation?: number): Op<Page<CallRecord>>
    /** The task, if this is its run and it is WORKING. */
    liveTask(taskId: string, run: number): Op<LiveTask | undefined>
    /** Entries from a `seq` on, of the given kinds. */
    since(taskId: string, seq: number, kinds: CallKind[]): Op<CallRecord[]>
    /** The `seq` of its newest entry; 0 without any. */
    lastSeq(taskId: string): Op<number>
    /** Entries without an outcome. */
    open(taskId: string): Op<CallRecord[]>
    due(now: number, limit: number): Op<CallRecord[]>
  }
  readonly message: {
    list(taskId: string): Op<MessageRecord[]>
    /** What a run may find again: the messages that runs of one generation wrote. */
    ofGeneration(taskId: string, generation: number): Op<MessageRecord[]>
    /** At most `limit` messages whose number is above `after`, in order, limited in bytes too. */
    page(taskId: string, after: number, limit: number): Op<Page<MessageRecord>>
    get(id: string): Op<MessageRecord | undefined>
    /** Messages that are not announcements, after a number. */
    spoken(taskId: string, after: number): Op<MessageRecord[]>
    count(taskId: string): Op<number>
    /** Number of the latest message that was sent to the task and is meant for its model; 0 without one. */
    lastDelivered(taskId: string): Op<number>
  }
  readonly signal: {
    /** The oldest signal of this name that no wait has taken. */
    kept(taskId: string, name: string): Op<SignalRecord | undefined>
    /** The oldest signal of any name that no wait has taken. */
    oldestKept(taskId: string): Op<SignalRecord | undefined>
    countKept(taskId: string): Op<number>
    /** Whether a signal of this name was sent with this id, taken or not. */
    wasSent(taskId: string, name: string, sentId: string): Op<boolean>
  }
  readonly event: {
    /** Events after a position, oldest first; of one task, or of all. */
    after(seq: number, limit: number, taskId?: string): Op<TaskEvent[]>
    /** Events before a position, latest first; of one task, or of all. */
    before(seq: number, limit: number, taskId?: string): Op<TaskEvent[]>
    /** As `after`, limited in bytes too, for readers that hold pages while a client takes its time. */
    pageAfter(seq: number, limit: number, taskId?: string): Op<Page<TaskEvent>>
    /** As `before`, limited in bytes too. */
    pageBefore(seq: number, limit: number, taskId?: string): Op<Page<TaskEvent>>
    /** Starts and ends of tasks by type and time: bucket 0 begins at `from`, and each is `width` milliseconds long. */
    counts(from: number, to: number, width: number): Op<Array<{ type: string; bucket: number; events: number }>>
    /** How long the latest tasks that started in a time had waited since the event before. */
    waits(from: number, to: number, limit: number): Op<number[]>
    last(): Op<number>
    /** The events of a type of a task, latest first. */
    latestOf(taskId: string, type: EventType, limit: number): Op<TaskEvent[]>
  }
  readonly instance: {
    open(): Op<InstanceRecord[]>
    /** Newest first: those that are open, and those that have ended and are not forgotten. */
    latest(limit: number): Op<InstanceRecord[]>
    get(id: string): Op<InstanceRecord | undefined>
    /** Ids whose life still matters: instances that have not ended or own an open run, and mirrors that write a folder. */
    named(): Op<string[]>
  }
  /** Settings of the ledger, as JSON by name. */
  readonly setting: {
    get(name: string): Op<unknown>
  }
  readonly board: {
    get(name: string): Op<BoardRecord | undefined>
    /** The board that the step gives a number on. On a server no other step changes it until this one is committed. */
    toAdd(name: string): Op<BoardRecord | undefined>
    /** The same, if the step numbers all tasks. On a server no other step creates a task until this one is committed. */
    toNumber(name: string): Op<BoardRecord | undefined>
    /** By name. */
    list(): Op<BoardRecord[]>
    /** The task with a number. */
    entry(board: string, number: number): Op<BoardEntry | undefined>
    entryOf(board: string, taskId: string): Op<BoardEntry | undefined>
    /** Tasks with their numbers, deleted ones excluded, by number: at most `limit` beyond `after`. */
    page(board: string, after: number, limit: number): Op<Array<{ entry: BoardEntry; task: TaskRecord }>>
    /** Every task that comes after this one, free or not, oldest first. */
    dependentsOf(board: string, taskId: string): Op<BoardNeighbour[]>
    /** Every task that this one comes after, in order. */
    blockersOf(board: string, taskId: string): Op<BoardNeighbour[]>
    /** Tasks younger than `seq` that are not deleted and have no number on the board, by age. */
    unnumbered(board: string, seq: number, limit: number): Op<Array<{ id: string; seq: number }>>
    /** The highest `seq` of any task; 0 without one. */
    lastSeq(): Op<number>
    /** A task that a workspace was bound to; the binding may have ended. */
    boundTo(board: string, workspace: string): Op<BoardEntry | undefined>
  }
  readonly purge: {
    /** Roots that settled before a time and are not being purged, those that settled first before the others. */
    roots(before: number, limit: number, after?: PurgePosition): Op<Array<PurgePosition & { id: string }>>
    /** Undefined for a family that must stay. Reads all of it: for a read, not for a step. */
    inspect(root: string, before: number): Op<Purgeable | undefined>
    /** Those of some roots in whose families, or for whose tasks, something changed after one position, up to another. */
    touched(roots: readonly string[], after: number, upTo: number): Op<string[]>
    /** Roots of families that are being purged. */
    begun(limit: number): Op<string[]>
    /** Whether a task belongs to a family that is being purged. */
    includes(taskId: string): Op<boolean>
    /** Position of the latest event of some tasks; 0 without one. */
    lastEvent(tasks: readonly string[]): Op<number>
  }
  readonly mail: {
    get(id: string): Op<MailRecord | undefined>
    request(requestId: string): Op<MailRecord | undefined>
    /** Unread, oldest first. */
    unread(board: string, recipient: string, limit: number): Op<MailRecord[]>
    /** Requests and their answers to or from a member, latest first. */
    requests(board: string, member: string, limit: number): Op<MailRecord[]>
  }
  readonly mirror: {
    /** The writer of the files of a folder, and until when it counts as alive. */
    holder(dir: string): Op<{ board: string; instanceId: string; until: number } | undefined>
    /** The latest texts of a file, newest first. */
    texts(dir: string, number: number, limit: number): Op<MirroredText[]>
    /** Numbers that have a text. */
    numbers(dir: string): Op<number[]>
  }
  readonly schedule: {
    get(name: string): Op<ScheduleRecord | undefined>
    /** By name, at most `limit` after a name. */
    list(after: string, limit: number): Op<ScheduleRecord[]>
    /** Names of schedules with a tick that is due at `now`, or that has waited for a task which has ended; at most `limit` of each. */
    due(now: number, limit: number): Op<string[]>
  }
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

/** A family that may be purged: all of it has settled for long enough, and no open task needs any of it. */
export interface Purgeable {
  root: string
  tasks: number
  events: number
  /** Position of its latest event; 0 without one. */
  through: number
  /** Dependencies of settled tasks outside on tasks of the family: they end with it. */
  outside: OutsideEdge[]
}

export type OutsideEdge = Pick<DependencyRecord, 'taskId' | 'blockerId' | 'callId'>

/** The place of a root among those that may be purged. */
export interface PurgePosition {
  completedAt: number
  seq: number
}

export type NewTask = Omit<TaskRecord, 'seq'>
export type NewCall = Omit<CallRecord, 'seq'>
/** The changes of a journal entry, and its kind. */
export type SavedCall = Pick<
  CallRecord,
  'kind' | 'status' | 'details' | 'result' | 'error' | 'startMessageId' | 'endMessageId' | 'dueAt' | 'updatedAt'
>
export interface CallOutcome extends Pick<CallRecord, 'id' | 'taskId' | 'kind' | 'result' | 'error' | 'updatedAt'> {
  status: 'completed' | 'failed'
}
export type NewMessage = Omit<MessageRecord, 'n'>
export type NewSignal = Omit<SignalRecord, 'seq'>
export type NewEvent = Omit<TaskEvent, 'seq'>

export interface Tx extends Omit<Reads, keyof MemoryReads>, MemoryTx {
  readonly task: Reads['task'] & {
    insert(task: NewTask): Op<void>
    /** Takes a key from its task, which is being purged. */
    freeKey(key: string): Op<void>
    /** Writes all that changes while a task lives: state, counters, outcome. Raises `version`. */
    save(task: TaskRecord): Op<void>
    /** Writes the definition of a task: name, input, policy, parent, deletion. */
    saveDefinition(task: TaskRecord): Op<void>
    saveProgress(task: TaskRecord): Op<void>
    /** Writes behind which task it is stuck, and nothing else; `version` stays. */
    setStuck(id: string, by: string | null): Op<void>
    /** Adds to the number of children of a stored task. */
    addChildren(id: string, added: number): Op<void>
    /** Adds to the number of tasks that models created below a stored task. */
    addMade(id: string, made: number): Op<void>
    /** Puts the children of a parent that have executors into a lane; '' takes them out of it. */
    setLanes(parentId: string, lane: string): Op<void>
    /** Reduces the depth of all tasks below one. */
    raise(rootId: string, by: number): Op<void>
  }
  readonly dependency: Reads['dependency'] & {
    insert(edge: DependencyRecord): Op<void>
    /** Closes one open edge. */
    satisfy(edge: DependencyRecord, at: number): Op<void>
    /** Reopens the wait edges of a task that was settled and is open again. */
    reopenWaits(blockerId: string): Op<void>
    /** Closes every open edge of one journal entry. */
    satisfyWaits(callId: string, at: number): Op<void>
    remove(taskId: string, blockerId: string): Op<void>
  }
  readonly run: Reads['run'] & {
    insert(run: RunRecord): Op<void>
    save(run: Pick<RunRecord, 'taskId' | 'number' | 'status' | 'outcome' | 'error' | 'endedAt' | 'closedAt'>): Op<void>
    saveSlot(run: Pick<RunRecord, 'taskId' | 'number' | 'status' | 'dueAt'>): Op<void>
  }
  readonly call: Reads['call'] & {
    insert(call: NewCall): Op<void>
    save(call: SavedCall & { id: string }): Op<void>
    /**
     * Writes the outcome of a call whose start was not announced, and nothing else; false if there is none that its state allows. It stands
     * for the call's machine, of which only `record` does anything for such a call.
     */
    end(call: CallOutcome): Op<boolean>
  }
  readonly message: Reads['message'] & {
    /** Appends with the next number of its task, and returns that number. */
    append(message: NewMessage): Op<number>
  }
  readonly signal: Reads['signal'] & {
    /** Returns its `seq`. */
    insert(signal: NewSignal): Op<number>
    /** A wait takes a signal, and its payload. */
    take(signal: Pick<SignalRecord, 'taskId' | 'seq'>, takenBy: string): Op<void>
  }
  readonly event: Reads['event'] & {
    append(event: NewEvent): Op<void>
  }
  readonly instance: Reads['instance'] & {
    insert(instance: InstanceRecord): Op<void>
    /**
     * Renews the lease. A row that had ended is open again, and one that was forgotten is written anew: the runs of an engine without a row
     * are never recovered.
     */
    renew(instance: InstanceRecord): Op<void>
    end(id: string, at: number): Op<void>
    /** Removes instances that ended before a time and own no open run. Returns the number. */
    forget(before: number): Op<number>
  }
  readonly setting: Reads['setting'] & {
    put(name: string, value: unknown): Op<void>
  }
  readonly board: Reads['board'] & {
    /** Inserts a board, or writes the counters of one. */
    save(board: BoardRecord): Op<void>
    insert(entry: BoardEntry): Op<void>
    saveFields(board: string, taskId: string, fields: BoardFields): Op<void>
  }
  readonly mail: Reads['mail'] & {
    insert(mail: Omit<MailRecord, 'seq'>): Op<number>
    markRead(mail: Pick<MailRecord, 'id' | 'recipient'>, at: number): Op<void>
    markUnread(mail: Pick<MailRecord, 'id' | 'recipient'>): Op<void>
    decide(requestId: string, verdict: 'approved' | 'rejected'): Op<void>
    /** Removes mail that was read before a time, except requests without an answer; so many at most. Returns the number. */
    forget(before: number, limit: number): Op<number>
  }
  readonly purge: Reads['purge'] & {
    /** Marks families as being purged, and cuts the dependencies on them. */
    begin(families: ReadonlyArray<Pick<Purgeable, 'root' | 'outside'>>): Op<void>
    /**
     * Removes at most so many rows of some tasks, with all that belongs to them; a root also loses its mark. Of two tasks the lower one comes
     * first, and nothing is below them that is not among them. Returns whether there may be more.
     */
    remove(tasks: readonly string[], limit: number): Op<boolean>
  }
  readonly mirror: Reads['mirror'] & {
    hold(dir: string, board: string, instanceId: string, until: number): Op<void>
    release(dir: string, instanceId: string): Op<void>
    keep(text: MirroredText): Op<void>
    /** Removes texts of a file older than a version; with Infinity all of them. */
    forget(dir: string, number: number, before: number): Op<void>
  }
  readonly schedule: Reads['schedule'] & {
    /** Inserts a schedule, or replaces all of it. */
    save(schedule: ScheduleRecord): Op<void>
    /** Returns whether there was one. */
    remove(name: string): Op<boolean>
  }
  /** Set statements over whole families of any size. */
  readonly cascade: {
    /** Cancels every live descendant of a task, below settled ones too, each with its event; undefined when there is none. */
    cancel(order: CascadeOrder & { reason: string | null }): Op<Cascade | undefined>
    /** Marks everything below a task as deleted, each with its event; undefined without any. */
    hide(order: CascadeOrder): Op<Cascade | undefined>
    /** Journal entries that canceled tasks left open, and whether the run of each is open. */
    openEntries(of: Cascade): Op<Array<{ call: CallRecord; runOpen: boolean }>>
    /** Open edges from the tasks of a cascade to others that come after them or wait for them. */
    edgesOut(of: Cascade): Op<DependencyRecord[]>
  }
}

/** What a ledger reports to its observers, such as the feed of an engine (`actors/feed.ts`). */
export interface LedgerObserver {
  /** Events of a commit of this process, in order. They are durable. */
  committed(events: readonly TaskEvent[]): void
  /** There may be unreported events: a commit of another process, or one of this process whose outcome is unknown. */
  changed(): void
  /** How long a commit of this process has taken, in milliseconds, with the waits for locks. */
  measured?(durationMs: number): void
  /** The ledger can no longer be trusted or written: stop. */
  failed(error: unknown): void
}

/**
 * Whether an instance lives. `alive` and `dead` are certain, by a lock that ends with its process; for `unknown` only the lease can decide:
 * its lock cannot be checked from here, or is missing although the instance may live. `silent`: it may live, and its lease is over by the
 * time of the ledger; said only by a ledger with a time of its own (`now`), where nothing else judges leases.
 */
export type Life = 'alive' | 'dead' | 'silent' | 'unknown'

/** The lease of an instance, which its ledger renews beside all steps. */
export interface Lease {
  /** Whether the row of the instance is open for certain: since it was last renewed, no other engine can have taken this one for lost. */
  readonly isCertain: boolean
  /** Resolves when no renewal follows. */
  end(): Promise<void>
}

export interface LeaseNotices {
  /** The lease could not be renewed, and is over soon: then other engines may take over the runs. */
  lapsed(): void
  /** After `lapsed`: the lease is renewed again. */
  renewed(): void
  report(error: unknown): void
}

/** The storage of tasks. */
export interface Ledger {
  /** A path, `:memory:` or a URL without its secrets: for messages and child processes. */
  readonly name: string
  /**
   * The time that all processes of the ledger share, in epoch milliseconds; it never steps back. Absent where they share the clock of their
   * host.
   */
  readonly now?: () => number
  /**
   * Runs a step in order of arrival, on the writes of the steps before it; resolves when it is durable.
   * @throws what the step threw, with nothing written; OUTCOME_UNKNOWN when the commit itself failed; LEDGER_BUSY and LEDGER_WRITE_FAILED
   *   with nothing written.
   */
  step<R>(step: Step<R>): Promise<R>
  /**
   * Reads one state outside of any step: all statements of the query see the same state. A query that takes long may be started again, and
   * gives way to other work of the process, so it must have no side effects. Principals take turns at long reads.
   * @throws LEDGER_UNAVAILABLE or LEDGER_BUSY when the database cannot be read, with its error as the cause; on a server, the reason for which
   *   the ledger has stopped (LEDGER_UNAVAILABLE, LEDGER_VERSION); the reason of the reader's signal; RATE_LIMITED when too many long reads of its principal are waiting
   */
  read<R>(query: (tx: Reads) => Op<R>, reader?: Reader): Promise<R>
  /**
   * Makes a later death of this instance visible to the others at once. Call it before the row is inserted.
   * @throws LEDGER_UNAVAILABLE, with nothing left behind
   */
  register(instanceId: string): Promise<void>
  isAlive(instanceId: string): Promise<Life>
  /**
   * Renews the lease of a registered instance until `end`, for as long as the event loop of this process turns. Absent where steps do
   * (`instance.renew`).
   */
  readonly keepLease?: (instance: InstanceRecord, leaseMs: number, notices: LeaseNotices) => Lease
  /**
   * Unregisters an instance whose row has ended, of this process or a dead one. If the own row could not be ended, `asDead` shows the
   * others a dead instance, so that they recover it at once.
   */
  unregister(instanceId: string, options?: { asDead?: boolean }): void
  /** Notifies the observer of commits of this and other processes. Returns a function that ends this. `watchOthers` costs a cheap poll. */
  observe(observer: LedgerObserver, options: { watchOthers: boolean }): () => void
  /**
   * Writes the queued steps, then closes the database. Steps that still wait for another process's write lock after `withinMs` (default 10
   * s) are refused with LEDGER_BUSY.
   */
  close(options?: { withinMs?: number }): Promise<void>
}
