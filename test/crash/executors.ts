// The executors of the crash tests, the same in every process. Each executed call appends its id to a file, which is compared with the ledger.
import { appendFileSync } from 'node:fs'
import { createShell } from '../../src/commands/shell.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'

export interface Effect {
  callId: string
  taskId: string
  name: string
}

export interface CrashExecutorOptions {
  /** The file of effects. */
  effects: string
  /** Reports to the test what happens, so that the test can kill the process. */
  report?: (line: Record<string, unknown>) => void
  /** Resolves when the test sends a line. */
  go?: () => Promise<void>
  /** The planted fault: executes calls before they are recorded. */
  executeFirst?: boolean
}

export function crashExecutors({ effects, report = () => {}, go, executeFirst = false }: CrashExecutorOptions) {
  const happen = (effect: Effect) => {
    appendFileSync(effects, `${JSON.stringify(effect)}\n`)
    report({ executed: effect.name, taskId: effect.taskId })
  }
  /** A journaled call that appends its effect; its result names the call and its task. */
  const act = (task: ExecutorTask, run: Run, name: string, then?: (signal: AbortSignal) => Promise<unknown>) => {
    if (executeFirst) {
      happen({ callId: `unrecorded-${run.number}`, taskId: task.id, name })
      return run.call(name, () => `${name} of ${task.id}`)
    }
    return run.call(name, async (_params, { callId, signal }) => {
      happen({ callId, taskId: task.id, name })
      await then?.(signal)
      return `${name} of ${task.id}`
    })
  }
  const untilAborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })

  return {
    shell: createShell({ killGraceMs: 500 }),
    /** One call. */
    leaf: (task: ExecutorTask, run: Run) => act(task, run, 'leaf'),
    /** Uses every method of a run. */
    everyStep: async (task: ExecutorTask, run: Run) => {
      if (Array.isArray(task.input)) return [...task.input, await act(task, run, 'two')]
      await act(task, run, 'one')
      await run.message('assistant', 'between')
      const child = await run.spawn({ executor: 'leaf' })
      const leaf = await run.wait(child)
      const answer = await run.ask('Well?', null, { timeoutMs: 5, default: 'so' })
      await run.progress(0.5)
      await run.sleep(5)
      const raced = await run.race([run.ask('Really?'), run.waitForSignal('no'), run.sleep(5).then(() => 'slept')])
      return run.continueAsNew([leaf === `leaf of ${child.id}`, answer, raced])
    },
    /** A call that lasts until the test sends a line. */
    held: (task: ExecutorTask, run: Run) =>
      act(task, run, 'held', async (signal) => {
        report({ inside: task.id })
        await Promise.race([go?.() ?? untilAborted(signal), untilAborted(signal)])
      }),
    /** A run without calls that lasts until it is aborted, and reports that. */
    idle: async (task: ExecutorTask, run: Run) => {
      report({ idling: task.id, run: run.number })
      await untilAborted(run.signal)
      report({ aborted: task.id, at: Date.now() })
      await run.call('late', () => 'late').catch(() => {})
    },
    asks: (_task: ExecutorTask, run: Run) => run.ask('Well?'),
    sleeps: (task: ExecutorTask, run: Run) => run.sleep((task.input as { ms: number }).ms),
    /** Waits for a child that is not started. */
    waits: async (_task: ExecutorTask, run: Run) => {
      const child = await run.spawn({ name: 'by hand', executor: 'leaf', autoStart: false, key: 'by hand' })
      return run.wait(child)
    },
    /** Two calls for each document, `atOnce` documents at a time, in another order in each run. */
    documents: async (task: ExecutorTask, run: Run) => {
      const { count, atOnce } = task.input as { count: number; atOnce: number }
      const names = Array.from({ length: count }, (_, index) => `doc${(index * 7 + run.number * 3) % count}`)
      const results: Record<string, unknown> = {}
      const worker = async () => {
        for (let name = names.shift(); name !== undefined; name = names.shift()) {
          const document = name
          const call = (step: string, params: unknown, make: () => string) =>
            run.call(step, params, async (_params, { callId }) => {
              happen({ callId, taskId: task.id, name: `${step} ${document}` })
              await turns(document.length + (callId.charCodeAt(8) % 5))
              return make()
            })
          const text = await call('read', { document }, () => `text of ${document}`)
          results[document] = await call('sum', { text }, () => `sum of ${text}`)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, worker))
      return results
    },
    throws: async () => {
      throw new Error('on purpose')
    },
  }
}

/** Some turns of the event loop, so that calls end in another order than they began. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}
