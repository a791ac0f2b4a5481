// The turn of a task as a stream of chunks, and as an answer over HTTP.

import type { Caller } from '../../bus/caller.ts'
import type { Engine, StreamItem } from '../../engine-api.ts'
import { problemOf } from '../../web/problem.ts'
import { toServerSentEvents, type UiMessageChunk, uiMessageHeaders } from './chunks.ts'
import { Turn } from './turn.ts'

/** What is needed of an engine. */
export type ChattingEngine = Pick<Engine, 'bus'>

export interface UiMessageStreamOptions {
  /** The position of the feed after which the turn begins. Default 0: all that the task has done. */
  after?: number
  /** What the message is called. Default: made of the task's id and `after`, so the same when the turn is told again. */
  messageId?: string
  /** Ends the stream; the task goes on. */
  signal?: AbortSignal
  /** Who watches. Default: the program itself. */
  caller?: Caller
  /** Gets what went wrong inside; the stream says only that something did. Default: nobody. */
  onError?: (error: unknown) => void
}

/**
 * A turn of a task as a UI message stream of the AI SDK: text and tool calls in steps, `data-errand-state`, `data-errand-question` and
 * `data-errand-progress`. It ends when the task has ended, asks something, or is paused. Nothing is read ahead of its reader.
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
  const leaving = new AbortController()
  const ended = AbortSignal.any(signal === undefined ? [leaving.signal] : [signal, leaving.signal])
  const items = bus.stream('task:stream', { taskId, after }, { signal: ended, caller }) as AsyncIterable<StreamItem>
  const chunks = chunksOf(items, new Turn(messageId), ended, onError)
  return new ReadableStream<UiMessageChunk>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => leaving.abort(),
    },
    { highWaterMark: 0 },
  )
}

/** The same as an answer over HTTP. */
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
