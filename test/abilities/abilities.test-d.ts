// Types of the abilities by their ids: what is given and what comes back, checked by the compiler alone.
import { createEngine, type TaskOutput } from 'errand'
import { expectTypeOf } from 'vitest'

const { bus } = await createEngine()

expectTypeOf(await bus.call('task:create', { goal: 'Go' })).toEqualTypeOf<{ taskId: string; branch: string }>()
expectTypeOf((await bus.call('task:spawn', { goal: 'Go' })).status).toEqualTypeOf<'pending' | 'running'>()
expectTypeOf((await bus.call('task:list', {})).total).toEqualTypeOf<number>()
for await (const output of bus.stream('task:stream', { taskId: 'task-a' })) {
  expectTypeOf(output).toEqualTypeOf<TaskOutput>()
}

// @ts-expect-error a goal is required
void bus.call('task:spawn', {})
// @ts-expect-error there is no such status
void bus.call('task:list', { status: 'done' })
