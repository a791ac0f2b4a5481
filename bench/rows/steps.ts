// Runs tasks of ten journaled calls each, ten tasks at a time.
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { floorDurability, openBare } from '../floors/bare-database.ts'
import { createSlots, inLanes } from '../floors/lanes.ts'
import { defineRow, type Errand } from '../runner/row.ts'

export interface Size {
  tasks: number
  steps: number
  concurrency: number
}

async function runAll({ createEngine }: Errand, folder: string, { tasks, steps, concurrency }: Size): Promise<number> {
  const engine = await createEngine({
    ledger: join(folder, 'ledger.db'),
    maxConcurrent: concurrency,
    executors: {
      async walk(_task, run) {
        for (let n = 0; n < steps; n++) await run.call('step', { n }, () => n)
      },
    },
  })
  const began = performance.now()
  let last = ''
  await inLanes(tasks, concurrency, async () => {
    last = (await engine.create({ executor: 'walk' })).id
  })
  await engine.idle()
  const elapsed = performance.now() - began
  const { total } = await engine.list({ status: 'completed', limit: 0 })
  const calls = await engine.calls(last)
  if (total !== tasks || calls.filter(({ status }) => status === 'completed').length !== steps) {
    throw new Error(`${total} of ${tasks} tasks completed, the last with ${calls.length} of ${steps} calls`)
  }
  await engine.close()
  return elapsed
}

async function runOnFloor(folder: string, { tasks, steps, concurrency }: Size): Promise<number> {
  const bare = openBare(
    folder,
    `create table task (id text primary key, status text, input text, result text);
     create table step (task_id text, n integer, status text, params text, result text, primary key (task_id, n)) without rowid`,
  )
  const insert = bare.database.prepare(`insert into task values (?, 'submitted', 'null', null)`)
  const end = bare.database.prepare(`update task set status = 'completed', result = 'null' where id = ?`)
  const before = bare.database.prepare(`insert into step values (?, ?, 'in_progress', ?, null)`)
  const after = bare.database.prepare(`update step set status = 'completed', result = ? where task_id = ? and n = ?`)
  const slots = createSlots(concurrency)
  const began = performance.now()
  await inLanes(tasks, concurrency, async (task) => {
    const id = `task-${((task * 2_654_435_761) % 2 ** 32).toString(36)}`
    await bare.write(() => void insert.run(id))
    slots.run(async () => {
      for (let n = 0; n < steps; n++) {
        await bare.write(() => void before.run(id, n, JSON.stringify({ n })))
        await bare.write(() => void after.run(JSON.stringify(n), id, n))
      }
      await bare.write(() => void end.run(id))
    })
  })
  await slots.idle()
  const elapsed = performance.now() - began
  const done = bare.database.prepare(`select count(*) from step where status = 'completed'`).pluck().get() as number
  if (done !== tasks * steps) throw new Error(`${done} of ${tasks * steps} steps are completed`)
  bare.close()
  return elapsed
}

const figures = ({ tasks, steps }: Size, elapsedMs: number) => ({ rate: ((tasks * steps) / elapsedMs) * 1_000 })

export const steps = defineRow<Size, Size>({
  name: 'steps',
  title: 'Journaled calls, ten in a task',
  method:
    'Tasks of ten calls. Each call is recorded before it starts, and its outcome after it ends. Ten callers create the tasks, and ten ' +
    'tasks run at a time. The floor inserts one row before a step and updates it after, in group commits, and has one row for each ' +
    'task.',
  figures: {
    rate: { label: 'steps', unit: '/s', better: 'more' },
    peak: { label: 'peak memory', unit: 'MB', better: 'less' },
  },
  sizes: {
    full: { tasks: 1_000, steps: 10, concurrency: 10 },
    quick: { tasks: 300, steps: 10, concurrency: 10 },
    tiny: { tasks: 5, steps: 3, concurrency: 2 },
  },
  rounds: { full: 5, quick: 3, tiny: 1 },
  cases: (size) => [{ name: `concurrency ${size.concurrency}`, given: size }],
  sides: {
    errand: {
      durability: floorDurability,
      measure: async (given, { errand, folder }) => figures(given, await runAll(await errand(), folder, given)),
    },
    floor: {
      durability: floorDurability,
      measure: async (given, { folder }) => figures(given, await runOnFloor(folder, given)),
    },
  },
  goals: [
    { figure: 'rate', case: 'concurrency 10', as: 'ratio', atLeast: 1 / 2 },
    { figure: 'rate', case: 'concurrency 10', as: 'ratio', beside: { side: 'OpenWorkflow' }, atLeast: 3 },
    { figure: 'rate', case: 'concurrency 10', as: 'ratio', beside: { side: 'LangGraph FULL' }, atLeast: 3 },
    { figure: 'rate', case: 'concurrency 10', as: 'ratio', beside: { side: 'LangGraph NORMAL' }, atLeast: 5 },
    { figure: 'rate', case: 'concurrency 10', as: 'ratio', beside: { side: 'Mastra' }, atLeast: 5 },
  ],
})
