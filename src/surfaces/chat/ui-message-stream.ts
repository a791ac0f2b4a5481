// The turn of a task as a stream of chunks, and as an HTTP response.

import type { Caller } from '../../bus/caller.ts'
import { safeReporter } from '../../core/guarded.ts'
import type { Engine, StreamItem } from '../../engine/engine-api.ts'
import { problemOf } from '../web/problem.ts'
import { toServerSentEvents, type UiMessageChunk, uiMessageHeaders } from './chunks.ts'
import { Turn } from './turn.ts'

/** The part of an engine that is used. */
export type ChattingEngine = Pick<Engine, 'bus'>

export interface UiMessageStreamOptions {
  /** The feed position after which the turn begins. Default 0: the whole task. */
  after?: number
  /** Id of the message. Default: derived from the task's id and `after`, so it is stable for repeated streams. */
  messageId?: string
  /** Aborting it ends the stream; the task continues. */
  signal?: AbortSignal
  /** The caller that reads. Default: the program itself. */
  caller?: Caller
  /** Receives internal errors; the stream only reports that one occurred. Default: none. */
  onError?: (error: unknown) => void
}

/**
 * A turn of a task as a UI message stream of the AI SDK: text and tool calls in steps, `data-errand-state`, `data-errand-question` and
 * `data-errand-progress`. It ends when the task has ended, asks a question, or is paused. Nothing is read ahead of its consumer.
 *
 * @example
 * const stream = toUiMessageStream(engine, task.id)
 * for await (const message of readUIMessageStream({ stream })) render(message)
 */
export function toUiMessageStream(
  { bus }: ChattingEngine,
  taskId: string,
  { after = 0, messageId = `${taskId}-${after}`, signal, caller, onError = () => {} }: UiMessageStreamOptions = {},
): ReadableStream<UiMessageChunk> {
  const canceled = new AbortController()
  const ended = AbortSignal.any(signal === undefined ? [canceled.signal] : [signal, canceled.signal])
  const items = bus.stream('task:stream', { taskId, after }, { signal: ended, caller }) as AsyncIterable<StreamItem>
  const chunks = chunksOf(items, new Turn(messageId), ended, safeReporter(onError))
  return new ReadableStream<UiMessageChunk>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => canceled.abort(),
    },
    { highWaterMark: 0 },
  )
}

/** The same stream as an HTTP response. */
export function uiMessageResponse(engine: ChattingEngine, taskId: string, options?: UiMessageStreamOptions): Response {
  return new Response(toServerSentEvents(toUiMessageStream(engine, taskId, options)), { headers: uiMessageHeaders })
}

async function* chunksOf(
  items: AsyncIterable<StreamItem>,
  turn: Turn,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): AsyncGenerator<UiMessageChunk, void, undefined> {
  try {
    for await (const item of items) {
      yield* turn.take(item)
      if (turn.over) return
    }
  } catch (error) {
    if (signal.aborted) return
    yield { type: 'error', errorText: problemOf(error, onError).detail }
  }
}
