// Pieces of input and output that the abilities of the board have in common.
import { z } from 'zod'
import type { BoardPlace } from '../../board/board-host.ts'
import type { Caller } from '../../bus/caller.ts'
import { type BoardRef, type BoardTask, boardStatuses, mainBoard } from '../../entities/board.ts'
import { taskStatuses } from '../../entities/task.ts'
import { fieldsFor, taskFields, wordSchema } from '../../entities/task-fields.ts'
import { ErrandError } from '../../errors.ts'

const { name: subject, description, priority, role, tags, executor, input } = fieldsFor('board')

/** What a task of the board is created and changed with; its name is called a subject here. */
export const boardFields = {
  subject,
  description,
  activeForm: z.string().max(1_000).optional().describe('What is shown while it is done: "Writing tests".'),
  owner: z.string().trim().max(100).optional().describe('Who shall claim it; empty for anybody.'),
  priority,
  metadata: z.record(z.string(), z.json()).optional(),
  role,
  tags,
}
/** What it is created with besides. */
export const workFields = { executor, input }

export const boardSchema = wordSchema
  .default(mainBoard)
  .describe('Which board. Default: main, all tasks of the ledger.')
export const refSchema = z
  .union([z.int().min(1), z.string().trim().min(1).max(100)])
  .describe('Number of the task on the board, or its id.')
export const refsSchema = z.array(refSchema).max(10_000)
export const asSchema = wordSchema.describe('Who acts: the name of the agent or person.')
export const fenceSchema = z.int().min(1).describe('Number of the claim, as `claim` returned it.')
export const roleSchema = wordSchema
export const tagsSchema = taskFields.tags.schema
export const leaseSchema = z
  .number()
  .min(1)
  .max(8.64e15)
  .describe('The claim lapses after so many milliseconds without a sign of life. Default: never.')
export const workspaceSchema = z
  .string()
  .trim()
  .min(1)
  .max(4_096)
  // One tree in both spellings.
  .overwrite((path) => path.replace(/(?<=[^/])\/+$/, ''))
  .describe('Directory or worktree that is bound to it while it is in progress, and to nothing else meanwhile.')

/** A task of the board as every ability of it returns it. */
export const boardTaskSchema = z.object({
  id: z.int(),
  subject: z.string(),
  description: z.string(),
  status: z.enum(boardStatuses),
  blockedBy: z.array(refSchema),
  blocks: z.array(refSchema),
  owner: z.string(),
  activeForm: z.string().optional(),
  workspace: z.string().optional(),
  priority: z.number(),
  metadata: z.record(z.string(), z.unknown()),
  role: z.string().optional(),
  tags: z.array(z.string()),
  parent: refSchema.optional(),
  dependencies: z.array(refSchema),
  ready: z.boolean(),
  queued: z.boolean(),
  taskId: z.string(),
  canonicalStatus: z.enum(taskStatuses),
  statusReason: z.string().nullable(),
  fence: z.number(),
  leaseUntil: z.number().nullable(),
  executor: z.string().optional(),
  progress: z.object({ fraction: z.number(), note: z.string().nullable() }).optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  completedAt: z.number().nullable(),
  extra: z.record(z.string(), z.unknown()).optional(),
})

/** The schema's word for what the board returns. */
export function shown(task: BoardTask): z.input<typeof boardTaskSchema> {
  return task
}

/** A task that came free. */
export const freedSchema = z.object({ id: z.int(), subject: z.string(), taskId: z.string() })

export function freed({ id, subject, taskId }: BoardTask): z.output<typeof freedSchema> {
  return { id, subject, taskId }
}

/** The board as this caller sees it. */
export function placeOf(board: string, caller: Caller): BoardPlace {
  return { board, caller }
}

/** In whose name a caller writes: a model in that of its task, a surface that knows its user in the user's; else who it says. */
export function nameOf(caller: Caller, as: string | undefined): string | undefined {
  return caller.taskId ?? caller.owner ?? as
}

/** @param field of the input, in which it is said. @throws ErrandError INVALID_INPUT { field } where nobody says who claims. */
export function requireName(caller: Caller, said: string | undefined, field: 'as' | 'owner' = 'as'): string {
  const name = nameOf(caller, said)
  if (name !== undefined) return name
  throw new ErrandError('INVALID_INPUT', `A claim is somebody's: say whose with \`${field}\`.`, { field })
}

/** Ids among the references of an input: numbers are looked up, and judged, in the transaction itself. */
export function idsAmong(...refs: ReadonlyArray<BoardRef | readonly BoardRef[] | undefined>): string[] {
  return refs.flat().filter((ref): ref is string => typeof ref === 'string' && ref.startsWith('task-'))
}
