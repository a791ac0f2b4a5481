// Creates and runs trivial tasks: `concurrency` callers create one after the other, while as many tasks run at a time.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { floorDurability, openBare } from '../floors/bare-database.ts'
import { createSlots, inLanes } from '../floors/lanes.ts'
import { defineRow, type Errand, type Figures } from '../runner/row.ts'
import { countCommits } from '../runner/statements.ts'

interface Size {
  tasks: number
  concurrency: readonly number[]
}

export interface Given {
  tasks: number
  concurrency: number
}

const commitsFile = (prepared: string): string => join(prepared, 'commits-of-a-task.json')
const calibratedTasks = 100

/** Creates and completes all tasks; returns milliseconds. */
async function runAll({ createEngine }: Errand, folder: string, { tasks, concurrency }: Given): Promise<number> {
  const engine = await createEngine({
    ledger: join(folder, 'ledger.db'),
    maxConcurrent: concurrency,
    executors: { trivial: () => null },
  })
  const began = performance.now()
  await inLanes(tasks, concurrency, () => engine.create({ executor: 'trivial' }))
  await engine.idle()
  const elapsed = performance.now() - began
  const { total } = await engine.list({ status: 'completed', limit: 0 })
  if (total !== tasks) throw new Error(`${total} of ${tasks} tasks completed`)
  await engine.close()
  return elapsed
}

/**
 * One row for a task: inserted, and updated when it ends. The index finds the open tasks after a restart. With one caller the floor makes
 * as many commits as the engine.
 */
async function runOnFloor(folder: string, prepared: string, { tasks, concurrency }: Given): Promise<number> {
  const bare = openBare(
    folder,
    `create table task (id text primary key, executor text not null, status text not null, input text not null, result text,
       created_at integer not null, completed_at integer);
     create index task_open on task (created_at) where completed_at is null`,
  )
  const insert = bare.database.prepare(`insert into task values (?, 'trivial', 'submitted', 'null', null, ?, null)`)
  const start = bare.database.prepare(`update task set status = 'working' where id = ?`)
  const end = bare.database.prepare(
    `update task set status = 'completed', result = 'null', completed_at = ? where id = ?`,
  )
  const commitsOfTask = concurrency > 1 ? 0 : Number(readFileSync(commitsFile(prepared), 'utf8'))
  const slots = createSlots(concurrency)
  let ended = 0

  async function run(id: string): Promise<void> {
    while (bare.commits < (ended + 1) * commitsOfTask - 1) bare.writeNow(() => void start.run(id))
    await bare.write(() => void end.run(Date.now(), id))
    ended++
  }

  const began = performance.now()
  await inLanes(tasks, concurrency, async (n) => {
    const id = `task-${((n * 2_654_435_761) % 2 ** 32).toString(36)}`
    await bare.write(() => void insert.run(id, Date.now()))
    slots.run(() => run(id))
  })
  await slots.idle()
  const elapsed = performance.now() - began
  const done = bare.database.prepare(`select count(*) from task where status = 'completed'`).pluck().get() as number
  if (done !== tasks) throw new Error(`${done} of ${tasks} rows are completed`)
  bare.close()
  return elapsed
}

const figures = (tasks: number, elapsedMs: number): Figures => ({ rate: (tasks / elapsedMs) * 1_000 })

export const throughput = defineRow<Size, Given>({
  name: 'throughput',
  title: 'Create and run trivial tasks',
  method:
    'There are as many callers as slots. Each caller creates tasks one after the other, and waits until each is durable. The tasks ' +
    'return at once. The floor inserts one row for a task, which is indexed while the task is open, and updates it at the end, in ' +
    'group commits. Its slots take tasks while the callers create others, as in errand. With one caller it makes as many commits as ' +
    'errand does.',
  figures: {
    rate: { label: 'tasks', unit: '/s', better: 'more' },
    peak: { label: 'peak memory', unit: 'MB', better: 'less' },
  },
  sizes: {
    full: { tasks: 10_000, concurrency: [1, 10, 100] },
    quick: { tasks: 3_000, concurrency: [1, 10, 100] },
    tiny: { tasks: 20, concurrency: [1, 10] },
  },
  rounds: { full: 5, quick: 3, tiny: 1 },
  cases: ({ tasks, concurrency }) =>
    concurrency.map((each) => ({ name: `concurrency ${each}`, given: { tasks, concurrency: each } })),

  async prepare({ tasks }, { errand, folder, note, packageRoot, prepared }) {
    const given = { tasks: Math.min(tasks, calibratedTasks), concurrency: 1 }
    const commits = await countCommits(packageRoot, async () => runAll(await errand(), folder, given))
    writeFileSync(commitsFile(prepared), String(commits / given.tasks))
    note(`With one caller errand makes ${(commits / given.tasks).toFixed(1)} commits for a task.`)
  },

  sides: {
    errand: {
      durability: floorDurability,
      measure: async (given, { errand, folder }) => figures(given.tasks, await runAll(await errand(), folder, given)),
    },
    floor: {
      durability: floorDurability,
      measure: async (given, { folder, prepared }) => figures(given.tasks, await runOnFloor(folder, prepared, given)),
    },
  },

  goals: [
    { figure: 'rate', case: 'concurrency 1', as: 'ratio', atLeast: 0.6 },
    { figure: 'rate', case: 'concurrency 10', as: 'ratio', atLeast: 1 / 2 },
    { figure: 'rate', case: 'concurrency 100', as: 'ratio', atLeast: 1 / 3 },
    { figure: 'rate', case: 'concurrency 10', as: 'ratio', beside: { side: 'plainjob FULL' }, atLeast: 3 },
    { figure: 'rate', case: 'concurrency 100', as: 'ratio', beside: { side: 'plainjob FULL' }, atLeast: 3 },
    { figure: 'peak', case: 'concurrency 10', as: 'value', atMost: 120 },
    { figure: 'peak', case: 'concurrency 100', as: 'value', atMost: 120 },
  ],
})
