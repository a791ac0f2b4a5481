// An engine in a process of its own whose runs stay until they end, or keep its event loop busy. It reports as lines of JSON.
import { setTimeout } from 'node:timers/promises'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'

export interface LifeProcessOptions {
  ledger: string
  leaseMs: number
  /** How long each piece of work of `busy` keeps the event loop busy, and how many there are. */
  busy?: { ms: number; times: number }
}

const { ledger, leaseMs, busy } = JSON.parse(process.argv[2] as string) as LifeProcessOptions
const report = (line: Record<string, unknown>) => void process.stdout.write(`${JSON.stringify(line)}\n`)

function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

const engine = await createEngine({
  ledger,
  leaseMs,
  onInterrupt: 'rerun',
  onError: (error) => report({ error: String(error) }),
  executors: {
    stay: async (task: ExecutorTask, run: Run) => {
      run.signal.addEventListener('abort', () => report({ aborted: task.id, run: run.number }))
      report({ inside: task.id })
      await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()))
    },
    busy: async (task: ExecutorTask, run: Run) => {
      report({ inside: task.id })
      for (let n = 0; n < (busy?.times ?? 0) && !run.signal.aborted; n++) {
        work(busy?.ms as number)
        // A shorter pause, or `setImmediate`, may end before the event loop has looked for messages.
        await setTimeout(20)
      }
      report({ over: task.id, aborted: run.signal.aborted })
      return 'first'
    },
  },
})
report({ ready: engine.instanceId })
process.stdin.on('close', () => process.exit(3)).resume()
