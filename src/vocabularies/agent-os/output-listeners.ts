// Listeners of single tasks (conformance S1-065): each reads `task:stream` for itself, so each hears everything in one order.

import { requireFunction, requireText } from '../../parse.ts'
import type { AgentBus } from './agent-bus.ts'
import type { TaskOutput } from './views/task-output.ts'

/** Hears the output of a task; one that returns a promise hears the next piece when it has settled. */
export type OutputListener = (output: TaskOutput) => unknown

type Report = (error: unknown, context: Record<string, unknown>) => void

/** Tells a listener all that a task gives, from its start on. Returns how to stop. */
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
