// Who hears what tasks give: listeners of single tasks, and the user of a task manager, who is shown the text of the tasks that run in
// it, piece by piece, and how each of them ended.
import type { Report } from '../../actors/report.ts'
import { ErrandError, type StoredError } from '../../core/errors.ts'
import { requireFunction, requireText } from '../../core/parse.ts'
import type { Engine } from '../../engine-api.ts'
import type { AgentBus } from './agent-bus.ts'
import { completionStatusOf } from './views/status-mapping.ts'
import { OutputProjection, type TaskOutput } from './views/task-output.ts'

/** Hears the output of a task; one that returns a promise hears the next piece when it has settled. */
export type OutputListener = (output: TaskOutput) => unknown

/**
 * Tells a listener all that a task gives, from its start on. Returns how to stop. Each listener reads `task:stream` for itself, so each
 * hears everything in one order (conformance S1-065).
 */
export function listenToOutput(bus: AgentBus, taskId: string, listener: OutputListener, report: Report): () => void {
  const id = requireText(taskId, 'the task id')
  const hear = requireFunction(listener, 'the listener of onOutput')
  const gone = new AbortController()
  void (async () => {
    for await (const output of bus.stream('task:stream', { taskId: id }, { signal: gone.signal })) {
      if (gone.signal.aborted) return
      await hear(output)
    }
  })().catch((error: unknown) => {
    if (!gone.signal.aborted) report(error, { taskId: id, doing: 'listen to the output of a task' })
  })
  return () => gone.abort()
}

export type UserOutput =
  /** A piece of what the assistant says; the pieces with one `messageId` are the text of that message. */
  | { type: 'content'; taskId: string; content: string; messageId?: string | undefined }
  /** A task has ended: `success`, `cancelled`, `failed` or `failed: <reason>`. */
  | { type: 'task_complete'; taskId: string; status: string }

export type EmitToUser = (output: UserOutput) => unknown

/** Shows each task from the moment at which it runs in this engine: what was said before was shown before. */
export function emitOutput(engine: Engine, emitToUser: EmitToUser, report: Report): void {
  const followed = new Set<string>()
  /** What a program does with the output is its own business: its errors end nothing. */
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
      // At shutdown the task stays open, and the next manager goes on with it.
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
  // The names of tools are not shown here.
  const projection = new OutputProjection((abilityId) => abilityId)
  let error: StoredError | null = null
  for await (const item of engine.stream(taskId, { after })) {
    for (const output of projection.outputOf(item)) {
      if (output.type === 'content') await show(output)
    }
    if (item.type === 'error') error = item.error
    if (item.type !== 'end') continue
    // From here on it may be retried, and is then followed anew.
    ended()
    const status = completionStatusOf({ status: item.status, statusReason: null, error })
    await show({ type: 'task_complete', taskId, status: status as string })
  }
}

function isClosed(error: unknown): boolean {
  return ErrandError.isInstance(error) && error.code === 'ENGINE_CLOSED'
}
