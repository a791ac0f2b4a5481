// The output of a task, as a process prints it: start, text, calls and their results, and exactly one end. Derived from the items of
// `engine.stream`, so a late reader receives it from the beginning.
import { z } from 'zod'
import type { StreamItem } from '../../../entities/views.ts'

const base = { taskId: z.string() }

export const taskOutputSchema = z.discriminatedUnion('type', [
  /** `goal` is the task's name if it has no goal. */
  z.object({ type: z.literal('start'), ...base, goal: z.string() }),
  /** A piece of the assistant's text. The pieces with one `messageId` form that message. */
  z.object({ type: z.literal('content'), ...base, content: z.string(), messageId: z.string().optional() }),
  /** `tool` is the tool name for models. */
  z.object({ type: z.literal('tool_call'), ...base, tool: z.string(), args: z.record(z.string(), z.unknown()) }),
  /** `result` is text, JSON unless the result was a string; empty with an `error`. */
  z.object({
    type: z.literal('tool_result'),
    ...base,
    tool: z.string(),
    result: z.string(),
    error: z.string().optional(),
  }),
  /** Why the task failed; only right before the end. */
  z.object({ type: z.literal('error'), ...base, error: z.string() }),
  z.object({ type: z.literal('end'), ...base, status: z.enum(['completed', 'failed', 'killed']) }),
])
export type TaskOutput = z.output<typeof taskOutputSchema>

type Item<T extends StreamItem['type']> = Extract<StreamItem, { type: T }>

const endStatuses = { completed: 'completed', failed: 'failed', canceled: 'killed' } as const

/** Converts the items of one task's stream, from its beginning, to output. `toolName` returns the tool name of an ability. */
export class OutputProjection {
  readonly #toolName: (abilityId: string) => string
  /** By message id, how much of its text was emitted; only for messages that are not stored yet. */
  readonly #given = new Map<string, number>()
  readonly #begun = new Set<string>()
  /** The latest failure; emitted only if the task ends with it. */
  #error: string | undefined

  constructor(toolName: (abilityId: string) => string) {
    this.#toolName = toolName
  }

  outputOf(item: StreamItem): TaskOutput[] {
    const { taskId } = item
    switch (item.type) {
      case 'start':
        return [{ type: 'start', taskId, goal: item.goal ?? item.name }]
      case 'content':
        return this.#piece(item)
      case 'message':
        return this.#message(item)
      case 'tool_call':
        this.#begun.add(item.callId)
        return [{ type: 'tool_call', taskId, tool: this.#toolName(item.tool), args: argsOf(item.args) }]
      case 'tool_result':
        return this.#result(item)
      case 'error':
        this.#error = item.error.message
        return []
      case 'end':
        return this.#end(item)
      case 'state':
      case 'question':
      case 'progress':
      case 'machine':
      case 'emitted':
        return []
    }
  }

  /** A reader that missed earlier pieces receives the whole message later, to avoid gaps. */
  #piece({ taskId, content, messageId, offset = 0 }: Item<'content'>): TaskOutput[] {
    if (messageId === undefined) return [{ type: 'content', taskId, content }]
    if (offset !== (this.#given.get(messageId) ?? 0)) return []
    this.#given.set(messageId, offset + content.length)
    return [{ type: 'content', taskId, content, messageId }]
  }

  /** The part of the stored text that was not emitted yet. */
  #message({ taskId, role, content, announcement, messageId }: Item<'message'>): TaskOutput[] {
    const given = this.#given.get(messageId) ?? 0
    this.#given.delete(messageId)
    if (role !== 'assistant' || announcement || given >= content.length) return []
    return [{ type: 'content', taskId, content: content.slice(given), messageId }]
  }

  /** A call that was closed with its task before it began has no result. */
  #result({ taskId, callId, tool, result, error }: Item<'tool_result'>): TaskOutput[] {
    if (!this.#begun.delete(callId)) return []
    const output = { type: 'tool_result' as const, taskId, tool: this.#toolName(tool) }
    if (error !== undefined) return [{ ...output, result: '', error: error.message }]
    return [{ ...output, result: typeof result === 'string' ? result : JSON.stringify(result ?? null) }]
  }

  #end({ taskId, status }: Item<'end'>): TaskOutput[] {
    const end: TaskOutput = { type: 'end', taskId, status: endStatuses[status] }
    if (status !== 'failed') return [end]
    return [{ type: 'error', taskId, error: this.#error ?? 'failed' }, end]
  }
}

/** Arguments from a model may be something other than an object. */
function argsOf(args: unknown): Record<string, unknown> {
  if (typeof args === 'object' && args !== null && !Array.isArray(args)) return args as Record<string, unknown>
  return args === null || args === undefined ? {} : { value: args }
}
