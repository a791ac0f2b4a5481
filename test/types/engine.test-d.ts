// Types flow from an executor to create, result and settled; a wrong input does not compile. Checked by plain tsc: this file
// is never run.
import {
  createEngine,
  defineExecutor,
  type Engine,
  type ExecutorTask,
  type InputOf,
  type Outcome,
  type ResultOf,
  type Run,
  type StreamItem,
  type Task,
  type TaskStatus,
} from 'errand'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'

const resize = defineExecutor({
  input: z.object({ dir: z.string(), width: z.number().default(800) }),
  result: z.object({ count: z.number() }),
  retry: { maxAttempts: 3, backoffMs: 1000 },
  run: async (task, run) => {
    expectTypeOf(task.input).toEqualTypeOf<{ dir: string; width: number }>()
    expectTypeOf(run).toEqualTypeOf<Run>()
    expectTypeOf(run.signal).toEqualTypeOf<AbortSignal>()
    expectTypeOf(await run.call('shrink', { by: 2 }, ({ by }) => `${by}`)).toEqualTypeOf<string>()
    expectTypeOf(await run.call('look', async () => 7)).toEqualTypeOf<number>()
    expectTypeOf(await run.ask<boolean>('Go on?')).toEqualTypeOf<boolean>()
    expectTypeOf(await run.ask('Go on?')).toEqualTypeOf<unknown>()
    const paid = z.object({ amount: z.number().default(1) })
    expectTypeOf(await run.waitForSignal('go')).toEqualTypeOf<unknown>()
    expectTypeOf(await run.waitForSignal<string>('go')).toEqualTypeOf<string>()
    expectTypeOf(await run.waitForSignal('paid', { schema: paid })).toEqualTypeOf<{ amount: number }>()
    expectTypeOf(await run.waitForSignal('paid', { schema: paid, timeoutMs: '1h' })).toEqualTypeOf<{
      amount: number
    } | null>()
    const hook = await run.webhook({ schema: paid })
    expectTypeOf(await hook.wait()).toEqualTypeOf<{ amount: number }>()
    expectTypeOf(await hook.wait({ timeoutMs: 5 })).toEqualTypeOf<{ amount: number } | null>()
    expectTypeOf(await run.ask('Go on?', { type: 'boolean' })).toEqualTypeOf<unknown>()
    expectTypeOf(await run.ask('Go on?', z.boolean())).toEqualTypeOf<boolean>()
    expectTypeOf(await run.ask('When?', z.string().transform(Number), { default: '7' })).toEqualTypeOf<number>()
    return { count: 1 }
  },
})
const greet = (task: ExecutorTask<{ name: string }>) => `Hello ${task.input.name}`
const free = () => Promise.resolve(7)

expectTypeOf<InputOf<typeof resize>>().toEqualTypeOf<{ dir: string; width?: number | undefined }>()
expectTypeOf<ResultOf<typeof resize>>().toEqualTypeOf<{ count: number }>()
expectTypeOf<InputOf<typeof greet>>().toEqualTypeOf<{ name: string }>()
expectTypeOf<ResultOf<typeof free>>().toEqualTypeOf<number>()

const engine = await createEngine({ executors: { resize, greet, free }, limits: { resize: 2 } })

const task = await engine.create({ executor: 'resize', input: { dir: 'photos' }, priority: 5 })
expectTypeOf(task).toEqualTypeOf<Task<{ count: number }>>()
expectTypeOf(task.status).toEqualTypeOf<TaskStatus>()
expectTypeOf(await engine.result(task)).toEqualTypeOf<{ count: number }>()
expectTypeOf(await engine.result(task.id)).toEqualTypeOf<{ count: number }>()
expectTypeOf(await engine.get(task)).toEqualTypeOf<Task<{ count: number }> | null>()
expectTypeOf(await engine.result('task-a')).toEqualTypeOf<unknown>()
expectTypeOf(await engine.result<string>('task-a')).toEqualTypeOf<string>()

const outcome = await engine.settled(task)
if (outcome.status === 'completed') expectTypeOf(outcome.result).toEqualTypeOf<{ count: number }>()
if (outcome.status === 'failed') expectTypeOf(outcome.error.code).toEqualTypeOf<string>()
if (outcome.status === 'canceled') expectTypeOf(outcome.statusReason).toEqualTypeOf<string | null>()

