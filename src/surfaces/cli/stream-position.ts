// Positions in the stream of a task: its current end, and the last message of the user; and a follower that reports when it has
// reached the end.
import type { Engine, StreamItem } from '../../engine/engine-api.ts'
import type { EventType } from '../../entities/event.ts'

/** Events that always appear in a stream: the last of them is the current end of the stream. */
const streamed: ReadonlySet<EventType> = new Set<EventType>([
  'task.created',
  'task.started',
  'task.paused',
  'task.input_required',
  'task.waiting',
  'task.completed',
  'task.retried',
  'task.canceled',
  'question.asked',
  'message.appended',
  'output.written',
  'progress.reported',
  'call.started',
  'call.completed',
  'call.failed',
])

/** The position of the current end of a task's stream; 0 when it is empty. */
export async function lastPosition(engine: Engine, taskId: string): Promise<number> {
  let last = 0
  for await (const event of engine.events({ taskId, follow: false })) if (streamed.has(event.type)) last = event.seq
  return last
}

/** The position of the last user message of a task, or of its last resume; 0 when there is none. */
export async function lastUserPosition(engine: Engine, taskId: string): Promise<number> {
  let last = 0
  for await (const { type, seq, data } of engine.events({ taskId, follow: false })) {
    if (type === 'task.resumed' || (type === 'message.appended' && data['role'] === 'user')) last = seq
  }
  return last
}

/** Passes the items of a task's stream to `take` as they come. */
export function followStream(engine: Engine, taskId: string, after: number, take: (item: StreamItem) => void) {
  const stop = new AbortController()
  let position = after
  let failure: unknown
  let moved: () => void = () => {}
  const stream = {
    /** The stream has ended, with its task or with an error. */
    ended: false,
    /** Resolves when `take` has received everything that is in the ledger now. @throws the error that ended the stream. */
    async caughtUp(): Promise<void> {
      const last = await lastPosition(engine, taskId)
      while (!stream.ended && position < last) {
        await new Promise<void>((resolve) => {
          moved = resolve
        })
      }
      if (failure !== undefined) throw failure
    },
    /** Stops following. */
    async end(): Promise<void> {
      stop.abort()
      await over
    },
  }
  const follow = async (): Promise<void> => {
    try {
      for await (const item of engine.stream(taskId, { after, signal: stop.signal })) {
        take(item)
        position = item.seq
        moved()
      }
    } catch (error) {
      // `caughtUp` throws it. Without a waiter it is ignored: the stream may end with its engine.
      failure = error
    }
    stream.ended = true
    moved()
  }
  const over = follow()
  return stream
}

export type FollowedStream = ReturnType<typeof followStream>
