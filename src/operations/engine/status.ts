// engine:status: the state of the engine and its ledger: tasks by status, slots, the queue, current runs, limits.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { once } from '../../core/once.ts'
import type { TaskStatus } from '../../entities/task.ts'
import { engineStatusShape } from '../../entities/views.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refuseTasks } from '../own-tasks.ts'

const limitsSchema = z.record(z.string(), z.int())

const engineStatusInput = once(() => z.strictObject({}))

const engineStatusOutput = once(() =>
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
)

/** Counts cover all tasks of the ledger; slots and runs are those of this engine. */
export function engineStatus(host: AbilityHost) {
  return defineAbility({
    id: 'engine:status',
    access: 'read',
    description:
      'Returns the state of the engine: tasks by status, slots, queued and running tasks, limits, executors.',
    input: engineStatusInput(),
    output: engineStatusOutput(),
    models: false,
    handle: async (_input, { caller }) => {
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
}
