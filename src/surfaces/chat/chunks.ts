// The chunks of the AI SDK's UI message stream protocol, and their encoding over HTTP. The types are our own, so that servers need not
// install the AI SDK; a type test compares them with its types.

export type UiMessageChunk =
  | { type: 'start'; messageId: string }
  | { type: 'start-step' }
  | { type: 'finish-step' }
  /** Discards the output of the unfinished step. */
  | { type: 'reset-step' }
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string }
  | {
      type: 'tool-input-available'
      toolCallId: string
      toolName: string
      input: unknown
      providerExecuted: true
      dynamic: true
    }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; providerExecuted: true; dynamic: true }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string; providerExecuted: true; dynamic: true }
  | { type: 'data-errand-state'; id: 'state'; data: { taskId: string; status: string; reason: string | null } }
  | {
      type: 'data-errand-question'
      id: string
      data: { taskId: string; questionId: string; question: string; schema: unknown; default?: unknown }
    }
  | { type: 'data-errand-progress'; id: 'progress'; data: { taskId: string; fraction: number; note: string | null } }
  | { type: 'error'; errorText: string }
  | { type: 'finish'; finishReason: 'stop' | 'error' | 'other' }
  | { type: 'abort'; reason: string }

/** Headers of a response with such a stream. */
export const uiMessageHeaders: Record<string, string> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
}

/** Encodes chunks as server-sent events, followed by `[DONE]`. */
export function toServerSentEvents(chunks: ReadableStream<UiMessageChunk>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return chunks.pipeThrough(
    new TransformStream<UiMessageChunk, Uint8Array>({
      transform: (chunk, controller) => controller.enqueue(encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`)),
      flush: (controller) => controller.enqueue(encoder.encode('data: [DONE]\n\n')),
    }),
  )
}
