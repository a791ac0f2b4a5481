// Pieces of input and output that the abilities of the board have in common.
import { z } from 'zod'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { type BoardRef, boardRefSchema, boardStatuses, mainBoard } from '../../entities/board.ts'
import { taskStatuses } from '../../entities/task.ts'
import { taskFields, wordSchema } from '../../entities/task-fields.ts'

export const boardSchema = wordSchema
  .default(mainBoard)
  .describe('Which board. Default: main, all tasks of the ledger.')
export const refsSchema = z.array(boardRefSchema).max(10_000)
export const asSchema = wordSchema.describe('Who acts: the name of the agent or person.')
export const fenceSchema = z.int().min(1).describe('Number of the claim, as `claim` returned it.')
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

export const resultSchema = z.json().optional()
export const reasonSchema = z.string().trim().min(1).max(500).optional()

/** Which task of which board. */
export const oneTaskSchema = z.strictObject({ id: boardRefSchema, board: boardSchema })
/** Whose claim it is, and which. */
export const ownerShape = { as: asSchema.optional(), fence: fenceSchema.optional() }
/** Who claims. */
export const claimantShape = {
  as: asSchema.optional(),
  role: wordSchema.optional().describe('Role that the agent has.'),
}
/** What holds for a claim. */
export const termsShape = { leaseMs: leaseSchema.optional(), workspace: workspaceSchema.optional() }
/** Who claims the best there is, and of which tasks. */
export const nextClaimShape = {
  ...claimantShape,
  tags: tagsSchema.optional(),
  parent: boardRefSchema.optional().describe('Only the parts of this task.'),
  ...termsShape,
}

/** A task of the board as every ability of it returns it. */
export const boardTaskSchema = z.object({
  id: z.int(),
  subject: z.string(),
  description: z.string(),
  status: z.enum(boardStatuses),
  blockedBy: z.array(boardRefSchema),
  blocks: z.array(boardRefSchema),
  owner: z.string(),
  activeForm: z.string().optional(),
  workspace: z.string().optional(),
  priority: z.number(),
  metadata: z.record(z.string(), z.unknown()),
  role: z.string().optional(),
  tags: z.array(z.string()),
  parent: boardRefSchema.optional(),
  dependencies: z.array(boardRefSchema),
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

export const taskSchema = z.object({ task: boardTaskSchema })

/** A task that came free. */
export const freedSchema = z.object({ id: z.int(), subject: z.string(), taskId: z.string() })

/** A task after a change, with those that came free by it. */
export const changedSchema = z.object({ task: boardTaskSchema, unblocked: z.array(freedSchema) })

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