expectTypeOf(await engine.create({ executor: resize, input: { dir: 'photos' } })).toEqualTypeOf<
  Task<{ count: number }>
>()
expectTypeOf(await engine.create({ executor: 'greet', input: { name: 'Ada' } })).toEqualTypeOf<Task<string>>()
expectTypeOf(await engine.create({ executor: 'free' })).toEqualTypeOf<Task<number>>()
expectTypeOf(await engine.create({ name: 'by hand' })).toEqualTypeOf<Task>()
expectTypeOf(
  await engine.create([{ name: 'a' }, { executor: 'free' }, { executor: 'greet', input: { name: 'Ada' } }]),
).toEqualTypeOf<[Task, Task<number>, Task<string>]>()
expectTypeOf(
  await engine.create({
    name: 'album',
    tasks: {
      small: { executor: 'resize', input: { dir: 'small', width: 100 } },
      rest: {
        after: 'small',
        tasks: { large: { executor: resize, input: { dir: 'large' } }, hello: { executor: 'free' } },
      },
    },
  }),
).toEqualTypeOf<Task>()

// A list of which the length is known at run time, with names that are known now, and with any.
const folders = ['a', 'b'].map((dir) => ({ executor: 'resize' as const, input: { dir } }))
expectTypeOf(await engine.create(folders)).toEqualTypeOf<Array<Task<{ count: number }>>>()
const found: string = 'resize'
expectTypeOf(await engine.create([{ executor: found, input: 7 }])).toEqualTypeOf<[Task]>()
expectTypeOf(await engine.create(['a'].map((name) => ({ name })))).toEqualTypeOf<Task[]>()

// `input` may be missing where the executor takes none.
const none = defineExecutor({ input: z.object({ n: z.number() }).optional(), run: () => null })
const nullable = (task: ExecutorTask<number | null>) => task.input
const idle = await createEngine({ executors: { none, nullable } })
await idle.create([{ executor: 'none' }, { executor: 'nullable' }, { executor: none, input: { n: 1 } }])

// What a run spawns and waits for has the types of its executors.
export const parent = async (_task: ExecutorTask, run: Run) => {
  const photo = await run.spawn({ executor: resize, input: { dir: 'photos' } })
  expectTypeOf(photo).toEqualTypeOf<Task<{ count: number }>>()
  const pair = await run.spawn([{ executor: resize, input: { dir: 'photos' } }, { name: 'by hand' }])
  expectTypeOf(pair).toEqualTypeOf<[Task<{ count: number }>, Task]>()
  expectTypeOf(await run.wait(photo)).toEqualTypeOf<{ count: number }>()
  expectTypeOf(await run.wait(photo.id)).toEqualTypeOf<{ count: number }>()
  expectTypeOf(await run.wait('task-a')).toEqualTypeOf<unknown>()
  expectTypeOf(await run.wait([photo, 'task-a'])).toEqualTypeOf<[{ count: number }, unknown]>()
  expectTypeOf(await run.wait(pair)).toEqualTypeOf<[{ count: number }, unknown]>()
  expectTypeOf(await run.wait(photo, { settled: true })).toEqualTypeOf<Outcome<{ count: number }>>()
  expectTypeOf(await run.wait(['task-a'], { settled: true, timeoutMs: 5 })).toEqualTypeOf<[Outcome]>()
  expectTypeOf(await run.wait([photo, photo], { mode: 'any' })).toEqualTypeOf<
    [{ count: number } | null, { count: number } | null]
  >()
  expectTypeOf(await run.wait(photo, { settled: true, untilMessage: true })).toEqualTypeOf<Outcome<{
    count: number
  }> | null>()
  const ids: string[] = []
  expectTypeOf(await run.wait(ids)).toEqualTypeOf<unknown[]>()
  expectTypeOf(await run.race([run.wait(photo), run.sleep('1h').then(() => 'late' as const)])).toEqualTypeOf<
    { count: number } | 'late'
  >()
  expectTypeOf(await run.race(ids.map((id, at) => run.wait(id).then(() => at)))).toEqualTypeOf<number>()
  expectTypeOf(await run.continueAsNew({ count: 1 })).toEqualTypeOf<never>()
  // Names are typed once a program declares its own.
  expectTypeOf(await run.spawn({ executor: 'elsewhere', input: 7 })).toEqualTypeOf<Task<any>>()

  // @ts-expect-error: `dir` must be a string.
  await run.spawn({ executor: resize, input: { dir: 7 } })
  // @ts-expect-error: `input` is required.
  await run.spawn([{ executor: resize }])
  // @ts-expect-error: there is no such field.
  await run.spawn({ nmae: 'by hand' })
  // @ts-expect-error: a child has no other parent.
  await run.spawn({ name: 'by hand', parentId: photo.id })
  // @ts-expect-error: there is no such option.
  await run.wait(photo, { timoutMs: 5 })
}

