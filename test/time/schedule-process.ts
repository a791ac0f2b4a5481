// An engine that makes the tasks of schedules in a process of its own, on a clock that its parent moves: each line that it reads is a number of
// milliseconds. It kills itself before or after its n-th step, if an option says so.
import { createInterface } from 'node:readline'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../src/testing/index.ts'
import { createKillingLedger, type KillPoint } from '../crash/killing-ledger.ts'
import { movingOnFirst } from './schedule-fault.ts'

export interface ScheduleProcessOptions {
  ledger: string
  /** The time at which it begins. */
  at: number
  /** How long each task takes. */
  worksMs: number
  death?: KillPoint
  /** The planted fault, whose process dies between its steps in one time of so many. */
  diesMovingOn?: number
}

const options = JSON.parse(process.argv[2] as string) as ScheduleProcessOptions
const report = (line: object) => void process.stdout.write(`${JSON.stringify(line)}\n`)
const input = createInterface({ input: process.stdin })
input.on('close', () => process.exit(3))

const clock = new SimulatedClock(options.at)
const { ledger } = createKillingLedger(await openLedger(options.ledger), options)
await createEngine({
  ledger: options.diesMovingOn === undefined ? ledger : movingOnFirst(ledger, options.diesMovingOn),
  clock,
  executors: { work: (_task: ExecutorTask, run: Run) => run.sleep(options.worksMs) },
  onError: (error) => report({ error: String(error) }),
})
await clock.rest()
report({ ready: true })
input.on('line', (ms) => void clock.advance(Number(ms)).then(() => report({ now: clock.now() })))
