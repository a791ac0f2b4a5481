// What the user of a task manager is shown: the text of the tasks that run in it, piece by piece, and how each of them ended.

import type { Engine } from '../../api.ts'
import { ErrandError, type StoredError } from '../../errors.ts'
import { completionStatusOf } from './views/status-words.ts'
import { OutputProjection } from './views/task-output.ts'

export type UserOutput =
  /** A piece of what the assistant says; the pieces with one `messageId` are the text of that message. */
  | { type: 'content'; taskId: string; content: string; messageId?: string | undefined }
  /** A task has ended: `success`, `cancelled`, `failed` or `failed: <reason>`. */
  | { type: 'task_complete'; taskId: string; status: string }

export type EmitToUser = (output: UserOutput) => unknown

type Report = (error: unknown, context: Record<string, unknown>) => void

/** Shows each task from the moment at which it runs in this engine: what was said before was shown before. */
export function emitOutput(engine: Engine, emitToUser: EmitToUser, report: Report): void {
  const followed = new Set<string>()
  const show = (output: UserOutput) => emit(emitToUser, output, report)
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

/** What a program does with the output is its own business: its errors end nothing. */
async function emit(emitToUser: EmitToUser, output: UserOutput, report: Report): Promise<void> {
  try {
    await emitToUser(output)
  } catch (error) {
    report(error, { taskId: output.taskId, doing: 'emit to the user' })
  }
}

function isClosed(error: unknown): boolean {
  return ErrandError.isInstance(error) && error.code === 'ENGINE_CLOSED'
}
