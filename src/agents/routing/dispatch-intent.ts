// Executes an intent through the engine and returns the effect. A refusal of the engine is part of the effect.
import { z } from 'zod'
import { briefError, ErrandError, type ErrorCode, type StoredError } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { once } from '../../core/once.ts'
import { toStoredError } from '../../core/stored-error.ts'
import { openStatuses, type Task, type TaskStatus, taskStatuses } from '../../entities/task.ts'
import { taskFields } from '../../entities/task-fields.ts'
import { type HandlerEngine, listScope, type NewTask, type Scope, type TaskChanges } from './handler-engine.ts'
import type { Intent } from './intent.ts'

/** What was done, and to which task. */
export interface Effect {
  did: 'sent' | 'created' | 'paused' | 'resumed' | 'canceled' | 'listed' | 'status' | 'updated' | 'nothing'
  /** The task afterwards; null without one. */
  task: Task | null
  /** After `listed`: at most a hundred, by priority, then age. */
  tasks?: Task[]
  /** Why nothing was done, or a note on what was done. */
  reason?: string
  /** The error of a refusal. */
  error?: StoredError
}

export interface DispatchOptions extends Scope {
  /** The message of the user: the goal of a created task. Default: taken from the intent. */
  message?: string
}

type DispatchEngine = Pick<HandlerEngine, 'create' | 'pause' | 'resume' | 'cancel' | 'update' | 'list' | 'get'>

/**
 * Executes an intent. An intent that is `unknown`, or without the task or the values it needs, has no effect, and
 * `reason` says why.
 *
 * @example
 * const { did, task } = await dispatchIntent(engine, await recognizer.recognize('Stop the report', { availableTasks }))
 *
 * @throws ErrandError only for failures of the engine itself (`ENGINE_CLOSED`, `OUTCOME_UNKNOWN`, `LEDGER_*`).
 */
export async function dispatchIntent(
  engine: DispatchEngine,
  intent: Intent,
  options: DispatchOptions = {},
): Promise<Effect> {
  const { action, taskId } = intent
  if (action === 'unknown') return nothing('The intent was not recognized.')
  if (action === 'create_task') return createFrom(engine, intent, options)
  if (action === 'list_tasks') return listFor(engine, intent, options)
  if (taskId === null) return nothing(`${action} needs a task, and the intent names none of the available ones.`)
  return reportRefusal(engine, taskId, () => act(engine, action, taskId, intent))
}

/** Whether the intent can be executed as it is; otherwise the message may be meant for a task. */
export function canDispatch(intent: Intent): boolean {
  if (intent.action === 'unknown') return false
  return intent.action !== 'update_task' || Object.keys(changesIn(intent)).length > 0
}

type TaskAction = Exclude<Intent['action'], 'create_task' | 'list_tasks' | 'unknown'>

async function act(engine: DispatchEngine, action: TaskAction, taskId: string, intent: Intent): Promise<Effect> {
  switch (action) {
    case 'pause_task':
      return { did: 'paused', task: await engine.pause(taskId) }
    case 'resume_task':
      return { did: 'resumed', task: await engine.resume(taskId) }
    case 'cancel_task':
      return { did: 'canceled', task: await engine.cancel(taskId, read(intent, 'reason', reasonSchema())) }
    case 'get_task_status':
      return { did: 'status', task: await requireTask(engine, taskId) }
    case 'update_task':
      return updateFrom(engine, taskId, intent)
  }
}

async function createFrom(
  engine: DispatchEngine,
  intent: Intent,
  { message, parentId }: DispatchOptions,
): Promise<Effect> {
  const { name, description, priority } = changesIn(intent)
  const goal = message ?? read(intent, 'goal', textSchema()) ?? description ?? name
  if (goal === undefined) return nothing('create_task needs a goal, a description or a name, and the intent has none.')
  const task: NewTask = omitUndefined({ goal, name, description, priority, parentId })
  return reportRefusal(engine, null, async () => ({ did: 'created', task: await engine.create(task) }))
}

async function listFor(engine: DispatchEngine, intent: Intent, scope: Scope): Promise<Effect> {
  const status = read(intent, 'status', listedSchema()) ?? 'open'
  const { tasks } = await engine.list({ ...listScope(scope), ...statusesOf(status), limit: maxListed })
  return { did: 'listed', task: null, tasks }
}

async function updateFrom(engine: DispatchEngine, taskId: string, intent: Intent): Promise<Effect> {
  const changes = changesIn(intent)
  if (Object.keys(changes).length > 0) return { did: 'updated', task: await engine.update(taskId, changes) }
  const reason = 'update_task changes the name, the description or the priority, and the intent has none of them.'
  return { did: 'nothing', task: await requireTask(engine, taskId), reason }
}

async function requireTask(engine: DispatchEngine, taskId: string): Promise<Task> {
  const task = await engine.get(taskId)
  if (task) return task
  throw new ErrandError('NOT_FOUND', `There is no task ${taskId}. \`list\` has the ids.`, { taskId })
}

// ── refusals ──

function isEngineFailure(code: ErrorCode): boolean {
  return code === 'ENGINE_CLOSED' || code === 'OUTCOME_UNKNOWN' || code.startsWith('LEDGER_')
}

/** Returns a refusal as an effect; a failure of the engine itself is thrown. */
export async function reportRefusal(
  engine: Pick<HandlerEngine, 'get'>,
  taskId: string | null,
  work: () => Promise<Effect>,
): Promise<Effect> {
  try {
    return await work()
  } catch (error) {
    if (!ErrandError.isInstance(error) || isEngineFailure(error.code)) throw error
    const task = taskId === null ? null : await engine.get(taskId)
    return { did: 'nothing', task, reason: error.message, error: briefError(toStoredError(error)) }
  }
}

const nothing = (reason: string): Effect => ({ did: 'nothing', task: null, reason })

// ── details of an intent ──

const maxListed = 100
const textSchema = once(() => z.string().trim().min(1))
const nameSchema = once(() => textSchema().max(500))
const reasonSchema = once(() => textSchema().max(500))
const listedSchema = once(() => z.enum([...taskStatuses, 'all']))

function changesIn(intent: Intent): TaskChanges {
  return omitUndefined({
    name: read(intent, 'name', nameSchema()),
    description: read(intent, 'description', textSchema()),
    priority: read(intent, 'priority', taskFields.priority.schema),
  })
}

/** A detail if it is valid; an invalid one does not invalidate the rest. */
function read<T>(intent: Intent, detail: string, schema: z.ZodType<T>): T | undefined {
  return Object.hasOwn(intent.details, detail) ? schema.safeParse(intent.details[detail]).data : undefined
}

function statusesOf(status: z.infer<ReturnType<typeof listedSchema>> | 'open'): { status?: TaskStatus[] } {
  if (status === 'all') return {}
  if (status !== 'open') return { status: [status] }
  return { status: [...openStatuses] }
}
