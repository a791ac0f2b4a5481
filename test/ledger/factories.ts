// Rows for tests of a ledger: each valid, with the given fields replaced.
import type { MailRecord } from '../../src/entities/board.ts'
import type { DependencyRecord } from '../../src/entities/dependency.ts'
import type {
  BranchRecord,
  ConsolidationRecord,
  DecisionRecord,
  FactRecord,
  ObservationRecord,
} from '../../src/entities/memory.ts'
import type { RunRecord } from '../../src/entities/run.ts'
import type { ScheduleRecord } from '../../src/entities/schedule.ts'
import { storedFrom } from '../../src/entities/task-fields.ts'
import type { ObjectiveRecord, StintRecord, TeamRecord } from '../../src/entities/team.ts'
import type { NewCall, NewEvent, NewMessage, NewSignal, NewTask } from '../../src/ledger/ledger.ts'

/** A time in 2030, the default of all rows. */
export const someTime: number = Date.UTC(2030, 0, 1)

/** A submitted task. Its snapshot is not a real image of its machine: a ledger keeps it as text. */
export function taskRow(task: Partial<NewTask> & { id: string }): NewTask {
  return {
    ...storedFrom({ name: task.id }),
    status: 'submitted',
    forkedFrom: null,
    principal: null,
    system: false,
    statusReason: null,
    group: false,
    ready: false,
    claimable: false,
    held: false,
    result: null,
    error: null,
    lane: '',
    depth: 0,
    childCount: 0,
    madeBelow: 0,
    owner: null,
    fence: 0,
    leaseMs: null,
    leaseUntil: null,
    generation: 1,
    attempt: 1,
    run: 0,
    runOpen: false,
    openBlockers: 0,
    stuckBy: null,
    wakes: 0,
    crashes: 0,
    policy: {},
    progress: null,
    snapshot: '{}',
    version: 1,
    createdAt: someTime,
    updatedAt: someTime,
    startedAt: null,
    completedAt: null,
    deletedAt: null,
    ...task,
  }
}

/** A live run, its first. */
export function runRow(run: Partial<RunRecord> & { taskId: string }): RunRecord {
  return {
    number: 1,
    generation: 1,
    attempt: 1,
    instanceId: 'engine-1',
    status: 'live',
    outcome: null,
    error: null,
    startedAt: someTime,
    endedAt: null,
    closedAt: null,
    dueAt: null,
    ...run,
  }
}

/** A call in progress. */
export function callRow(call: Partial<NewCall> & { id: string; taskId: string }): NewCall {
  return {
    run: 1,
    generation: 1,
    attempt: 1,
    kind: 'call',
    name: 'fetch',
    ident: 'p:null',
    ordinal: 0,
    params: null,
    status: 'in_progress',
    onInterrupt: 'fail',
    parentId: null,
    details: null,
    result: null,
    resultLost: null,
    error: null,
    startMessageId: null,
    endMessageId: null,
    dueAt: null,
    createdAt: someTime,
    updatedAt: someTime,
    ...call,
  }
}

/** A message of the user. */
export function messageRow(message: Partial<NewMessage> & { id: string; taskId: string }): NewMessage {
  return {
    role: 'user',
    content: 'hello',
    announcement: false,
    step: null,
    delivery: null,
    run: null,
    generation: null,
    ident: null,
    ordinal: 0,
    timestamp: someTime,
    ...message,
  }
}

/** A signal that is kept. */
export function signalRow(signal: Partial<NewSignal> & { taskId: string }): NewSignal {
  return { name: 'paid', sentId: null, payload: true, createdAt: someTime, takenBy: null, ...signal }
}

/** An event about a task. */
export function eventRow(event: Partial<NewEvent> & { taskId: string }): NewEvent {
  return { type: 'task.updated', at: someTime, instanceId: 'engine-1', data: {}, ...event }
}

/** An open edge: the one task comes after the other. */
export function edgeRow(edge: Partial<DependencyRecord> & { taskId: string; blockerId: string }): DependencyRecord {
  return { kind: 'after', callId: '', satisfiedAt: null, createdAt: someTime, ...edge }
}

type Unnumbered<R> = Omit<R, 'seq'>

/** An active branch below `main`. */
export function branchRow(branch: Partial<BranchRecord> & { name: string }): Unnumbered<BranchRecord> {
  return {
    parent: 'main',
    description: '',
    status: 'active',
    taskId: null,
    agentId: null,
    createdAt: someTime,
    updatedAt: someTime,
    ...branch,
  }
}

