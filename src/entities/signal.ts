// Signals: what a task waits for by name, sent to it from outside. One that no wait takes at once is kept until a wait for its name begins.
import { z } from 'zod'
import { once } from '../core/once.ts'
import { wordOf } from './task-fields.ts'

/** The maximum of signals that are kept for a task until it waits for them. */
export const maxKeptSignals = 1_000
/** The maximum size of a payload, as JSON. */
export const maxSignalBytes = 256 * 1024

/** A signal of a task, with the wait that took it. */
export interface SignalRecord {
  seq: number
  taskId: string
  name: string
  /** By which its sender knows it; null if it gave none. A repetition under the same name changes nothing. */
  sentId: string | null
  /** Null once it is taken: the journal entry of the wait has it then. */
  payload: unknown
  createdAt: number
  /** The journal entry that took it; null while it is kept. */
  takenBy: string | null
}

export const signalNameSchema = once(() => wordOf(200))
export const signalIdSchema = once(() => wordOf(200))

/** The params of a wait for a signal. */
export interface SignalParams {
  /** JSON Schema of the payload; null for any. */
  schema: unknown
}

/** The name under which `run.webhook` draws its token, and under which the journal records it. */
export const webhookName = 'webhook'
/** The path at which a server takes the request to a webhook. */
export const webhookPath = (entryId: string, secret: string): string => `/signals/${entryId}.${secret}`
/** The name of the signal that a request to a webhook is, by the journal entry of its token. */
export const signalOfWebhook = (entryId: string): string => `${webhookName}:${entryId}`
/** The journal entry that a signal of this name would be for; undefined for a name that no webhook has. */
export function webhookOfSignal(name: string): string | undefined {
  const prefix = signalOfWebhook('')
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined
}

/** The option `publicUrl`, without a slash at its end. */
export const publicUrlSchema = z
  .string()
  .max(1_000)
  .refine(
    (text) => /^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/i.test(text) && URL.canParse(text),
    'expected an http or https address such as https://tasks.example.org/errand, without credentials, query and fragment',
  )
  .transform((text) => text.replace(/\/+$/, ''))
