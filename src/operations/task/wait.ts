// task:wait: waits until tasks have ended. A run or an agent that calls it waits like with `run.wait` and releases its slot; this
// handler serves all other callers.
import { z } from 'zod'
import { durationSchema } from '../../core/duration-schema.ts'
import { once } from '../../core/once.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { type AwaitedTask, toAwaitedTask } from '../../entities/awaited-task.ts'
import { outcomeOf } from '../../entities/task.ts'
import { defineOperation } from '../define-operation.ts'
import { taskIdSchema } from './task-input.ts'

const inputSchema = once(() =>
  z.strictObject({
    taskIds: z.array(taskIdSchema).min(1).max(1_000),
    mode: z.enum(['all', 'any']).default('all').describe('Wait for all tasks (default), or for the first one.'),
    timeoutMs: durationSchema({ min: 1 }).optional().describe('Time-out in milliseconds.'),
  }),
)

const awaitedTaskSchema = once(() =>
  z.object({
    taskId: z.string(),
    status: z.enum(['completed', 'failed', 'canceled', 'open']),
    result: z.unknown().optional(),
    error: z.string().optional(),
  }),
)

/** In the order of `taskIds`. @throws ErrandError NOT_FOUND; TIMEOUT; the reason of an aborted signal. */
export const taskWait = defineOperation({
  id: 'task:wait',
  access: 'read',
  description: 'Waits until the given tasks have ended, and returns their outcomes.',
  input: inputSchema,
  output: () => z.object({ tasks: z.array(awaitedTaskSchema()) }),
  scope: ({ taskIds }) => taskIds,
  // Waiting twice has no effect.
  onInterrupt: 'rerun',
  handle: async (input, { caller, signal }, host) => ({
    tasks: await wait(await host.engineFor(caller), input, signal),
  }),
})

async function wait(
  engine: Engine,
  { taskIds, mode, timeoutMs }: z.output<ReturnType<typeof inputSchema>>,
  signal: AbortSignal,
): Promise<AwaitedTask[]> {
  const enough = new AbortController()
  const options = {
    signal: AbortSignal.any([signal, enough.signal]),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  }
  const waits = taskIds.map((taskId) => engine.settled(taskId, options))
  try {
    await (mode === 'any' ? Promise.race(waits) : Promise.all(waits))
  } finally {
    enough.abort()
    // The waits that were aborted reject.
    await Promise.allSettled(waits)
  }
  return Promise.all(
    taskIds.map(async (taskId) => {
      const task = await engine.get(taskId)
      return toAwaitedTask(taskId, task === null ? null : outcomeOf(task))
    }),
  )
}
