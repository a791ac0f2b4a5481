// Shared by the tests of the abilities of Agent OS: a task manager on a bus, with its engine, and the output of tasks.
import { expect, onTestFinished } from 'vitest'
import {
  type AgentBus,
  createAgentBus,
  createTaskManager,
  type TaskManagerConfig,
  type TaskOutput,
} from '../../../src/compat/agent-os.ts'
import type { Engine, ExecutorMap } from '../../../src/engine/engine-api.ts'
import { surface } from '../../operations/world.ts'

/** A task manager in memory. Without an `onError` of the test, a reported error fails the test. */
export async function openManager<const E extends ExecutorMap = Record<never, never>>(
  config: TaskManagerConfig & { executors?: E } = {},
) {
  const reported: unknown[] = []
  const bus = createAgentBus()
  const manager = createTaskManager(bus, {
    onError: (error, context) => reported.push({ error, context }),
    // Closing waits for the steps of models, and those of tests may never answer.
    shutdownTimeoutMs: 50,
    ...config,
  })
  onTestFinished(async () => {
    await manager.shutdown()
    expect(reported).toEqual([])
  })
  return { bus, engine: (await manager.engine) as unknown as Engine<E>, call: surface({ bus }) }
}

/** The output of a task to its end. */
export async function outputOf({ bus }: { bus: AgentBus }, taskId: string): Promise<TaskOutput[]> {
  const found: TaskOutput[] = []
  for await (const json of bus.invokeStream('task:stream')(JSON.stringify({ taskId }))) {
    found.push(JSON.parse(json) as TaskOutput)
  }
  return found
}

/** Output without task and message ids. */
export function inShort(output: readonly TaskOutput[]): unknown[] {
  return output.map((item) => {
    const { taskId: _task, ...rest } = item
    const { messageId: _message, ...short } = rest as Record<string, unknown>
    return short
  })
}

/** The whole text of an output. */
export function textOf(output: readonly TaskOutput[]): string {
  return output.map((item) => (item.type === 'content' ? item.content : '')).join('')
}
