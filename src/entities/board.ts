// The board: the tasks of a ledger under short numbers, in the words that coding agents and people use. Vocabulary and shapes of
// what is stored; what is done with them lives in `board/`.
import { z } from 'zod'
import type { TaskRecord, TaskStatus } from './task.ts'

/** The board that every ledger has: all tasks of it. */
export const mainBoard = 'main'

/**
 * What the board calls a state. `failed` and `deleted` are its words for tasks that ended without being completed (conformance 1.1);
 * a task that was deleted for good is not on it any more.
 */
export const boardStatuses = ['pending', 'in_progress', 'completed', 'failed', 'deleted'] as const
export type BoardStatus = (typeof boardStatuses)[number]

/** The board's word for a state (conformance 1.1). A task whose holder was lost or let go is anybody's, and so pending. */
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
  /** The next number to give. Numbers are never given twice. */
  nextNumber: number
  /** `seq` of the latest task that was looked at: what is younger has yet to get a number. */
  seenSeq: number
  createdAt: number
}

/** What the board knows of a task beside what the task itself holds. */
export interface BoardFields {
  /** What is being done, as people read it while the task is in progress: "Writing tests". */
  activeForm?: string | undefined
  /** The directory or worktree that is bound to it, and the stretch of work that it is bound for. */
  workspace?: string
  boundIn?: string
  /** Keys of an imported file that nothing here has a word for, kept for the way back. */
  extra?: Record<string, unknown> | undefined
  /** What an imported file said otherwise than the board can; for the files only, and shown nowhere else. */
  file?: ImportedFile
}

/** What has to be known of an imported file so that export can give it back. Set by the import, and by an edit of the line break. */
export interface ImportedFile {
  /** By key: what stood in the file (absent: nothing), and what the board showed for it then. While it shows the same, the file's own stands. */
  differs: Record<string, { was?: unknown; shown?: unknown }>
  /** The order of its keys, where it was not the usual one. */
  keys?: string[]
  /** Its text ends with a line break. */
  newline?: boolean
}

/** What a binding lasts for: from a claim (or a retry) to the next one, whoever made it and on whichever surface. */
export function stretchOf({ attempt, fence }: Pick<TaskRecord, 'attempt' | 'fence'>): string {
  return `${attempt}/${fence}`
}

/** The workspace that is bound to a task; none as soon as nobody works on it, whichever way that ended. */
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

/** A task by its number on the board, or by its id where it is on another. */
export type BoardRef = number | string
export const boardRefSchema = z
  .union([z.int().min(1), z.string().trim().min(1).max(100)])
  .describe('Number of the task on the board, or its id.')

/** A task as the board shows it. Times are epoch milliseconds. */
export interface BoardTask {
  id: number
  subject: string
  description: string
  status: BoardStatus
  /** What it still waits for. */
  blockedBy: BoardRef[]
  /** What comes after it, freed by now or not. */
  blocks: BoardRef[]
  /** Who works on it, is meant to, or has completed it; '' for nobody. */
  owner: string
  activeForm?: string
  workspace?: string
  /** Higher first. */
  priority: number
  metadata: Record<string, unknown>
  /** Only agents of this role may claim it. */
  role?: string
  tags: string[]
  /** The task above it. */
  parent?: BoardRef
  /** All that it was ever told to come after, in order. */
  dependencies: BoardRef[]
  /** Pending, with nothing in its way and nobody on it: it may be claimed. */
  ready: boolean
  /** Its executor runs it as soon as a slot is free and its last run is closed. */
  queued: boolean
  /** Its id in the ledger, on every other surface. */
  taskId: string
  /** The engine's own word for `status`, and why it is so. */
  canonicalStatus: TaskStatus
  statusReason: string | null
  /** Number of its latest claim; 0 before the first. */
  fence: number
  /** When the claim lapses unless its owner gives a sign of life; null without a lease. */
  leaseUntil: number | null
  /** Who runs it; absent for a task that is claimed. */
  executor?: string
  progress?: { fraction: number; note: string | null }
  result?: unknown
  error?: { code: string; message: string }
  createdAt: number
  updatedAt: number
  completedAt: number | null
  /** Keys of an imported file that nothing here has a word for. */
  extra?: Record<string, unknown>
}

/** A message between members of a team, kept until it is read. */
export interface MailRecord {
  seq: number
  id: string
  board: string
  sender: string
  recipient: string
  /** `message`, or a request that wants a yes or a no, or the answer to one. */
  kind: 'message' | 'request' | 'response'
  /** What a request is about: `shutdown`, `plan_approval`, … ; empty for a plain message. */
  topic: string
  body: string
  /** Of a request and of its answer; null for a plain message. */
  requestId: string | null
  /** Of a request: pending until somebody has answered. Of an answer: what it says. Null for a plain message. */
  verdict: 'pending' | 'approved' | 'rejected' | null
  createdAt: number
  /** When its recipient took it out of the inbox. */
  readAt: number | null
}

/** One text of a mirrored file. `version` stands in it, so that an edit says what it was made from. */
export interface MirroredText {
  dir: string
  number: number
  version: number
  text: string
}
