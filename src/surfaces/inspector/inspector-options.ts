// What `serveInspector` takes, parsed at the door.
import { z } from 'zod'
import type { Engine } from '../../api.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { doorShape, placeShape } from '../web/door.ts'
import { type RedactFunction, redactSchema } from './redact.ts'

/** What of an engine is inspected. */
export type InspectedEngine = Pick<Engine, 'inspect'>

export interface InspectorOptions {
  /** The address to listen at, of this machine alone: 127.0.0.1 (the default), localhost or ::1. */
  host?: string
  /** Default 0: a free one. */
  port?: number
  /** What receivers and programs must know: 16 to 200 letters, digits and . _ ~ -. Default: one of 256 bits of chance. */
  token?: string
  /**
   * What else is not to leave the process, beside what lies under keys that speak of tokens, secrets, passwords, API keys, credentials,
   * authorization and cookies: keys (texts, in full and in any case, or regular expressions), or a function that gets every value with its
   * place in the message and returns what is told instead.
   */
  redact?: RedactFunction | ReadonlyArray<string | RegExp> | undefined
  /** How many of the last messages a new receiver is told. Default 200. */
  historySize?: number
  /** `own` (the default): what this engine works on. `all`: every open task of the ledger, at most 1,000. */
  tasks?: 'own' | 'all'
  /** Values of the `Origin` header that are served: web pages on other ports. Default: none. */
  allowedOrigins?: readonly string[]
  /** Default: the system's. */
  clock?: Clock
}

export const inspectorOptionsSchema = z.strictObject({
  ...placeShape,
  token: z
    .string()
    .regex(/^[\w.~-]{16,200}$/, 'expected 16 to 200 letters, digits and . _ ~ -')
    .optional(),
  redact: redactSchema.optional(),
  historySize: z.int().min(0).max(10_000).default(200),
  tasks: z.enum(['own', 'all']).default('own'),
  allowedOrigins: doorShape.allowedOrigins,
  clock: z
    .custom<Clock>((value) => typeof (value as Clock | undefined)?.setTimeout === 'function', 'expected a Clock')
    .default(systemClock),
})
