// Claims and completes tasks without an executor, with one commit for a claim and one for a completion: one process, and several that
// compete for the same tasks in one file.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { WorkReport } from '../claims/claims-worker.ts'
import { floorDurability } from '../floors/bare-database.ts'
import { defineRow } from '../runner/row.ts'
import { quantile } from '../runner/statistics.ts'

interface Size {
  tasks: number
  processes: readonly number[]
}

interface Given {
  tasks: number
  processes: number
}

const writtenAtOnce = 1_000

/** Resolves when the process has loaded the engine; then `go` starts its work. */
async function startWorker(packageRoot: string, path: string, owner: string): Promise<{ go(): Promise<WorkReport> }> {
  const worker = join(import.meta.dirname, '../claims/claims-worker.ts')
  const child = spawn(process.execPath, [worker, packageRoot, path, owner], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  await lines.next()
  return {
    async go() {
      child.stdin.write('go\n')
      const { value } = await lines.next()
      child.stdin.end()
      return JSON.parse(value as string) as WorkReport
    },
  }
}

export const claims = defineRow<Size, Given>({
  name: 'claims',
  title: 'Claims from outside',
  method:
    'Processes claim any task, complete it and claim the next, until no task is left. The latency is that of a claim that gets a ' +
    'task.',
  figures: {
    rate: { label: 'tasks', unit: '/s', better: 'more' },
    p50: { label: 'claim p50', unit: 'ms', better: 'less' },
    p99: { label: 'claim p99', unit: 'ms', better: 'less' },
  },
  sizes: {
    full: { tasks: 1_000, processes: [1, 8] },
    quick: { tasks: 300, processes: [1, 4] },
    tiny: { tasks: 4, processes: [1, 2] },
  },
  rounds: { full: 3, quick: 2, tiny: 1 },
  cases: ({ tasks, processes }) =>
    processes.map((each) => ({
      name: each === 1 ? '1 process' : `${each} processes`,
      given: { tasks, processes: each },
    })),
  sides: {
    errand: {
      durability: floorDurability,
      async measure({ tasks, processes }, { errand, folder, packageRoot }) {
        const { createEngine } = await errand()
        const path = join(folder, 'ledger.db')
        const engine = await createEngine({ ledger: path, work: false })
        for (let made = 0; made < tasks; made += writtenAtOnce) {
          const length = Math.min(writtenAtOnce, tasks - made)
          await engine.create(Array.from({ length }, (_, n) => ({ name: 'claimable', priority: n % 5 })))
        }
        const workers = await Promise.all(
          Array.from({ length: processes }, (_, n) => startWorker(packageRoot, path, `worker-${n}`)),
        )
        const reports = await Promise.all(workers.map((worker) => worker.go()))
        const { total } = await engine.list({ status: 'completed', limit: 0 })
        await engine.close()
        const latencies = reports.flatMap((report) => report.latencies)
        if (latencies.length !== tasks || total !== tasks) {
          throw new Error(`${latencies.length} claims and ${total} completions of ${tasks} tasks`)
        }
        const took = Math.max(...reports.map(({ ended }) => ended)) - Math.min(...reports.map(({ started }) => started))
        return {
          rate: (tasks / took) * 1_000,
          p50: quantile(latencies, 0.5),
          p99: quantile(latencies, 0.99),
        }
      },
    },
  },
})
