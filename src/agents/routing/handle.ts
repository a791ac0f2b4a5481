// Handles a message without a verb: it goes to the task that it mentions; else it is an intent that the engine can
// execute; else it goes to the task that it belongs to, or creates a new one. Returns what was done.
import { z } from 'zod'
import { briefError, ErrandError, type ErrorCode, type StoredError } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { once } from '../../core/once.ts'
import { parse, requireSpokenText } from '../../core/parse.ts'
import { toStoredError } from '../../core/stored-error.ts'
import { openStatuses, type Task, type TaskStatus, taskStatuses } from '../../entities/task.ts'
import { taskFields } from '../../entities/task-fields.ts'
import { type AskBus, type AskModel, askModelOf, type ModelChoice } from './ask-model.ts'
import {
  type HandlerEngine,
  listScope,
  type NewTask,
  openTasks,
  routeInEngine,
  type Scope,
  type TaskChanges,
} from './handler-engine.ts'
import { createIntentRecognizer, type Intent } from './intent.ts'
import { extractMention, type Mention } from './mention.ts'
import { shownTasks, whyUnreachable } from './route.ts'

export interface HandleOptions {
  /** Whether the message may be an intent: create, pause, resume, cancel, list, status, update. Default true. */
  intent?: boolean
  /** An intent with less confidence is treated as a message to a task. Default 0.7. */
  threshold?: number
  /** Default: the model passed to the handler, else the default one of the bus. */
  model?: ModelChoice
  /** Routes among the children of this task, and creates new tasks as its children. A mention reaches any task. */
  parentId?: string
  /** Routes only among tasks without a parent. A mention reaches any task. Default false. */
  rootsOnly?: boolean
  signal?: AbortSignal
}

/** What was done with a message. */
export interface Handled extends Effect {
  /** What decided: the mention, the intent, the route, or none of them (then a new task was created). */
  by: 'mention' | 'intent' | 'route' | 'none'
  /** 0 to 1: the confidence of that decision. */
  confidence: number
  /** The recognized intent, also when it was not executed; absent when no model was asked for one. */
  intent?: Intent
}

export interface HandlerParts {
  engine: HandlerEngine
  bus?: AskBus
  model?: ModelChoice
}

export type Handler = (message: string, options?: HandleOptions) => Promise<Handled>

const handleOptionsSchema = once(() =>
  z
    .strictObject({
      intent: z.boolean().default(true),
      threshold: z.number().min(0).max(1).default(0.7),
      model: z.custom<ModelChoice>().optional(),
      parentId: z.string().min(1).max(100).optional(),
      rootsOnly: z.boolean().default(false),
      signal: z.instanceof(AbortSignal).optional(),
    })
    .refine(
      ({ parentId, rootsOnly }) => parentId === undefined || !rootsOnly,
      '`parentId` and `rootsOnly` cannot be combined: pass only one of them',
    ),
)
type Settings = z.output<ReturnType<typeof handleOptionsSchema>> & { ask: AskModel }

/**
 * Creates the function behind `engine.handle`. A mention needs no model; without any model, messages still go to a
 * single open task, or create a new one.
 *
 * A refusal of the engine is returned (`did: 'nothing'`, with `reason` and `error`), not thrown.
 *
 * @example
 * const handle = createHandler({ engine, bus })
 * const { did, task } = await handle('Please pause the report')
 *
 * @throws ErrandError (from the handler) UNKNOWN_OPTION, INVALID_INPUT for bad arguments; failures of the engine
 *   itself; the reason of an aborted `signal`, in which case nothing was done.
 */
export function createHandler({ engine, bus, model }: HandlerParts): Handler {
  return async (message, options = {}) => {
    const parsed = parse(handleOptionsSchema, options, 'handle')
    const settings = { ...parsed, ask: askModelOf(parsed.model ?? model, bus) }
    const text = requireMessage(message)
    const mention = extractMention(text)
    return mention ? followMention(engine, mention, settings) : handleWithoutMention(engine, text, settings)
  }
}

function requireMessage(message: string): string {
  const text = requireSpokenText(message, 'the message')
  if (text.trim() === '')
    throw new ErrandError('INVALID_INPUT', 'The message is empty. Pass text with at least one visible character.', {})
  return text
}

async function followMention(engine: HandlerEngine, { taskId, text }: Mention, { signal }: Settings): Promise<Handled> {
  const task = await engine.get(taskId)
  signal?.throwIfAborted()
  const decided = { by: 'mention', confidence: 1 } as const
  const reason = whyUnreachable(taskId, task)
  if (reason !== undefined) return { did: 'nothing', task, reason, ...decided }
  // A bare mention has no text to send: it returns the status of the task.
  if (text === '') return { did: 'status', task, ...decided }
  return { ...(await send(engine, taskId, text)), ...decided }
}

async function handleWithoutMention(engine: HandlerEngine, message: string, settings: Settings): Promise<Handled> {
  const { ask, signal, parentId, rootsOnly } = settings
  const candidates = await openTasks(engine, { parentId, rootsOnly })
  const intent = settings.intent ? await recognize(message, candidates, settings) : undefined
  const recognized = intent === undefined ? {} : { intent }
  if (intent && intent.confidence >= settings.threshold && canDispatch(intent)) {
    const effect = await dispatchIntent(engine, intent, { message, parentId, rootsOnly })
    return { ...effect, by: 'intent', confidence: intent.confidence, ...recognized }
  }
  const routed = await routeInEngine(engine, message, { ask, candidates, ...(signal ? { signal } : {}) })
  signal?.throwIfAborted()
  const { taskId, confidence, reason } = routed
  const effect = taskId === null ? await create(engine, message, parentId) : await send(engine, taskId, routed.text)
  const explanation = effect.reason ?? reason
  const by = taskId === null && confidence === 0 ? 'none' : 'route'
  return { ...effect, by, confidence, ...(explanation === undefined ? {} : { reason: explanation }), ...recognized }
}

function recognize(message: string, candidates: readonly Task[], { ask, signal }: Settings): Promise<Intent> {
  const recognizer = createIntentRecognizer({ model: ask })
  const availableTasks = shownTasks(candidates).map(({ id, name, status }) => ({ id, name, status }))
  return recognizer.recognize(message, { availableTasks, ...(signal ? { signal } : {}) })
}

function send(engine: HandlerEngine, taskId: string, text: string): Promise<Effect> {
  return reportRefusal(engine, taskId, async () => ({ did: 'sent', task: await engine.send(taskId, text) }))
}

function create(engine: HandlerEngine, goal: string, parentId: string | undefined): Promise<Effect> {
  const task = { goal, ...(parentId === undefined ? {} : { parentId }) }
  return reportRefusal(engine, null, async () => ({ did: 'created', task: await engine.create(task) }))
}

// Executes an intent through the engine and returns the effect. A refusal of the engine is part of the effect.

/** What was done, and to which task. */
interface Effect {
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

interface DispatchOptions extends Scope {
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
async function reportRefusal(
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