for await (const item of engine.stream(task)) {
  expectTypeOf(item).toEqualTypeOf<StreamItem>()
  if (item.type === 'end') expectTypeOf(item.status).toEqualTypeOf<'completed' | 'failed' | 'canceled'>()
  if (item.type === 'message') expectTypeOf(item.content).toEqualTypeOf<string>()
}

// `test/packaging/type-errors.test.ts` says where each of these errors is, and what it says.
// @ts-expect-error: `dir` must be a string.
await engine.create({ executor: 'resize', input: { dir: 7 } })
// @ts-expect-error: `input` is required.
await engine.create({ executor: resize })
// @ts-expect-error: there is no such executor.
await engine.create({ executor: 'resise', input: { dir: 'photos' } })
// @ts-expect-error: there is no such option.
await engine.create({ name: 'a', prioritty: 3 })
// @ts-expect-error: `dir` must be a string.
await engine.create([{ name: 'a' }, { executor: 'resize', input: { dir: 7 } }])
// @ts-expect-error: `input` is required.
await engine.create({ name: 'a', tasks: { b: { tasks: { c: { executor: 'resize' } } } } })
// @ts-expect-error: limits name executors of this engine.
await createEngine({ executors: { free }, limits: { fre: 1 } })
// @ts-expect-error: the result must fit what is declared.
defineExecutor({ result: z.object({ count: z.number() }), run: () => ({ count: 'one' }) })
// @ts-expect-error: there is no such event.
engine.subscribe('task.exploded', () => {})
// @ts-expect-error: there is no such status.
await engine.list({ status: 'runing' })
await engine.list({ status: 'running' })
// @ts-expect-error: parents do not change.
await engine.update(task, { parentId: 'task-a' })

// A producer has no executors of its own and may name any.
const producer = await createEngine({ work: false })
expectTypeOf((await producer.create({ executor: 'elsewhere', input: 7 })).status).toEqualTypeOf<TaskStatus>()

// An engine of known executors is an engine of any.
const some: Engine = engine as unknown as Engine
expectTypeOf((await some.create({ executor: 'whatever' })).id).toExtend<string>()

// A team's context is whole unless its text is asked for.
expectTypeOf((await engine.task.context({ taskId: 'task-a' })).progress.done).toEqualTypeOf<number>()
expectTypeOf((await engine.task.context({ taskId: 'task-a', format: 'json' })).keyFacts).toExtend<object[]>()
expectTypeOf(await engine.task.context({ taskId: 'task-a', format: 'text' })).toEqualTypeOf<{ text: string }>()
declare const either: 'json' | 'text'
expectTypeOf((await engine.task.context({ taskId: 'task-a', format: either })).text).toEqualTypeOf<string | undefined>()

const nightly = { name: 'nightly', every: '1d' } as const
const build = { executor: 'resize', input: { dir: 'a' } }
await engine.schedules.put({
  ...nightly,
  task: { name: 'Nightly', tasks: { build, test: { after: 'build', goal: 'Test it' } } },
})
// @ts-expect-error: a field of a subtask of a schedule that does not exist.
await engine.schedules.put({ ...nightly, task: { name: 'Nightly', tasks: { build: { exectuor: 'resize' } } } })
// @ts-expect-error: a schedule makes many tasks, which cannot have the same key.
await engine.schedules.put({ ...nightly, task: { name: 'Nightly', tasks: { build: { key: 'a' } } } })
// @ts-expect-error: siblings are named by texts.
await engine.schedules.put({ ...nightly, task: { name: 'Nightly', tasks: { build: { ...build, after: 1 } } } })
// @ts-expect-error: the same holds for the subtasks of a new task by the ability.
await engine.bus.call('task:create', { name: 'Nightly', tasks: { build: { exectuor: 'resize' } } })
