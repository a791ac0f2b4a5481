// An engine in a process of its own, to be killed. It is told what to do by one argument, tells what happens by lines of JSON,
// and dies by its own hand before or after the n-th step when it is told to: the fault is in the port, the engine knows nothing.
import { createInterface } from 'node:readline'
import { createEngine } from '../../src/create-engine.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { crashExecutors } from './executors.ts'
import { createMortalLedger } from './mortal-ledger.ts'

export interface ProcessOrders {
  ledger: string
  effects: string
  /** What to create, each with its key. */
  create?: object[]
  /** Closes and leaves when these have settled: all that were created, or none. */
  leave?: 'settled' | 'never' | 'at once'
  /** Dies before the n-th step is taken up, or right after it is durable. */
  dieAt?: { step: number; when: 'before' | 'after' }
  /** Tells every event. */
  follow?: boolean
  maxConcurrent?: number
  maxCrashes?: number
  onInterrupt?: 'fail' | 'rerun' | 'ask'
  executeFirst?: boolean
}

const orders = JSON.parse(process.argv[2] as string) as ProcessOrders
const tell = (line: Record<string, unknown>) => void process.stdout.write(`${JSON.stringify(line)}\n`)

const input = createInterface({ input: process.stdin })
const said = Promise.withResolvers<void>()
input.on('line', () => said.resolve())
input.on('close', () => process.exit(3))

const inner = await openLedger(orders.ledger)
const { ledger, steps } = createMortalLedger(inner, orders.dieAt)
const engine = await createEngine({
  ledger,
  executors: crashExecutors({
    effects: orders.effects,
    tell,
    go: () => said.promise,
    executeFirst: orders.executeFirst ?? false,
  }),
  maxConcurrent: orders.maxConcurrent ?? 10,
  onInterrupt: orders.onInterrupt ?? 'fail',
  ...(orders.maxCrashes === undefined ? {} : { maxCrashes: orders.maxCrashes }),
  onError: (error, context) => tell({ error: String(error), context }),
})
if (orders.follow) engine.subscribe('*', ({ seq, type, taskId }) => tell({ seq, type, taskId }))
const tasks: Array<{ id: string }> = []
if (orders.create !== undefined)
  tasks.push(...((await engine.create(orders.create as never)) as unknown as typeof tasks))
tell({ ready: true, tasks: tasks.map((task) => task.id) })
if (orders.leave !== 'never') {
  if (orders.leave !== 'at once') await Promise.all(tasks.map((task) => engine.settled(task)))
  await engine.close()
  await inner.close()
  tell({ steps: steps().length })
  input.removeAllListeners('close')
  input.close()
  process.stdin.unref?.()
}
