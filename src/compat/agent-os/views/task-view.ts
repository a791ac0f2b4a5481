// The views of a task: as an item of a list, in full, and as the record of the ledger abilities. Each has the process status and the
// canonical status, so that nothing is lost in translation.
import { z } from 'zod'
import { chatOf } from '../../../entities/chat-message.ts'
import { conversationOf } from '../../../entities/conversation.ts'
import type { MessageRecord } from '../../../entities/message.ts'
import { questionSchema } from '../../../entities/question.ts'
import { type TaskRecord, taskStatuses } from '../../../entities/task.ts'
import type { Op, Reads } from '../../../ledger/ledger.ts'
import { isFree } from '../../../machines/readiness.ts'
import { defaultSystemPrompt } from '../../../operations/drafts/agent-draft.ts'
import { openQuestions } from '../../../operations/steps/explain.ts'
import { wholeTaskSchema } from '../../../operations/views/whole-task.ts'
import { completionStatusOf, processStatuses, processStatusOf } from './status-mapping.ts'

/** Times are epoch milliseconds. */
export const taskItemSchema = z.object({
  id: z.string(),
  /** The name if the task has no goal. */
  goal: z.string(),
  name: z.string(),
  status: z.enum(processStatuses),
  /** The engine's status; `status` is the process status. */
  canonicalStatus: z.enum(taskStatuses),
  /** Why it has this status: the reason given to kill or cancel it, `interrupted`, `released`; else null. */
  statusReason: z.string().nullable(),
  /** Whether it waits only for a slot and the end of its last run, or, without an executor, to be claimed. */
  ready: z.boolean(),
  /** Absent for a root. */
  parentTaskId: z.string().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** Absent until settled. */
  completedAt: z.number().optional(),
})

const chatMessageSchema = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  tool_calls: z
    .array(
      z.object({
        id: z.string(),
        type: z.literal('function'),
        function: z.object({ name: z.string(), arguments: z.string() }),
      }),
    )
    .optional(),
  tool_call_id: z.string().optional(),
  name: z.string().optional(),
})

/** A message of a task's context, as models read it. */
export type ChatMessage = z.output<typeof chatMessageSchema>
/** A call that a message of an assistant asks for. */
export type ToolCall = NonNullable<ChatMessage['tool_calls']>[number]

export const taskDetailSchema = taskItemSchema.extend({
  ...wholeTaskSchema().pick({ description: true, priority: true, executor: true, owner: true }).shape,
  /** How it ended, as in the ledger's record; absent until then. */
  completionStatus: z.string().optional(),
  /** Null until completed. */
  result: z.unknown(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  /** Ids of the tasks that must be completed first. */
  blockedBy: z.array(z.string()),
  /** Its branch of memory, shared by its team; absent if it has none. */
  branch: z.string().optional(),
  questions: z.array(questionSchema().pick({ id: true, question: true, schema: true })),
  progress: wholeTaskSchema().shape.progress,
  /** The metadata given at creation; `iterationCount`, `lastMessageAt` and `totalTokens` are set by the engine. */
  metadata: z.looseObject({
    iterationCount: z.number(),
    lastMessageAt: z.number().optional(),
    totalTokens: z.number().optional(),
  }),
  /** The conversation as chat messages; only if requested. */
  context: z.array(chatMessageSchema).optional(),
})
type TaskDetail = z.output<typeof taskDetailSchema>

export const taskRecordSchema = z.object({
  ...taskItemSchema.pick({ id: true, parentTaskId: true }).shape,
  /** Absent while unsettled; else `success`, `cancelled`, `failed` or `failed: <reason>`. */
  completionStatus: z.string().optional(),
  systemPrompt: z.string(),
  ...taskItemSchema.pick({ createdAt: true, updatedAt: true, canonicalStatus: true, statusReason: true }).shape,
})
export type LedgerTask = z.output<typeof taskRecordSchema>

export function toItem(task: TaskRecord): z.output<typeof taskItemSchema> {
  return {
    id: task.id,
    goal: task.goal ?? task.name,
    name: task.name,
    status: processStatusOf(task),
    canonicalStatus: task.status,
    statusReason: task.statusReason,
    ready: isFree(task),
    ...(task.parentId === null ? {} : { parentTaskId: task.parentId }),
    createdAt: task.createdAt,
    updatedAt: task.updatedAt,
    ...(task.completedAt === null ? {} : { completedAt: task.completedAt }),
  }
}

/** The full view of a task; with `includeContext` its conversation too. */
export function* readDetail(tx: Reads, task: TaskRecord, includeContext: boolean): Op<TaskDetail> {
  const messages = yield* tx.message.list(task.id)
  const completionStatus = completionStatusOf(task)
  const questions = task.status === 'input_required' ? yield* openQuestions(tx, task.id) : []
  const branch = yield* tx.branch.ofTask(task.id)
  return {
    ...toItem(task),
    description: task.description,
    priority: task.priority,
    executor: task.executor,
    owner: task.owner,
    ...(completionStatus === undefined ? {} : { completionStatus }),
    result: task.result,
    error: task.error,
    blockedBy: task.openBlockers === 0 ? [] : yield* tx.dependency.openBlockers(task.id),
    ...(branch === undefined ? {} : { branch: branch.name }),
    questions: questions.map(({ id, question, schema }) => ({ id, question, schema })),
    progress: task.progress,
    metadata: { ...task.metadata, ...statsOf(messages) },
    ...(includeContext ? { context: chatOf(conversationOf(messages, yield* tx.call.list(task.id, ['call']))) } : {}),
  }
}

/** Number of model steps, time of the last message sent to the task, and total tokens as far as the provider reported them. */
function statsOf(messages: readonly MessageRecord[]): TaskDetail['metadata'] {
  const steps = messages.flatMap(({ step }) => (step === null ? [] : [step]))
  const lastMessageAt = messages.findLast(({ delivery }) => delivery !== null)?.timestamp
  const tokens = steps.flatMap(({ usage: { totalTokens } }) => (totalTokens === null ? [] : [totalTokens]))
  return {
    iterationCount: steps.length,
    ...(lastMessageAt === undefined ? {} : { lastMessageAt }),
    ...(tokens.length === 0 ? {} : { totalTokens: tokens.reduce((sum, each) => sum + each, 0) }),
  }
}

/** `systemPrompt`: the task's own instructions, else the system message of its conversation, else the default. */
export function* readLedgerTask(tx: Reads, task: TaskRecord): Op<LedgerTask> {
  const [opening] = (yield* tx.message.page(task.id, 0, 1)).rows
  const opened = opening?.role === 'system' ? opening.content : undefined
  const completionStatus = completionStatusOf(task)
  return {
    id: task.id,
    ...(task.parentId === null ? {} : { parentTaskId: task.parentId }),
    ...(completionStatus === undefined ? {} : { completionStatus }),
    systemPrompt: task.policy.systemPrompt ?? opened ?? defaultSystemPrompt,
    createdAt: task.createdAt,
    updatedAt: task.updatedAt,
    canonicalStatus: task.status,
    statusReason: task.statusReason,
  }
}
