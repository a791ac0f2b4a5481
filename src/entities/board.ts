// The board: the tasks of a ledger with short numbers, in the vocabulary of coding agents. Vocabulary and stored records; the
// operations are in `board/`.
import { z } from 'zod'
import type { TaskRecord, TaskStatus } from './task.ts'
import { maxTaskIdLength } from './task-id.ts'

/** The board that every ledger has, with all of its tasks. */
export const mainBoard = 'main'

/**
 * The board's statuses. `failed` and `deleted` are tasks that ended without being completed; a deleted task is no
 * longer on the board.
 */
export const boardStatuses = ['pending', 'in_progress', 'completed', 'failed', 'deleted'] as const
export type BoardStatus = (typeof boardStatuses)[number]

/** The board's status of a task. A task whose holder was lost or released it may be claimed, and so is pending. */
export function boardStatusOf({ status, statusReason }: Pick<TaskRecord, 'status' | 'statusReason'>): BoardStatus {
  switch (status) {
    case 'submitted':
      return 'pending'
    case 'working':
    case 'paused':
    case 'input_required':
      return 'in_progress'
    case 'waiting':
      return statusReason === 'interrupted' || statusReason === 'released' ? 'pending' : 'in_progress'
    case 'completed':
      return 'completed'
    case 'failed':
      return 'failed'
    case 'canceled':
      return 'deleted'
  }
}

/** A row of the board table: a list of tasks with numbers of its own. */
export interface BoardRecord {
  name: string
  /** Only tasks below this one are on it; null: all of the ledger. */
  parentId: string | null
  /** The next number. Numbers are never reused. */
  nextNumber: number
  /** `seq` of the latest task that has been considered; younger tasks have no number yet. */
  seenSeq: number
  createdAt: number
}

/** The board's own fields of a task. */
export interface BoardFields {
  /** Shown while the task is in progress: "Writing tests". */
  activeForm?: string | undefined
  /** The directory or worktree that is bound to it, and the period of work for which it is bound (`stretchOf`). */
  workspace?: string
  boundIn?: string
  /** Unknown keys of an imported file, kept for the export. */
  extra?: Record<string, unknown> | undefined
  /** Where an imported file differs from what the board can express; used by the export only. */
  file?: ImportedFile
}

/** The details of an imported file that the export restores. Set by the import, and by an edit of the line break. */
export interface ImportedFile {
  /** By key: the value in the file (absent: none), and the board's value at that time. The file's value is exported while the board's is unchanged. */
  differs: Record<string, { was?: unknown; shown?: unknown }>
  /** The order of its keys, if it is not the default order. */
  keys?: string[]
  /** Its text ends with a line break. */
  newline?: boolean
}

/** Identifies the period of work for which a binding lasts: from a claim or a retry to the next one, on any surface. */
export function stretchOf({ attempt, fence }: Pick<TaskRecord, 'attempt' | 'fence'>): string {
  return `${attempt}/${fence}`
}

/** The workspace that is bound to a task; undefined as soon as the work on it has ended in any way. */
export function workspaceOf(
  task: Pick<TaskRecord, 'status' | 'statusReason' | 'attempt' | 'fence'>,
  { workspace, boundIn }: BoardFields,
): string | undefined {
  return boardStatusOf(task) === 'in_progress' && boundIn === stretchOf(task) ? workspace : undefined
}

/** A row of the board_task table: the number of a task on a board. */
export interface BoardEntry {
  board: string
  number: number
  taskId: string
  fields: BoardFields
}

/** A task by its number on the board, or by its id when it is on another board. */
export type BoardRef = number | string
export const boardRefSchema = z
  .union([z.int().min(1), z.string().trim().min(1).max(maxTaskIdLength)])
  .describe('Number of the task on the board, or its id.')

/** A task as the board shows it. Times are epoch milliseconds. */
export interface BoardTask {
  id: number
  subject: string
  description: string
  status: BoardStatus
  /** Its open dependencies. */
  blockedBy: BoardRef[]
  /** Its dependents, still blocked or not. */
  blocks: BoardRef[]
  /** The worker that is on it, is assigned to it, or has completed it; '' for none. */
  owner: string
  activeForm?: string
  workspace?: string
  /** Higher first. */
  priority: number
  metadata: Record<string, unknown>
  /** Only agents of this role may claim it. */
  role?: string
  tags: string[]
  /** The parent task. */
  parent?: BoardRef
  /** All dependencies, open and satisfied, in order. */
  dependencies: BoardRef[]
  /** Pending and unblocked without an owner: it may be claimed. */
  ready: boolean
  /** Its executor runs it as soon as a slot is free and its last run is closed. */
  queued: boolean
  /** Its id in the ledger and on every other surface. */
  taskId: string
  /** The engine's status, and the reason for it. */
  canonicalStatus: TaskStatus
  statusReason: string | null
  /** Number of its latest claim; 0 before the first. */
  fence: number
  /** When the claim lapses unless its owner renews it; null without a lease. */
  leaseUntil: number | null
  /** Absent for a task that is claimed. */
  executor?: string
  progress?: { fraction: number; note: string | null }
  result?: unknown
  error?: { code: string; message: string }
  createdAt: number
  updatedAt: number
  completedAt: number | null
  /** Unknown keys of an imported file. */
  extra?: Record<string, unknown>
}

/** A message between members of a team, kept until it is read. */
export interface MailRecord {
  seq: number
  id: string
  board: string
  sender: string
  recipient: string
  /** `message`, or a request to be approved or rejected, or the response to one. */
  kind: 'message' | 'request' | 'response'
  /** The subject of a request: `shutdown`, `plan_approval`, … ; empty for a plain message. */
  topic: string
  body: string
  /** Of a request and of its answer; null for a plain message. */
  requestId: string | null
  /** Of a request: pending until it is answered. Of a response: its verdict. Null for a plain message. */
  verdict: 'pending' | 'approved' | 'rejected' | null
  createdAt: number
  /** When its recipient read it. */
  readAt: number | null
}

/** One version of a mirrored file. The text contains `version`, so that an edit names the version that it is based on. */
export interface MirroredText {
  dir: string
  number: number
  version: number
  text: string
}
