// Changes many tasks in parts, so that a person sees the progress and can stop between two parts.

import type { BulkAction } from '../model/bulk.ts'
import { taskStatuses } from '../model/lifecycle.ts'
import type { FrameClock } from '../model/throttle.ts'
import { type ApiClient, problemOf } from './api-client.ts'

/** Tasks per request. */
const partSize = 100
const restMs = 1_000
const maxRests = 30

/** A task that did not take the change. */
export interface Refused {
  taskId: string
  seq: number
  name: string
  message: string
}

interface Part {
  done: number
  refused: Refused[]
  before: number
}

export interface BatchRequest {
  action: BulkAction
  ids: readonly string[]
  /** Only counts. */
  dryRun?: boolean
  /** For cancel. */
  reason?: string
  /** Only tasks that ended, or were created, before; from an earlier request for the same tasks. */
  before?: number | undefined
}

export interface BatchOutcome {
  /** The number of tasks that were changed, or would be. */
  done: number
  refused: Refused[]
  before: number | undefined
}

/** Calls `onProgress` after each part with the number of tasks that were requested so far. @throws ApiError */
export async function changeTasks(
  api: ApiClient,
  clock: Pick<FrameClock, 'later'>,
  { action, ids, before, ...options }: BatchRequest,
  signal: AbortSignal,
  onProgress: (requested: number, outcome: BatchOutcome) => void = () => {},
): Promise<BatchOutcome> {
  const outcome: BatchOutcome = { done: 0, refused: [], before }
  for (let at = 0; at < ids.length && !signal.aborted; at += partSize) {
    const part = ids.slice(at, at + partSize)
    // A task that has changed meanwhile is found in any state, and refuses with its reason.
    const filter = { ids: part, status: taskStatuses, ...(outcome.before !== undefined && { before: outcome.before }) }
    const body = { action, filter, limit: part.length, ...options }
    const { done, refused, before: from } = await withRests(() => api.post<Part>('tasks/batch', body), clock)
    outcome.done += done
    outcome.refused.push(...refused.map(withItsNumber))
    outcome.before = from
    onProgress(Math.min(ids.length, at + partSize), outcome)
  }
  return outcome
}

/** With its number instead of its id, as everywhere on the page. */
function withItsNumber(refused: Refused): Refused {
  return { ...refused, message: refused.message.replaceAll(refused.taskId, `#${refused.seq}`) }
}

/** Requests again after a rest when the server asks for one. */
async function withRests<T>(request: () => Promise<T>, clock: Pick<FrameClock, 'later'>): Promise<T> {
  for (let rests = 0; ; rests++) {
    try {
      return await request()
    } catch (error) {
      if (problemOf(error).status !== 429 || rests === maxRests) throw error
      await new Promise<void>((resolve) => clock.later(resolve, restMs))
    }
  }
}
