// Changes the tasks that a filter finds, call by call of `task:batch`.
import type { OutputOfAbility } from '../bus/ability-types.ts'
import type { Bus } from '../bus/bus.ts'
import type { Caller } from '../bus/caller.ts'
import type { BatchAction, BatchOptions, BatchResult } from '../entities/batch.ts'
import type { TaskFilterOptions } from '../entities/filter-options.ts'

/** The refusals that a result has, so that it does not grow with the tasks. */
const maxRefusals = 1_000
const perCall = 200

/** @throws ErrandError INVALID_INPUT, UNKNOWN_OPTION; and the failure of the ledger, when the tasks before it are changed. */
export async function runBatch(
  bus: Bus,
  caller: Caller,
  action: BatchAction,
  given: TaskFilterOptions,
  { signal, onProgress, ...options }: BatchOptions,
): Promise<BatchResult> {
  const result: BatchResult = { done: 0, refused: [], refusedCount: 0, total: 0, before: 0, stopped: false }
  let filter = given
  for (let after: number | null = 0; after !== null; ) {
    if (signal?.aborted) return { ...result, stopped: true }
    const input = { action, filter, ...options, after, limit: perCall }
    const part: OutputOfAbility<'task:batch'> = await bus.call('task:batch', input, { caller })
    result.done += part.done
    result.refusedCount += part.refused.length
    for (const each of part.refused.slice(0, maxRefusals - result.refused.length)) result.refused.push(each)
    result.total = part.total ?? result.total
    result.before = part.before
    filter = { ...filter, before: part.before }
    after = part.next
    onProgress?.({ done: result.done, refused: result.refusedCount, total: result.total })
  }
  return result
}
