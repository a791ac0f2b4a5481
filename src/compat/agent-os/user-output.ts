// Delivers the output of tasks: to listeners of single tasks, and to the user of a task manager, who receives the text of the tasks that
// run in it, piece by piece, and how each of them ended.
import type { Report } from '../../actors/report.ts'
import { ErrandError, type StoredError } from '../../core/errors.ts'
import { requireFunction, requireText } from '../../core/parse.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { AgentBus } from './agent-bus.ts'
import { completionStatusOf } from './views/status-mapping.ts'
import { OutputProjection, type TaskOutput } from './views/task-output.ts'

/** Receives the output of a task; the next piece follows when a returned promise has settled. */
export type OutputListener = (output: TaskOutput) => unknown

/**
 * Passes the whole output of a task to a listener. Returns a function that stops it. Each listener reads `task:stream` separately, so
 * each receives everything in one order.
 */
export function listenToOutput(bus: AgentBus, taskId: string, listener: OutputListener, report: Report): () => void {
  const id = requireText(taskId, 'the task id')
  const deliver = requireFunction(listener, 'the listener of onOutput')
  const stopped = new AbortController()
  void (async () => {
    for await (const output of bus.stream('task:stream', { taskId: id }, { signal: stopped.signal })) {
      if (stopped.signal.aborted) return
      await deliver(output)
    }
  })().catch((error: unknown) => {
    if (!stopped.signal.aborted) report(error, { taskId: id, doing: 'listen to the output of a task' })
  })
  return () => stopped.abort()
}

export type UserOutput =
  /** A piece of the assistant's text; the pieces with one `messageId` form that message. */
  | { type: 'content'; taskId: string; content: string; messageId?: string | undefined }
  /** A task has ended: `success`, `cancelled`, `failed` or `failed: <reason>`. */
  | { type: 'task_complete'; taskId: string; status: string }

export type EmitToUser = (output: UserOutput) => unknown

/** Shows each task from the time at which it runs in this engine; earlier output was shown by an earlier run. */
export function emitOutput(engine: Engine, emitToUser: EmitToUser, report: Report): void {
  const followed = new Set<string>()
  /** Errors of the program's callback are reported and do not end the stream. */
  const show = async (output: UserOutput): Promise<void> => {
    try {
      await emitToUser(output)
    } catch (error) {
      report(error, { taskId: output.taskId, doing: 'emit to the user' })
    }
  }
  engine.subscribe('task.started', ({ taskId, seq, instanceId }) => {
    if (instanceId !== engine.instanceId || followed.has(taskId)) return
    followed.add(taskId)
    const ended = () => void followed.delete(taskId)
    followTask(engine, { taskId, after: seq, ended }, show).catch((error: unknown) => {
      // At shutdown the task stays open; the next manager continues it.
      if (!isClosed(error)) report(error, { taskId, doing: 'show the output of a task' })
      ended()
    })
  })
}

async function followTask(
  engine: Engine,
  { taskId, after, ended }: { taskId: string; after: number; ended: () => void },
  show: (output: UserOutput) => Promise<void>,
): Promise<void> {
  // Tool names are not shown here.
  const projection = new OutputProjection((abilityId) => abilityId)
  let error: StoredError | null = null
  for await (const item of engine.stream(taskId, { after })) {
    for (const output of projection.outputOf(item)) {
      if (output.type === 'content') await show(output)
    }
    if (item.type === 'error') error = item.error
    if (item.type !== 'end') continue
    // The task may be retried from now on, and is then followed again.
    ended()
    const status = completionStatusOf({ status: item.status, statusReason: null, error })
    await show({ type: 'task_complete', taskId, status: status as string })
  }
}

function isClosed(error: unknown): boolean {
  return ErrandError.isInstance(error) && error.code === 'ENGINE_CLOSED'
}
