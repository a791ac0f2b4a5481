// engine:metrics: what an operator watches: the queue by executor, slots, how runs ended, takeovers, commits. `GET /metrics` writes it as text.
import { z } from 'zod'
import { metricsSchema } from '../../entities/metrics.ts'
import { defineOperation } from '../define-operation.ts'
import { refuseTasks } from '../own-tasks.ts'

/** The queue covers the ledger; everything else is that of this engine. */
export const engineMetrics = defineOperation({
  id: 'engine:metrics',
  access: 'read',
  description:
    'Returns measurements: ready tasks and the age of the oldest by executor; slots, ended runs, takeovers and commits of this engine.',
  input: () => z.strictObject({}),
  output: () => metricsSchema,
  models: false,
  handle: async (_input, { caller }, host) => {
    refuseTasks(caller, 'engine:metrics')
    const own = await host.ownMetrics()
    const queues = await host.read((tx) => tx.task.queues())
    const { at } = await host.stepContext()
    return {
      ...own,
      queue: queues.map(({ executor, ready, oldestAt }) => ({ executor, ready, oldestMs: Math.max(0, at - oldestAt) })),
    }
  },
})
