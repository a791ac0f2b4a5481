// Input and output fields that the abilities of the board share.
import { z } from 'zod'
import { durationSchema } from '../../core/duration-schema.ts'
import { once } from '../../core/once.ts'
import { anyObject, spokenText } from '../../core/parse.ts'
import { type BoardRef, boardRefSchema, boardStatuses, mainBoard } from '../../entities/board.ts'
import { taskStatuses } from '../../entities/task.ts'
import { taskFields, wordSchema } from '../../entities/task-fields.ts'
import { isRecognizedId } from '../../entities/task-id.ts'
import { asSchema, fenceSchema } from '../../operations/acting-as.ts'

export const boardSchema = wordSchema.default(mainBoard).describe('Default: main, all tasks of the ledger.')
export const refsSchema = once(() => z.array(boardRefSchema).max(10_000))
export const tagsSchema = taskFields.tags.schema
export const leaseSchema = once(() =>
  durationSchema({ min: 1 }).describe(
    'The claim expires after this many milliseconds without a heartbeat. Default: never.',
  ),
)
export const workspaceSchema = once(() =>
  z
    .string()
    .trim()
    .min(1)
    .max(4_096)
    // Trailing slashes do not make a different directory.
    .overwrite((path) => path.replace(/(?<=[^/])\/+$/, ''))
    .describe('Directory or worktree reserved for this task while it is in progress.'),
)

export const resultSchema = once(() => z.json().optional())
export const reasonSchema = once(() => spokenText().trim().min(1).max(500).optional())

/** Why a claim is given back whose answer did not reach the claimant. */
export const undelivered = 'the answer was not delivered'

/** Identifies a task on a board. */
export const oneTaskSchema = once(() => z.strictObject({ id: boardRefSchema, board: boardSchema }))
/** Identifies a claim by its owner and fence. */
export const ownerShape = once(() => ({ as: asSchema.optional(), fence: fenceSchema().optional() }))
/** Identifies the claimant. */
export const claimantShape = {
  as: asSchema.optional(),
  role: wordSchema.optional().describe('Role of the agent.'),
}
/** Terms of a claim. */
export const termsShape = once(() => ({ leaseMs: leaseSchema().optional(), workspace: workspaceSchema().optional() }))
/** Selects the task to claim next. */
export const nextClaimShape = once(() => ({
  ...claimantShape,
  tags: tagsSchema.optional(),
  parent: boardRefSchema.optional().describe('Only subtasks of this task.'),
  ...termsShape(),
}))

/** A task as every ability of the board returns it. */
export const boardTaskSchema = once(() =>
  z.object({
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
    metadata: anyObject(),
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
  }),
)

export const taskSchema = once(() => z.object({ task: boardTaskSchema() }))

/** A task that is no longer blocked. */
export const unblockedTaskSchema = once(() => z.object({ id: z.int(), subject: z.string(), taskId: z.string() }))

/** A task after a change, with the tasks that the change unblocked. */
export const changedSchema = once(() =>
  z.object({ task: boardTaskSchema(), unblocked: z.array(unblockedTaskSchema()) }),
)

/** The task ids among the references of an input. Numbers are resolved and validated in the transaction itself. */
export function idsAmong(...refs: ReadonlyArray<BoardRef | readonly BoardRef[] | undefined>): string[] {
  return refs.flat().filter((ref): ref is string => typeof ref === 'string' && isRecognizedId(ref))
}
