// The open tasks of an engine as candidates of a message, and the way of a message among them.
import { openStatuses, type Task } from '../entities/task.ts'
import type { AskModel } from './ask-model.ts'
import type { HandlerEngine } from './handler-engine.ts'
import { extractMention } from './mention.ts'
import { type Route, route } from './route.ts'

/** Which tasks a message may be for. A mention reaches any task all the same. */
export interface Scope {
  /** Only the children of this task. */
  parentId?: string | undefined
  /** Only tasks without a parent. */
  rootsOnly?: boolean | undefined
}

const mostCandidates = 1_000

/** The scope as `list` takes it. */
export function listScope({ parentId, rootsOnly }: Scope): { parentId?: string | null } {
  if (parentId !== undefined) return { parentId }
  return rootsOnly ? { parentId: null } : {}
}

/** The tasks of the scope that are not settled; of more than a thousand the first by priority and age. */
export async function openTasks(engine: Pick<HandlerEngine, 'list'>, scope: Scope = {}): Promise<Task[]> {
  const { tasks } = await engine.list({ ...listScope(scope), status: [...openStatuses], limit: mostCandidates })
  return tasks
}

/**
 * `route` among the open tasks of an engine. Its tasks are listed only when the message mentions none.
 * @throws as `route`; what the engine throws.
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
