// What the processes of a sample have in common: one warms up and says that it is ready, works when the parent lets it go on, says that it is
// done, and reports when all are done, because an engine may run tasks of others that are not.
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import type { Order } from './sample.ts'

/** The first argument of the process. JSON. */
export interface ChildOrder extends Order {
  url: string
  warmSeconds: number
  seconds: number
  /** Whether it creates no tasks. */
  isIdle: boolean
}

export interface ChildReport {
  tasks: number
  ms: number
  cpuMs: number
  // Of errand:
  /** Milliseconds from `create` to the first line of the executor, of the tasks that ran here. */
  waits?: number[]
  statements?: number
  roundTrips?: number
}

export const childOrder = (): ChildOrder => JSON.parse(process.argv[2] as string) as ChildOrder

/** Milliseconds since the epoch, comparable between the processes of a machine. */
export const epochNow = (): number => performance.timeOrigin + performance.now()

/**
 * @param work Creates tasks for so many seconds; resolves to their number when the last is done.
 * @param begin Forgets what was counted.
 * @param counts What was counted since.
 */
export async function serve(
  { warmSeconds, seconds, isIdle }: ChildOrder,
  work: (seconds: number) => Promise<number>,
  begin: () => void,
  counts: () => Pick<ChildReport, 'waits' | 'statements' | 'roundTrips'>,
): Promise<void> {
  // Without its parent it would never end.
  process.once('disconnect', () => process.exit(1))
  if (!isIdle) await work(warmSeconds)
  await exchange('ready')
  begin()
  const cpu = process.cpuUsage()
  const began = performance.now()
  const tasks = isIdle ? 0 : await work(seconds)
  const ms = performance.now() - began
  await exchange('done')
  const { user, system } = process.cpuUsage(cpu)
  await exchange({ tasks, ms, cpuMs: (user + system) / 1_000, ...counts() } satisfies ChildReport)
}

/** Resolves with the answer of the parent. */
async function exchange(message: string | ChildReport): Promise<void> {
  const answer = once(process, 'message')
  process.send?.(message)
  await answer
}