/** A schedule that is due at a time. */
export function scheduleRow(schedule: Partial<ScheduleRecord> & { name: string }): ScheduleRecord {
  return {
    cron: null,
    everyMs: 1_000,
    timezone: 'UTC',
    overlap: 'skip',
    catchUp: 'one',
    jitterMs: 0,
    drafts: [{ id: 'draft' }],
    paused: false,
    nextTick: null,
    nextAt: null,
    queuedTick: null,
    taskId: null,
    last: null,
    createdAt: someTime,
    updatedAt: someTime,
    ...schedule,
  }
}

/** An unread message from alice to bob. */
export function mailRow(id: string, mail: Partial<MailRecord> = {}): Unnumbered<MailRecord> {
  return {
    id,
    board: 'main',
    sender: 'alice',
    recipient: 'bob',
    kind: 'message',
    topic: '',
    body: 'hello',
    requestId: null,
    verdict: null,
    createdAt: someTime,
    readAt: null,
    ...mail,
  }
}

/** An insight on `main` that no run has consumed. */
export function observationRow(
  observation: Partial<ObservationRecord> & { id: string },
): Unnumbered<ObservationRecord> {
  return {
    sessionId: 'session-1',
    branch: 'main',
    type: 'insight',
    content: 'The tests run in order.',
    outcome: null,
    taskId: null,
    agentId: null,
    statedBy: { kind: 'program' },
    createdAt: someTime,
    consolidatedBy: null,
    ...observation,
  }
}

/** An active fact on `main` that was not compared, judged or merged. */
export function factRow(fact: Partial<FactRecord> & { id: string }): Unnumbered<FactRecord> {
  return {
    branch: 'main',
    text: 'The tests run in order.',
    category: 'insight',
    confidence: 70,
    statedBy: [{ kind: 'program' }],
    sessionId: null,
    taskId: null,
    agentId: null,
    observationId: null,
    originId: null,
    status: 'active',
    successorId: null,
    disputed: false,
    verdict: null,
    comparedBy: null,
    mergedTo: null,
    mergedConfidence: null,
    createdAt: someTime,
    updatedAt: someTime,
    ...fact,
  }
}

/** A run of consolidation at the end of a session, in which nothing happened. */
export function consolidationRow(run: Partial<ConsolidationRecord> & { id: string }): Unnumbered<ConsolidationRecord> {
  return {
    type: 'session_end',
    sourceBranch: 'main',
    targetBranch: 'main',
    sessionId: null,
    agentId: null,
    taskId: null,
    trigger: 'ability',
    observationsProcessed: 0,
    factsCreated: 0,
    factsUpdated: 0,
    factsDeduplicated: 0,
    durable: null,
    ephemeral: null,
    merged: null,
    rejected: null,
    summary: null,
    at: someTime,
    ...run,
  }
}

/** The decision of a run that a fact was made. */
export function decisionRow(
  decision: Partial<DecisionRecord> & { consolidationId: string; factId: string },
): Unnumbered<DecisionRecord> {
  return {
    kind: 'created',
    otherId: null,
    observationId: null,
    similarity: null,
    before: null,
    after: null,
    note: null,
    ...decision,
  }
}

/** The team of a task whose branch is below `main`. */
export function teamRow(team: Partial<TeamRecord> & { taskId: string; branch: string }): TeamRecord {
  return {
    type: null,
    parentBranch: 'main',
    durableThreshold: null,
    durableCategories: null,
    summary: null,
    checkpointId: null,
    mergeId: null,
    closedAt: null,
    createdAt: someTime,
    ...team,
  }
}

/** The first objective of a task, still to be done. */
export function objectiveRow(objective: Partial<ObjectiveRecord> & { taskId: string }): ObjectiveRecord {
  return {
    number: 1,
    description: 'Find the cause',
    status: 'todo',
    agentId: null,
    notes: null,
    updatedAt: someTime,
    ...objective,
  }
}

/** An agent that works on a task for the first time, from outside. */
export function stintRow(
  stint: Partial<StintRecord> & { taskId: string; agentId: string; branch: string },
): StintRecord {
  return {
    number: 1,
    role: null,
    status: 'active',
    objectives: [],
    summary: null,
    workerId: null,
    joinedAt: someTime,
    leftAt: null,
    ...stint,
  }
}
