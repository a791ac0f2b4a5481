// The cost of inspection: the same trivial tasks without an inspector, with an observer that does nothing, with the relay and one
// receiver in its own process, and without an inspector after one has detached.
import { performance } from 'node:perf_hooks'
import { WebSocket } from 'ws'
import { loadEntry } from '../runner/package.ts'
import { defineRow, type Errand } from '../runner/row.ts'

interface Size {
  tasks: number
}

type Watching =
  | 'no inspector'
  | 'an observer that does nothing'
  | 'the relay with one receiver'
  | 'no inspector any more'

interface Given extends Size {
  watching: Watching
}

const concurrency = 100

type Engine = Awaited<ReturnType<Errand['createEngine']>>

/** Attaches an inspector; resolves to a function that detaches it. */
async function attach(engine: Engine, watching: Watching, packageRoot: string): Promise<() => unknown> {
  if (watching === 'no inspector') return () => {}
  if (watching === 'an observer that does nothing') return engine.inspect(() => {})
  if (watching === 'no inspector any more') {
    engine.inspect(() => {})()
    return () => {}
  }
  const { serveInspector } = await loadEntry<typeof import('errand/inspect')>(packageRoot, 'errand/inspect')
  const server = await serveInspector(engine)
  const receiver = new WebSocket(server.url)
  await new Promise((resolve) => receiver.once('message', resolve))
  return () => server.close()
}

export const inspect = defineRow<Size, Given>({
  name: 'inspect',
  title: 'What an inspector costs',
  method: 'Trivial tasks in a ledger in memory, created at once, a hundred at a time.',
  figures: { each: { label: 'each task', unit: 'µs', better: 'less' } },
  sizes: { full: { tasks: 3_000 }, quick: { tasks: 1_000 }, tiny: { tasks: 5 } },
  rounds: { full: 7, quick: 2, tiny: 1 },
  cases: ({ tasks }) =>
    (
      ['no inspector', 'an observer that does nothing', 'the relay with one receiver', 'no inspector any more'] as const
    ).map((watching) => ({ name: watching, given: { tasks, watching } })),
  sides: {
    errand: {
      durability: '',
      async measure({ tasks, watching }, { errand, packageRoot }) {
        const { createEngine } = await errand()
        const engine: Engine = await createEngine({ maxConcurrent: concurrency, executors: { trivial: () => null } })
        const leave = await attach(engine, watching, packageRoot)
        const began = performance.now()
        await engine.create(Array.from({ length: tasks }, () => ({ executor: 'trivial' as const })))
        await engine.idle()
        const elapsed = performance.now() - began
        const { total } = await engine.list({ status: 'completed', limit: 0 })
        if (total !== tasks) throw new Error(`${total} of ${tasks} tasks completed`)
        await leave()
        await engine.close()
        return { each: (elapsed / tasks) * 1_000 }
      },
    },
  },
})
