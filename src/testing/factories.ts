// Rows for tests of a ledger: each a sound one, with whatever the test cares about put in its place.
import type { DependencyRecord } from '../entities/dependency.ts'
import type { RunRecord } from '../entities/run.ts'
import type { NewCall, NewEvent, NewMessage, NewTask } from '../ledger/ledger.ts'

/** A moment in 2030: rows are made at it unless they say otherwise. */
export const someTime: number = Date.UTC(2030, 0, 1)

/** A submitted task. Its snapshot is its machine's image only in name: a ledger keeps it as text. */
export function taskRow(task: Partial<NewTask> & { id: string }): NewTask {
  return {
    key: null,
    name: task.id,
    goal: null,
    description: '',
    status: 'submitted',
    statusReason: null,
    group: false,
    ready: false,
    claimable: false,
    held: false,
    executor: null,
    input: null,
    result: null,
    error: null,
    priority: 0,
    parentId: null,
    lane: '',
    depth: 0,
    childCount: 0,
    owner: null,
    fence: 0,
    leaseMs: null,
    leaseUntil: null,
    role: null,
    tags: [],
    attempt: 1,
    run: 0,
    runOpen: false,
    openBlockers: 0,
    wakes: 0,
    crashes: 0,
    notBefore: null,
    deadline: null,
    policy: {},
    metadata: {},
    progress: null,
    snapshot: '{}',
    version: 1,
    createdAt: someTime,
    updatedAt: someTime,
    completedAt: null,
    deletedAt: null,
    ...task,
  }
}

/** A live run, its first. */
export function runRow(run: Partial<RunRecord> & { taskId: string }): RunRecord {
  return {
    number: 1,
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
    attempt: 1,
    kind: 'call',
    name: 'fetch',
    ident: 'p:null',
    ordinal: 0,
    params: null,
    status: 'in_progress',
    onInterrupt: 'fail',
    details: null,
    result: null,
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
    ident: null,
    ordinal: 0,
    timestamp: someTime,
    ...message,
  }
}

/** An event about a task. */
export function eventRow(event: Partial<NewEvent> & { taskId: string }): NewEvent {
  return { type: 'task.updated', at: someTime, instanceId: 'engine-1', data: {}, ...event }
}

/** An open edge: the one task comes after the other. */
export function edgeRow(edge: Partial<DependencyRecord> & { taskId: string; blockerId: string }): DependencyRecord {
  return { kind: 'after', callId: '', satisfiedAt: null, createdAt: someTime, ...edge }
}
