// The executor that posts one event to one webhook. It is tried until the receiver has answered with a 2xx status, for three days.
import { z } from 'zod'
import { type Clock, isoTime } from '../core/clock.ts'
import { Failure } from '../core/errors.ts'
import { once } from '../core/once.ts'
import { type Executor, ownExecutor } from '../entities/executor.ts'
import type { RetryPolicy } from '../entities/task-fields.ts'
import type { ParsedWebhook } from '../entities/webhook-options.ts'
import { systemTaskId } from '../operations/steps/system-task.ts'
import type { PostResponse } from './post.ts'
import { signedHeaders } from './signed-request.ts'

/** How long a delivery is tried. */
export const deliveryMs = 3 * 24 * 3_600_000
/** The longest time between two tries, also if the receiver asks for more. */
const maxBackoffMs = 6 * 3_600_000
/** After 5 seconds, then twice as long each time, to 6 hours. The deadline of the task ends it. */
export const deliveryRetry: RetryPolicy = {
  maxAttempts: 1_000,
  backoffMs: 5_000,
  backoff: 'exponential',
  maxBackoffMs,
  jitter: 0.2,
} as RetryPolicy

const postTimeoutMs = 15_000

const inputSchema = once(() =>
  z.object({
    /** The name of the webhook. */
    webhook: z.string(),
    event: z.object({
      seq: z.int(),
      type: z.string(),
      at: z.number(),
      taskId: z.string(),
      data: z.record(z.string(), z.unknown()),
    }),
  }),
)
export type DeliveryInput = z.output<ReturnType<typeof inputSchema>>

export function createDelivery(
  webhooks: readonly ParsedWebhook[],
  clock: Clock,
): Executor<DeliveryInput, { status: number }> {
  return ownExecutor({
    input: inputSchema,
    result: () => z.object({ status: z.int() }),
    onInterrupt: 'rerun',
    run: ({ id, input: { webhook: name, event } }, run) => {
      const webhook = webhooks.find((each) => each.name === name)
      if (webhook === undefined) throw unknown(name)
      const { seq, type, at, taskId, data } = event
      if (id !== deliveryId(name, seq)) throw forged(name)
      const body = JSON.stringify({ type, timestamp: isoTime(at), data: { seq, taskId, ...data } })
      return run.call(
        'post',
        { url: webhook.url, seq },
        async (_params, { signal }) => {
          const headers = signedHeaders({ id, body, at: clock.now() }, webhook.secret)
          // Loaded with the first delivery: node's clients for HTTP leave traces in a process that only imports the package.
          const { post } = await import('./post.ts')
          const answer = await post({ ...webhook, headers, body, signal })
          requireAccepted(name, answer)
          return { status: answer.status }
        },
        { timeoutMs: postTimeoutMs },
      )
    },
  })
}

export function deliveryId(webhook: string, seq: number): string {
  return systemTaskId('webhook', webhook, seq)
}

/** A task that a caller has created: the signature says that the engine reports an event. */
function forged(name: string): Failure {
  return new Failure(
    `Nothing is posted to ${name}: only the engine creates deliveries, from its events. Post from an executor of your own.`,
    { code: 'FORBIDDEN', retry: false },
  )
}

function requireAccepted(name: string, { status, retryAfterMs }: PostResponse): void {
  if (status >= 200 && status < 300) return
  if (status === 410) {
    throw new Failure(
      `${name} answered with 410: it wants no more of this. Remove the webhook, or correct its address.`,
      {
        code: 'WEBHOOK_REFUSED',
        retry: false,
      },
    )
  }
  const why = status >= 300 && status < 400 ? ' Redirects are not followed: give the address that it leads to.' : ''
  throw new Failure(`${name} answered with ${status}, not with a 2xx status.${why}`, {
    code: 'WEBHOOK_REFUSED',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.min(retryAfterMs, maxBackoffMs) }),
  })
}

/** Tried again like any failure: another engine on the ledger may have it, such as the new release beside the old one. */
function unknown(name: string): Failure {
  return new Failure(
    `This engine has no webhook ${name}. The event is posted when an engine that has it, under this name, makes a later try.`,
    { code: 'NOT_FOUND' },
  )
}
