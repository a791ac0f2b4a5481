// The option `webhooks` of an engine: which events are posted to which address.
import { z } from 'zod'
import { once } from '../core/once.ts'
import type { EventType } from './event.ts'

/** The name of the executor that posts them. */
export const deliveryExecutor = 'webhook'

/** The events that can be posted: those of the life of a task. A failure that is retried is not posted. */
export const postedEvents = [
  'task.created',
  'task.started',
  'task.paused',
  'task.resumed',
  'task.input_required',
  'task.answered',
  'task.waiting',
  'task.completed',
  'task.failed',
  'task.canceled',
  'task.retried',
  'task.deleted',
] as const satisfies readonly EventType[]
export type PostedEvent = (typeof postedEvents)[number]

const defaultEvents: readonly PostedEvent[] = ['task.completed', 'task.failed', 'task.canceled', 'task.input_required']

export interface WebhookOptions {
  /** https, or http to this machine: `http://127.0.0.1:8080/hook`. */
  url: string
  /** `whsec_` and 24 to 64 random bytes in base64, as Standard Webhooks have it. Several: the receiver may know any, while it is replaced. */
  secret: string | readonly string[]
  /** Default: `task.completed`, `task.failed` (for good), `task.canceled`, `task.input_required`. */
  events?: readonly PostedEvent[]
  /**
   * What stands for it in the ledger. It continues after the last event that was posted under this name. Default: its address without the
   * query.
   */
  name?: string
  /** Allows addresses of private networks, and http to them. Default false: names that lead there are refused, too. */
  allowPrivate?: boolean
}

const secretSchema = z.string().refine((text) => {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return false
  const { length } = Buffer.from(text.slice('whsec_'.length), 'base64')
  return length >= 24 && length <= 64
}, 'expected whsec_ and 24 to 64 random bytes in base64, as of `openssl rand -base64 32`')

const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Whether the address names this machine. */
export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  return loopbackHosts.includes(hostname)
}

export const webhooksSchema = once(() =>
  z
    .array(
      z
        .strictObject({
          url: z
            .string()
            .max(2_000)
            .refine((text) => URL.canParse(text), 'expected an address such as https://example.org/hook'),
          secret: z.union([secretSchema.transform((one) => [one]), z.array(secretSchema).min(1).max(10)]),
          events: z
            .array(z.enum(postedEvents))
            .min(1)
            .default([...defaultEvents]),
          name: z.string().trim().min(1).max(100).optional(),
          allowPrivate: z.boolean().default(false),
        })
        .superRefine(({ url, allowPrivate }, context) => {
          const complain = (message: string): void => context.addIssue({ code: 'custom', path: ['url'], message })
          const parsed = URL.canParse(url) ? new URL(url) : undefined
          if (parsed === undefined) return
          if (parsed.username !== '' || parsed.password !== '')
            complain('expected no credentials in it: requests are signed')
          const mayBePlain = isLoopback(parsed) || allowPrivate
          if (parsed.protocol !== 'https:' && !(parsed.protocol === 'http:' && mayBePlain))
            complain(
              'expected https, or http to 127.0.0.1, ::1 or localhost; `allowPrivate: true` allows http to others',
            )
        })
        .transform(({ name, ...webhook }) => ({
          ...webhook,
          name: name ?? (webhook.url.split(/[?#]/, 1)[0] as string),
        })),
    )
    .max(50)
    .refine(
      (all) => new Set(all.map(({ name }) => name)).size === all.length,
      'two have the same name: give them a `name` each',
    )
    .default([]),
)
export type ParsedWebhook = z.output<ReturnType<typeof webhooksSchema>>[number]
