// Types of a bus with a task manager: the abilities of Agent OS, models, and those declared by a program. Checked by the compiler only.
import { createBus, createEngine } from 'errand'
import { type AgentBus, createAgentBus, createTaskManager, type TaskOutput } from 'errand/agent-os'
import { expectTypeOf } from 'vitest'

const bus = createAgentBus()
createTaskManager(bus)
// Any bus is accepted.
createTaskManager(createBus())
expectTypeOf((await createEngine()).bus).toExtend<AgentBus>()

expectTypeOf(await bus.call('task:create', { goal: 'Go' })).toEqualTypeOf<{ taskId: string }>()
expectTypeOf((await bus.call('task:spawn', { goal: 'Go' })).status).toEqualTypeOf<'pending' | 'running'>()
expectTypeOf((await bus.call('task:list', {})).total).toEqualTypeOf<number>()
expectTypeOf((await bus.call('ldg:task:get', { taskId: 'task-a' })).task?.completionStatus).toEqualTypeOf<
  string | undefined
>()
expectTypeOf((await bus.call('model:list', {})).models).toExtend<unknown[]>()
for await (const output of bus.stream('task:stream', { taskId: 'task-a' })) {
  expectTypeOf(output).toEqualTypeOf<TaskOutput>()
}
// The engine's own abilities are on its own bus.
expectTypeOf(await bus.call('board:list', {})).toEqualTypeOf<unknown>()

// @ts-expect-error a goal is required
void bus.call('task:create', {})
// @ts-expect-error unknown status
void bus.call('task:list', { status: 'done' })
