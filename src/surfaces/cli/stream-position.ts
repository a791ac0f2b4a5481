// The stream of a task: followed while it is told, how far it has something to tell, and where a conversation stood when somebody
// spoke.
import type { Engine, StreamItem } from '../../engine-api.ts'
import type { EventType } from '../../entities/event.ts'

/** Events that are seen in a stream for certain: the last of these is where what exists of it ends. */
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

/** The position at which the stream of a task has told all that there is of it by now; 0 for nothing. */
export async function lastPosition(engine: Engine, taskId: string): Promise<number> {
  let last = 0
  for await (const event of engine.events({ taskId, follow: false })) if (streamed.has(event.type)) last = event.seq
  return last
}

/** The position of the last thing that a person told a task, or with which one set it going again; 0 when nobody did. */
export async function lastToldPosition(engine: Engine, taskId: string): Promise<number> {
  let last = 0
  for await (const { type, seq, data } of engine.events({ taskId, follow: false })) {
    if (type === 'task.resumed' || (type === 'message.appended' && data['role'] === 'user')) last = seq
  }
  return last
}

/** The stream of a task, told as it comes. */
export function followStream(engine: Engine, taskId: string, after: number, take: (item: StreamItem) => void) {
  const stop = new AbortController()
  let position = after
  let failure: unknown
  let moved: () => void = () => {}
  const stream = {
    /** It has told of the end of its task. */
    ended: false,
    /** Resolves when all is told that the ledger has of the task by now. */
    async caughtUp(): Promise<void> {
      const last = await lastPosition(engine, taskId)
      while (!stream.ended && position < last) {
        await new Promise<void>((resolve) => {
          moved = resolve
        })
      }
      if (failure !== undefined) throw failure
    },
    /** Stops it where it is. */
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
      // Told to whoever waits for it; a stream that nobody waits for any more may end with its engine.
      failure = error
    }
    stream.ended = true
    moved()
  }
  const over = follow()
  return stream
}

export type FollowedStream = ReturnType<typeof followStream>
