// An engine in a process of its own, to be stopped and woken. Its executors wait in the middle of what they do until they are
// told to go on, and tell what each of their promises came to; what they write after that is told too.
import { createInterface } from 'node:readline'
import type { ExecutorTask, Run } from '../../src/api/executor.ts'
import { ErrandError } from '../../src/core/errors.ts'
import { createEngine } from '../../src/create-engine.ts'

const [ledger, leaseMs] = process.argv.slice(2) as [string, string]
const tell = (line: Record<string, unknown>) => void process.stdout.write(`${JSON.stringify(line)}\n`)

const waiting = new Map<string, () => void>()
const said = new Set<string>()
createInterface({ input: process.stdin }).on('line', (word) => {
  said.add(word)
  waiting.get(word)?.()
})
const told = (word: string) =>
  new Promise<void>((resolve) => {
    if (said.has(word)) resolve()
    else waiting.set(word, resolve)
  })

/** What a promise came to, in a word: the code of its refusal, or `ok`. */
const outcomeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error: unknown) => (ErrandError.isInstance(error) ? error.code : String(error)),
  )

/** A call that is in flight until the outside says go, whatever its signal says; beside it something that is waited for. */
const beside = (what: (run: Run) => Record<string, Promise<unknown>>) => async (task: ExecutorTask, run: Run) => {
  const call = run.call('work', async () => {
    tell({ inside: task.id })
    await told('go')
    return 'first'
  })
  const pending = Object.entries({ call, ...what(run) }).map(
    async ([name, promise]) => [name, await outcomeOf(promise)] as const,
  )
  tell({ saw: Object.fromEntries(await Promise.all(pending)), aborted: run.signal.aborted, taskId: task.id })
  const late = {
    call: run.call('late', () => 'late'),
    message: run.message('assistant', 'late'),
    ask: run.ask('Late?'),
    spawn: run.spawn({ name: 'late' }),
    sleep: run.sleep(1),
    progress: Promise.resolve().then(() => run.progress(0.9)),
  }
  tell({
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
    call: beside(() => ({})),
    ask: beside((run) => ({ ask: run.ask('Well?') })),
    wait: beside((run) => ({
      wait: run.spawn({ name: 'by hand', key: 'by hand' }).then((child) => run.wait(child)),
    })),
    /** Only this engine has it: what it does after it was woken. */
    stay: async (task: ExecutorTask, run: Run) => {
      tell({ staying: task.id })
      return run.call('stay', async () => {
        await told('enough')
        return 'stayed'
      })
    },
  },
})
tell({ ready: engine.instanceId })
await told('leave')
await engine.close()
tell({ closed: true, reported })
process.stdin.destroy()
