// engine:status: how the engine and its ledger stand: tasks by state, slots, the queue, what runs here now, limits.
import { z } from 'zod'
import { engineStatusShape } from '../../api/views.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { TaskStatus } from '../../entities/task.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refuseTasks } from '../own-tasks.ts'

const limitsSchema = z.record(z.string(), z.int())

/** Counts are of all tasks of the ledger; slots and what runs are of this engine. */
export function engineStatus(host: AbilityHost) {
  return defineAbility({
    id: 'engine:status',
    access: 'read',
    description: 'Says how the engine stands: tasks by state, slots, what waits and what runs, limits, executors.',
    input: z.strictObject({}),
    output: z.object({
      instanceId: z.string(),
      /** Epoch milliseconds. */
      at: z.number(),
      /** Up to where of the feed the counts tell. */
      seq: z.int(),
      ...engineStatusShape,
      limits: z.object({
        engine: z.object({ maxConcurrent: z.int(), limits: limitsSchema }),
        shared: z.object({ maxConcurrent: z.int().nullable(), limits: limitsSchema }),
      }),
      /** The executors that this engine has, by name. */
      executors: z.array(z.string()),
    }),
    models: false,
    handle: async (_input, { caller }) => {
      refuseTasks(caller, 'engine:status')
      const engine = await host.engineFor(caller)
      const { counted, tasks, queued, claimable, working, slots, running, lastEvent } = engine.status.get().context
      const limits = await engine.limits()
      return host.read(function* (tx) {
        // The read model begins to count with the first look, and has not come to an end by then.
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
}
