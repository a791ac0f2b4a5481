// The responses of the engine's routes, as the page reads them. Types of the engine are reused where they exist.

import type { Call } from '../../../src/entities/call.ts'
import type { TaskEvent } from '../../../src/entities/event.ts'
import type { TaskMachine } from '../../../src/entities/machine-view.ts'
import type { ModelStep } from '../../../src/entities/message.ts'
import type { RunRecord } from '../../../src/entities/run.ts'
import type { ScheduleRecord } from '../../../src/entities/schedule.ts'
import type { Task, TaskStatus } from '../../../src/entities/task.ts'
import type { StreamItem, Why } from '../../../src/entities/views.ts'

export type { Question } from '../../../src/entities/question.ts'
export type { Call, RunRecord, StreamItem, Task, TaskEvent, TaskMachine, TaskStatus, Why }

/** A task as in lists. Times are epoch milliseconds. */
export interface TaskRow {
  id: string
  seq: number
  name: string
  status: TaskStatus
  statusReason: string | null
  ready: boolean
  held: boolean
  parentId: string | null
  executor: string | null
  group: boolean
  priority: number
  owner: string | null
  role: string | null
  tags: string[]
  attempt: number
  run: number
  childCount: number
  openBlockers: number
  progress: { fraction: number; note: string | null } | null
  error: { code: string; message: string } | null
  version: number
  createdAt: number
  updatedAt: number
  /** When its present attempt first became WORKING; null if it has not. */
  startedAt: number | null
  completedAt: number | null
}

export interface TaskRowsPage {
  tasks: TaskRow[]
  /** Number of current matches; null for the past. */
  total: number | null
  next: number | null
  /** Position of the feed at the time of the read. */
  seq: number
}

export interface ShownTask {
  task: Task & { version: number }
  dependencies: TaskRow[]
  dependents: TaskRow[]
  seq: number
}

/** A message of a conversation. */
export interface Message {
  id: string
  taskId: string
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  timestamp: number
  /** For people only; no model reads it. */
  announcement: boolean
  /** The step of a model that ended with this message. */
  step?: Pick<ModelStep, 'modelId' | 'usage' | 'tookMs'>
  /** What the model thought before this message. */
  reasoning?: string
}

export interface EventPage {
  events: TaskEvent[]
  next: number | null
  seq: number
}

export interface EngineStatus {
  instanceId: string
  at: number
  seq: number
  tasks: Record<TaskStatus, number>
  queued: number
  claimable: number
  working: boolean
  slots: { used: number; free: number; maxConcurrent: number }
  running: Array<{ taskId: string; name: string; executor: string; run: number; since: number; parked: boolean }>
  executors: string[]
}

/** An engine on the ledger. Times are epoch milliseconds. */
export interface Instance {
  id: string
  pid: number
  host: string
  startedAt: number
  leaseUntil: number
  endedAt: number | null
  state: 'working' | 'silent' | 'lost' | 'ended'
  /** It serves this page. */
  own: boolean
}

/** Starts and ends of tasks over time. `from` in epoch milliseconds; each bucket is `widthMs` long. */
export interface EventCounts {
  from: number
  widthMs: number
  buckets: Array<{
    started: number
    completed: number
    failed: number
    canceled: number
    /** Mean; null if nothing started. */
    waitMs: number | null
  }>
}

/** An executor of the engine. */
export interface ExecutorInfo {
  name: string
  /** JSON Schema of the input; null if it accepts any. */
  inputSchema: Record<string, unknown> | null
}

/** A machine as exported by the engine: the parts of its XState config that the page draws. */
type MachineExit = string | { target?: string }

export interface MachineConfig {
  id: string
  initial: string
  states: Record<string, { type?: string; on?: Record<string, MachineExit | MachineExit[]> }>
}

export interface Machine {
  id: string
  config: MachineConfig
  mermaid: string
}

/** A source of a fact, without the fields that the page does not use. */
export interface FactSource {
  kind: string
}

/** The context of a team's task. */
export interface TeamContext {
  task: { branch: string | null; type: string | null; summary: string | null; status: string }
  objectives: Array<{ id: number; description: string; status: string; agentId: string | null; notes: string | null }>
  agentSummaries: Array<{ agentId: string; role: string | null; summary: string }>
  activeAgents: Array<{ agentId: string; role: string | null; objectives: number[] }>
  keyFacts: Array<Pick<Fact, 'id' | 'text' | 'category' | 'confidence' | 'statedBy'> & { agentId: string | null }>
  progress: { total: number; done: number; active: number; todo: number; blocked: number }
}

/** A fact as listed by memory. */
export interface Fact {
  id: string
  text: string
  category: string
  /** 0 to 1. */
  confidence: number
  statedBy: FactSource[]
  status: string
  verdict?: string
  disputed?: true
  agentId?: string
  createdAt: number
}

export interface FactPage {
  facts: Fact[]
  next: number | null
}

/** A schedule as listed, without the fields that the page does not use. */
export interface Schedule
  extends Pick<ScheduleRecord, 'name' | 'cron' | 'everyMs' | 'timezone' | 'overlap' | 'paused'> {
  /** The next planned times; none while it is paused. */
  next: number[]
  last: (Pick<NonNullable<ScheduleRecord['last']>, 'tick' | 'outcome'> & { error?: { message: string } }) | null
  latest: { id: string; status: TaskStatus } | null
}

export interface SchedulePage {
  schedules: Schedule[]
  next: string | null
}

/** A problem (RFC 9457) with the engine's code and details. */
export interface Problem {
  status: number
  title: string
  detail: string
  code: string
  details: Record<string, unknown>
}
