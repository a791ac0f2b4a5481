// Handles a message without a verb: it goes to the task that it mentions; else it is an intent that the engine can
// execute; else it goes to the task that it belongs to, or creates a new one. Returns what was done.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import { parse, requireSpokenText } from '../../core/parse.ts'
import type { Task } from '../../entities/task.ts'
import { type AskBus, type AskModel, askModelOf, type ModelChoice } from './ask-model.ts'
import { canDispatch, dispatchIntent, type Effect, reportRefusal } from './dispatch-intent.ts'
import { type HandlerEngine, openTasks, routeInEngine } from './handler-engine.ts'
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
