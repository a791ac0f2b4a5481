// An engine in a process of its own, to be stopped and woken. Its executors wait in a call until they read a line from stdin, and then print
// the outcome of each of their promises and of each later write.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { ErrandError } from '../../src/core/errors.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'

const [ledger, leaseMs] = process.argv.slice(2) as [string, string]
const report = (line: Record<string, unknown>) => void process.stdout.write(`${JSON.stringify(line)}\n`)

const waiting = new Map<string, () => void>()
const received = new Set<string>()
createInterface({ input: process.stdin }).on('line', (word) => {
  received.add(word)
  waiting.get(word)?.()
})
const lineRead = (word: string) =>
  new Promise<void>((resolve) => {
    if (received.has(word)) resolve()
    else waiting.set(word, resolve)
  })

/** `ok`, or the code of the error with which the promise rejects. */
const outcomeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error: unknown) => (ErrandError.isInstance(error) ? error.code : String(error)),
  )

/** A call that ignores its signal and stays in flight until `go` is read, and further requests beside it. */
const withCall = (others: (run: Run) => Record<string, Promise<unknown>>) => async (task: ExecutorTask, run: Run) => {
  const call = run.call('work', async () => {
    report({ inside: task.id })
    await lineRead('go')
    return 'first'
  })
  const pending = Object.entries({ call, ...others(run) }).map(
    async ([name, promise]) => [name, await outcomeOf(promise)] as const,
  )
  const saw = Object.fromEntries(await Promise.all(pending))
  // A request may be refused by the ledger before the engine has read why its run has ended.
  const isRefused = Object.values(saw).includes('RUN_ENDED')
  if (isRefused && !run.signal.aborted) await once(run.signal, 'abort')
  report({ saw, aborted: run.signal.aborted, taskId: task.id })
  const late = {
    call: run.call('late', () => 'late'),
    message: run.message('assistant', 'late'),
    ask: run.ask('Late?'),
    spawn: run.spawn({ name: 'late' }),
    sleep: run.sleep(1),
    progress: Promise.resolve().then(() => run.progress(0.9)),
  }
  report({
    late: Object.fromEntries(
      await Promise.all(Object.entries(late).map(async ([name, promise]) => [name, await outcomeOf(promise)])),
    ),
  })
  return 'first'
}

const reported: string[] = []
const engine = await createEngine({
  ledger,
  leaseMs: Number(leaseMs),
  onInterrupt: 'rerun',
  onError: (error) => reported.push(String(error)),
  executors: {
    call: withCall(() => ({})),
    ask: withCall((run) => ({ ask: run.ask('Well?') })),
    wait: withCall((run) => ({
      wait: run.spawn({ name: 'by hand', key: 'by hand' }).then((child) => run.wait(child)),
    })),
    /** Only this engine has it: the task that it runs after it was woken. */
    stay: async (task: ExecutorTask, run: Run) => {
      report({ staying: task.id })
      return run.call('stay', async () => {
        await lineRead('enough')
        return 'stayed'
      })
    },
  },
})
report({ ready: engine.instanceId })
await lineRead('leave')
await engine.close()
report({ closed: true, reported })
process.stdin.destroy()
