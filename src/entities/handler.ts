// Handlers: the template of a task that the engine creates when another one fails for good, or needs an answer.
import { z } from 'zod'
import { once } from '../core/once.ts'
import type { RetryOptions } from './task-fields.ts'

/** What happens to a task that has a handler for it. */
export const handledEvents = ['failure', 'inputRequired'] as const
export type HandledEvent = (typeof handledEvents)[number]

/**
 * A task to create. It needs an `executor` or a `goal`. Without an `input` it gets what has happened (`HandledTask`), which its metadata hold
 * as `about` in any case.
 */
export interface HandlerTemplate {
  name?: string
  goal?: string
  description?: string
  /** A name, or what `defineExecutor` returned. */
  executor?: string | object
  input?: unknown
  priority?: number
  metadata?: Record<string, unknown>
  tags?: readonly string[]
  retry?: RetryOptions
  timeoutMs?: number | string
  delayMs?: number | string
  onInterrupt?: 'fail' | 'rerun' | 'ask'
  model?: string
  systemPrompt?: string
  abilities?: readonly string[]
}

/** What has happened, as the input of a handler. */
export interface HandledTask {
  event: HandledEvent
  taskId: string
  seq: number
  name: string
  executor: string | null
  attempt: number
  /** Of a failure. */
  error?: { code: string; message: string }
  /** Of a task that needs an answer: the questions to a person. */
  questions?: Array<{ id: string; question: string }>
}

const fields = [
  'name',
  'goal',
  'description',
  'executor',
  'input',
  'priority',
  'metadata',
  'tags',
  'retry',
  'timeoutMs',
  'delayMs',
  'onInterrupt',
  'model',
  'systemPrompt',
  'abilities',
] as const satisfies ReadonlyArray<keyof HandlerTemplate>

/** The fields are parsed as those of `create` when the template is drafted. */
export const handlerSchema = once(() =>
  (
    z.record(
      z.string(),
      z.unknown(),
      'expected the template of a task, like { executor: "notify" }',
    ) as unknown as z.ZodType<HandlerTemplate, HandlerTemplate>
  ).superRefine((template, context) => {
    for (const field of Object.keys(template)) {
      if ((fields as readonly string[]).includes(field)) continue
      context.addIssue({
        code: 'custom',
        path: [field],
        message: `a handler has no such field; it has ${fields.join(', ')}`,
      })
    }
    if (template.executor === undefined && template.goal === undefined) {
      context.addIssue({ code: 'custom', message: 'expected an `executor` or a `goal`: nothing else would run it' })
    }
  }),
)
