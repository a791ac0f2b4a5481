// task:wait: until other tasks have ended. A run that invokes it waits like with `run.wait` and gives its slot back, and so does
// an agent; this handler serves everybody else.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { Engine } from '../../engine-api.ts'
import { type AwaitedTask, toAwaitedTask } from '../../entities/awaited-task.ts'
import { outcomeOf } from '../../entities/task.ts'
import type { AbilityHost } from '../ability-host.ts'
import { taskIdSchema } from './task-input.ts'

const inputSchema = z.strictObject({
  taskIds: z.array(taskIdSchema).min(1).max(1_000),
  mode: z.enum(['all', 'any']).default('all').describe('Wait for each of them (default), or for the first.'),
  timeoutMs: z.number().positive().optional().describe('Give up after so many milliseconds.'),
})

const awaitedTaskSchema = z.object({
  taskId: z.string(),
  status: z.enum(['completed', 'failed', 'canceled', 'open']),
  result: z.unknown().optional(),
  error: z.string().optional(),
})

/** In the order in which they were named. @throws ErrandError NOT_FOUND; TIMEOUT; the reason of an aborted signal. */
export function taskWait(host: AbilityHost) {
  return defineAbility({
    id: 'task:wait',
    access: 'read',
    description: 'Waits until tasks have ended, and gives what they came to.',
    input: inputSchema,
    output: z.object({ tasks: z.array(awaitedTaskSchema) }),
    scope: ({ taskIds }) => taskIds,
    // Waiting again does no harm.
    onInterrupt: 'rerun',
    handle: async (input, { caller, signal }) => ({ tasks: await wait(await host.engineFor(caller), input, signal) }),
  })
}

async function wait(
  engine: Engine,
  { taskIds, mode, timeoutMs }: z.output<typeof inputSchema>,
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
    // Those that are not waited for any longer.
    await Promise.allSettled(waits)
  }
  return Promise.all(
    taskIds.map(async (taskId) => {
      const task = await engine.get(taskId)
      return toAwaitedTask(taskId, task === null ? null : outcomeOf(task))
    }),
  )
}
