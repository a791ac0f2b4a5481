// The heap that tasks cost which do nothing: they are rows, so it must not grow with them.
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { floorDurability } from '../floors/bare-database.ts'
import { settledHeap } from '../runner/heap.ts'
import { defineRow, type Errand } from '../runner/row.ts'

interface Size {
  tasks: number
}

type Resting = 'submitted' | 'paused' | 'waiting'

interface Given {
  tasks: number
  status: Resting
}

const batch = 1_000
const day = 86_400_000
const pollMs = 20
/** What the last commits have left to do is done then. */
const restMs = 200

async function open({ createEngine }: Errand, folder: string, status: Resting) {
  const engine = await createEngine({
    ledger: join(folder, 'ledger.db'),
    maxConcurrent: 100,
    executors: {
      submitted: () => null,
      paused: (_task, run) =>
        new Promise((_resolve, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason))),
      waiting: (_task, run) => run.sleep(day),
    },
  })
  if (status === 'paused') engine.subscribe('task.started', ({ taskId }) => void engine.pause(taskId))
  return engine
}

type Engine = Awaited<ReturnType<typeof open>>

/** Creates tasks in batches and brings each batch to rest. */
async function rest(engine: Engine, { tasks, status }: Given, before: number): Promise<void> {
  for (let made = 0; made < tasks; made += batch) {
    const size = Math.min(batch, tasks - made)
    await engine.create(Array.from({ length: size }, () => ({ executor: status, autoStart: status !== 'submitted' })))
    const wanted = before + made + size
    while ((await engine.list({ status, limit: 0 })).total < wanted) {
      await delay(pollMs)
    }
  }
}

export const memoryAtRest = defineRow<Size, Given>({
  name: 'memory-at-rest',
  title: 'Memory of tasks at rest',
  method:
    'An engine creates tasks and brings each task into the state that the row names. The heap after garbage collection is compared with the heap after the ' +
    'first thousand tasks. A paused task ran and was paused; a waiting one sleeps for a day.',
  figures: { heap: { label: 'heap', unit: 'bytes a task', better: 'less' } },
  sizes: { full: { tasks: 100_000 }, quick: { tasks: 10_000 }, tiny: { tasks: 20 } },
  rounds: { full: 1, quick: 1, tiny: 1 },
  cases: ({ tasks }) =>
    (['submitted', 'paused', 'waiting'] as const).map((status) => ({ name: status, given: { tasks, status } })),
  sides: {
    errand: {
      durability: floorDurability,
      async measure(given, { errand, folder }) {
        const engine = await open(await errand(), folder, given.status)
        const warmUp = Math.min(batch, given.tasks)
        await rest(engine, { ...given, tasks: warmUp }, 0)
        await delay(restMs)
        const before = settledHeap()
        await rest(engine, given, warmUp)
        await delay(restMs)
        const heap = (settledHeap() - before) / given.tasks
        await engine.close()
        return { heap }
      },
    },
  },
  goals: ['submitted', 'paused', 'waiting'].map((name) => ({ figure: 'heap', case: name, as: 'value', atMost: 20 })),
})
