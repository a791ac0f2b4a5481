// The measurements of an engine, as `engine:metrics` returns them and `GET /metrics` writes them.
import { z } from 'zod'

/** How a run has left WORKING. `failed`: for good; `retried`: another attempt follows. */
export const runEndKinds = ['completed', 'failed', 'retried', 'canceled', 'paused', 'suspended', 'interrupted'] as const
export type RunEndKind = (typeof runEndKinds)[number]

const count = z.int().min(0)
const ms = z.number().min(0)

/** Runs of this engine that have ended since it was created. */
const runTotalsSchema = z.object({ executor: z.string(), outcome: z.enum(runEndKinds), count, durationMs: ms })
export type RunTotals = z.output<typeof runTotalsSchema>

/** Commits of this engine since it was created, with the waits for locks. `upTo`: how many took no longer than a bound. */
const commitTimesSchema = z.object({
  count,
  durationMs: ms,
  upTo: z.array(z.object({ boundMs: z.number(), count })),
})
export type CommitTimes = z.output<typeof commitTimesSchema>

/** What the engine counts and holds itself. */
const ownMetrics = {
  instanceId: z.string(),
  slots: z.object({ used: count, maxConcurrent: count }),
  /** Slots by executor. `limit`: null where only `maxConcurrent` limits it. */
  executors: z.array(z.object({ executor: z.string(), used: count, limit: count.nullable() })),
  runs: z.array(runTotalsSchema),
  /** Runs of lost engines that this one has taken over. */
  takeovers: count,
  commits: commitTimesSchema,
}
export type OwnMetrics = z.output<z.ZodObject<typeof ownMetrics>>

export const metricsSchema = z.object({
  ...ownMetrics,
  /** Tasks of the ledger that wait for a slot, by executor. `oldestMs`: for how long the one that was changed first has not changed. */
  queue: z.array(z.object({ executor: z.string(), ready: count, oldestMs: ms })),
  /** Deliveries of webhooks that are not over, those that wait to be tried again included. */
  webhookBacklog: count,
})
export type EngineMetrics = z.output<typeof metricsSchema>
