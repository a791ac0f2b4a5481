// engine:status: the state of the engine and its ledger: tasks by status, slots, the queue, current runs, limits.
import { z } from 'zod'
import type { TaskStatus } from '../../entities/task.ts'
import { engineStatusShape } from '../../entities/views.ts'
import { defineOperation } from '../define-operation.ts'
import { refuseTasks } from '../own-tasks.ts'

const limitsSchema = z.record(z.string(), z.int())

/** Counts cover all tasks of the ledger; slots and runs are those of this engine. */
export const engineStatus = defineOperation({
  id: 'engine:status',
  access: 'read',
  description: 'Returns the state of the engine: tasks by status, slots, queued and running tasks, limits, executors.',
  routes: [
    { endpoint: 'GET /status', tag: 'Engine', operationId: 'getStatus', summary: 'Get the state of the engine' },
  ],
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      instanceId: z.string(),
      /** Epoch milliseconds. */
      at: z.number(),
      /** Position of the feed up to which the counts are current. */
      seq: z.int(),
      ...engineStatusShape,
      limits: z.object({
        engine: z.object({ maxConcurrent: z.int(), limits: limitsSchema }),
        shared: z.object({ maxConcurrent: z.int().nullable(), limits: limitsSchema }),
      }),
      /** Names of this engine's executors. */
      executors: z.array(z.string()),
    }),
  models: false,
  handle: async (_input, { caller }, host) => {
    refuseTasks(caller, 'engine:status')
    const engine = await host.engineFor(caller)
    const { counted, tasks, queued, claimable, working, slots, running, lastEvent } = engine.status.get().context
    const limits = await engine.limits()
    return host.read(function* (tx) {
      // The read model starts counting at the first request, and may not have finished yet.
      const counts: Record<TaskStatus, number> = counted ? tasks : yield* tx.task.countByStatus()
      const queue = counted ? { ready: queued, claimable } : yield* tx.task.countQueued()
      return {
        instanceId: engine.instanceId,
        at: Math.floor(host.clock.now()),
        seq: counted && lastEvent !== null ? lastEvent.seq : yield* tx.event.last(),
        tasks: counts,
        queued: queue.ready,
        claimable: queue.claimable,
        working,
        slots,
        running,
        limits: {
          engine: { maxConcurrent: limits.engine.maxConcurrent, limits: { ...limits.engine.limits } },
          shared: { maxConcurrent: limits.shared.maxConcurrent ?? null, limits: { ...limits.shared.limits } },
        },
        executors: host.executors(),
      }
    })
  },
})
