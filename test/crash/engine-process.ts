// An engine in a process of its own, to be killed. Its only argument holds its options as JSON; it reports as lines of JSON, and kills itself
// before or after the n-th step if an option says so. The fault is injected through the ledger, not by hooks in the engine.
import { createInterface } from 'node:readline'
import { createEngine } from '../../src/engine/create-engine.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { crashExecutors } from './executors.ts'
import { type CrashPoints, createKillingLedger } from './killing-ledger.ts'

export interface ProcessOptions extends CrashPoints {
  ledger: string
  effects: string
  /** The tasks to create, each with its key. */
  create?: object[]
  /** When the process closes the engine and ends: when all created tasks have settled, never, or at once. */
  leave?: 'settled' | 'never' | 'at once'
  /** Reports every event. */
  follow?: boolean
  maxConcurrent?: number
  maxCrashes?: number
  onInterrupt?: 'fail' | 'rerun' | 'ask'
  executeFirst?: boolean
  /** The file to which spans are appended when they end; `lateSpans`, the planted fault: a moment later. */
  spans?: string
  lateSpans?: boolean
  /** Purges what settled before this time, and works on nothing. */
  purgeBefore?: number
}

const options = JSON.parse(process.argv[2] as string) as ProcessOptions
const report = (line: Record<string, unknown>) => void process.stdout.write(`${JSON.stringify(line)}\n`)

const input = createInterface({ input: process.stdin })
const lineRead = Promise.withResolvers<void>()
input.on('line', () => lineRead.resolve())
input.on('close', () => process.exit(3))

const inner = await openLedger(options.ledger)
const { ledger, steps } = createKillingLedger(inner, options)
const engine = await createEngine({
  ledger,
  executors: crashExecutors({
    effects: options.effects,
    report,
    go: () => lineRead.promise,
    executeFirst: options.executeFirst ?? false,
  }),
  maxConcurrent: options.maxConcurrent ?? 10,
  onInterrupt: options.onInterrupt ?? 'fail',
  ...(options.spans === undefined
    ? {}
    : {
        telemetry: (await import('../otel/spans.ts')).telemetryTo(options.spans, { late: options.lateSpans === true }),
      }),
  ...(options.purgeBefore === undefined ? {} : { work: false }),
  ...(options.maxCrashes === undefined ? {} : { maxCrashes: options.maxCrashes }),
  onError: (error, context) => report({ error: String(error), context }),
})
if (options.follow) engine.subscribe('*', ({ seq, type, taskId }) => report({ seq, type, taskId }))
const tasks: Array<{ id: string }> = []
if (options.create !== undefined)
  tasks.push(...((await engine.create(options.create as never)) as unknown as typeof tasks))
if (options.purgeBefore !== undefined) report({ purged: await engine.purge({ before: options.purgeBefore }) })
report({ ready: true, tasks: tasks.map((task) => task.id) })
if (options.leave !== 'never') {
  if (options.leave !== 'at once') await Promise.all(tasks.map((task) => engine.settled(task)))
  await engine.close()
  await inner.close()
  report({ steps: steps().length })
  input.removeAllListeners('close')
  input.close()
  process.stdin.unref?.()
}
