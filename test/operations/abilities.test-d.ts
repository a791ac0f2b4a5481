// The types of inputs and outputs by ability id, checked by the compiler alone.
import { createEngine, type TaskStatus } from 'errand'
import { expectTypeOf } from 'vitest'

const { bus } = await createEngine()

expectTypeOf((await bus.call('task:create', { goal: 'Go' })).branch).toEqualTypeOf<string | null>()
expectTypeOf((await bus.call('task:pause', { taskId: 'task-a' })).status).toEqualTypeOf<TaskStatus>()
expectTypeOf((await bus.call('task:list', {})).total).toEqualTypeOf<number | null>()
for await (const item of bus.stream('task:stream', { taskId: 'task-a' })) {
  expectTypeOf(item.seq).toEqualTypeOf<number>()
}

// @ts-expect-error the task is required
void bus.call('task:pause', {})
// @ts-expect-error there is no such status
void bus.call('task:list', { status: 'done' })
