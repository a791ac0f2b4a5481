// Handlers: the template of a task that the engine creates when another one fails for good, or needs an answer.
import { z } from 'zod'
import { durationSchema } from '../core/duration-schema.ts'
import { once } from '../core/once.ts'

/** What happens to a task that has a handler for it. */
export const handledEvents = ['failure', 'inputRequired'] as const
export type HandledEvent = (typeof handledEvents)[number]

const shape = once(() => ({
  name: z.string().optional(),
  goal: z.string().optional(),
  description: z.string().optional(),
  executor: z.string().optional(),
  input: z.unknown().optional(),
  priority: z.number().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  tags: z.array(z.string()).readonly().optional(),
  retry: z.record(z.string(), z.unknown()).optional(),
  timeoutMs: durationSchema({ min: 1 }).optional(),
  delayMs: durationSchema().optional(),
  onInterrupt: z.string().optional(),
  model: z.string().optional(),
  systemPrompt: z.string().optional(),
  abilities: z.array(z.string()).readonly().optional(),
}))

/** Its fields are parsed as those of `create` when it is drafted (operations/drafts/handler-drafts.ts). */
export const handlerSchema = once(() =>
  z.strictObject(shape()).refine(({ executor, goal }) => executor !== undefined || goal !== undefined, {
    message: 'expected an `executor` or a `goal`: nothing else would run it',
  }),
)

/**
 * The template of a task, with fields of `create`. It needs an `executor` or a `goal`. Without an `input` it gets what has happened
 * (`HandledTask`), which its metadata hold as `about` in any case.
 */
export interface HandlerTemplate extends z.input<z.ZodObject<ReturnType<typeof shape>>> {}

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
