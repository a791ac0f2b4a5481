// The stream of a task as the response of a route of the program's own.
import { libraryCaller } from '../../bus/caller.ts'
import { systemClock } from '../../core/clock.ts'
import { toResponse } from '../web/answer.ts'
import { problemAnswer, problemOf } from '../web/problem.ts'
import { FetchedRequest } from '../web/served-request.ts'
import type { HttpEngine } from './http-options.ts'
import { lastEventIdOf } from './request-input.ts'
import { EventStreams } from './sse.ts'
import { shapeOf } from './stream-shapes.ts'

const unreported = (): void => {}

const streams = new EventStreams({
  maxStreams: Number.MAX_SAFE_INTEGER,
  maxStreamsPerPrincipal: Number.MAX_SAFE_INTEGER,
  heartbeatMs: 15_000,
  stallMs: 30_000,
  clock: systemClock,
})

/**
 * `engine.stream` of a task as server-sent events, for a route of your own that has checked who asks. It begins after the `Last-Event-ID` of the
 * request, ends with the task, and answers 204 to a client that comes back after the end, which ends an `EventSource`. A comment is sent
 * after 15 seconds of silence; a client that reads nothing for 30 seconds is disconnected.
 *
 * An unknown task is answered with 404, as `application/problem+json`.
 *
 * @example
 * app.get('/orders/:id/events', (c) => streamResponse(engine, c.req.param('id'), c.req.raw))
 */
export async function streamResponse(
  engine: Pick<HttpEngine, 'bus'>,
  task: string | { id: string },
  request: Request,
): Promise<Response> {
  const served = new FetchedRequest(request)
  try {
    const lastId = lastEventIdOf(served.headers)
    const input = {
      taskId: typeof task === 'string' ? task : task.id,
      ...(lastId === undefined ? {} : { after: lastId }),
    }
    const open = (signal: AbortSignal) =>
      engine.bus.stream('task:stream', input, { caller: libraryCaller, signal }) as AsyncGenerator<
        unknown,
        void,
        undefined
      >
    return toResponse(
      await streams.answer({
        request: served,
        limitKey: '',
        shape: shapeOf('task:stream'),
        lastId,
        open,
        problem: (error) => problemOf(error, unreported),
      }),
    )
  } catch (error) {
    return toResponse(problemAnswer(error, unreported))
  }
}
