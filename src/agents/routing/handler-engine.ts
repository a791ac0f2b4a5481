// The part of an engine that is needed to act on a message, as a type of its own (which tests can implement), and
// routing among its open tasks.
import { openStatuses, type Task, type TaskStatus } from '../../entities/task.ts'
import type { AskModel } from './ask-model.ts'
import { extractMention } from './mention.ts'
import { type ContextMessage, type Route, route } from './route.ts'

/** A task to create from a message. */
export interface NewTask {
  goal: string
  name?: string
  description?: string
  priority?: number
  parentId?: string
}

/** What a message may change in a task. */
export type TaskChanges = Pick<NewTask, 'name' | 'description' | 'priority'>

/** Each method rejects with an `ErrandError` when it refuses. */
export interface HandlerEngine {
  create(task: NewTask): Promise<Task>
  /** Sends a text to a task; refused when the task is settled. */
  send(taskId: string, text: string): Promise<Task>
  pause(taskId: string): Promise<Task>
  resume(taskId: string): Promise<Task>
  cancel(taskId: string, reason?: string): Promise<Task>
  update(taskId: string, changes: TaskChanges): Promise<Task>
  list(options: { status?: TaskStatus[]; parentId?: string | null; limit?: number }): Promise<{ tasks: Task[] }>
  get(taskId: string): Promise<Task | null>
  messages(taskId: string): Promise<readonly ContextMessage[]>
}

/** Which tasks a message may be for. A mention still reaches any task. */
export interface Scope {
  /** Only the children of this task. */
  parentId?: string | undefined
  /** Only tasks without a parent. */
  rootsOnly?: boolean | undefined
}

const maxCandidates = 1_000

/** The scope as an option of `list`. */
export function listScope({ parentId, rootsOnly }: Scope): { parentId?: string | null } {
  if (parentId !== undefined) return { parentId }
  return rootsOnly ? { parentId: null } : {}
}

/** The tasks of the scope that are not settled; of more than a thousand the first by priority and age. */
export async function openTasks(engine: Pick<HandlerEngine, 'list'>, scope: Scope = {}): Promise<Task[]> {
  const { tasks } = await engine.list({ ...listScope(scope), status: [...openStatuses], limit: maxCandidates })
  return tasks
}

/**
 * `route` among the open tasks of an engine. Its tasks are listed only when the message mentions none.
 * @throws as `route`; any error of the engine.
 */
export async function routeInEngine(
  engine: Pick<HandlerEngine, 'get' | 'list' | 'messages'>,
  message: string,
  { ask, signal, candidates, ...scope }: Scope & { ask: AskModel; signal?: AbortSignal; candidates?: readonly Task[] },
): Promise<Route> {
  const isMentioned = typeof message === 'string' && extractMention(message) !== null
  return route(message, {
    candidates: candidates ?? (isMentioned ? [] : await openTasks(engine, scope)),
    find: (taskId) => engine.get(taskId),
    contextOf: (taskId) => engine.messages(taskId),
    ask,
    ...(signal ? { signal } : {}),
  })
}
