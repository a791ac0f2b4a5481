// engine:metrics: what an operator watches: the queue by executor, slots, how runs ended, takeovers, commits. `GET /metrics` writes it as text.
import { z } from 'zod'
import { metricsSchema } from '../../entities/metrics.ts'
import { openStatuses } from '../../entities/task.ts'
import { deliveryExecutor } from '../../entities/webhook-options.ts'
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
    const backlog = { system: true, executor: deliveryExecutor, statuses: [...openStatuses] }
    const { queues, webhookBacklog } = await host.read(function* (tx) {
      return { queues: yield* tx.task.queues(), webhookBacklog: yield* tx.task.count(backlog) }
    })
    const { at } = await host.stepContext()
    return {
      ...own,
      webhookBacklog,
      queue: queues.map(({ executor, ready, oldestAt }) => ({ executor, ready, oldestMs: Math.max(0, at - oldestAt) })),
    }
  },
})
