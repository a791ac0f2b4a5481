// Runs a purge: short transactions, with room for the work of this and other processes between them. A purge that was cut off is finished
// by the next one, of any engine.
import type { Clock } from '../core/clock.ts'
import { nextTurn } from '../core/turns.ts'
import type { Op, Purgeable, PurgePosition, Reads, Step } from '../ledger/ledger.ts'
import {
  beginPurge,
  findFamilies,
  forgetMail,
  maxTasksRemoved,
  type PurgeBatch,
  removeRows,
  tasksToRemove,
  unchanged,
} from '../operations/steps/purge.ts'

export interface PurgeHost {
  readonly clock: Clock
  read<R>(query: (tx: Reads) => Op<R>): Promise<R>
  step<R>(step: Step<R>): Promise<R>
  /** Asked between two transactions: a purge that stops is finished later. */
  mayGoOn(): boolean
}

export interface PurgeSum {
  tasks: number
  families: number
  events: number
  /** True if it removed first what an earlier purge had left. */
  finishedEarlier?: true
}

/** The maximum of attempts to mark a family while others write faster than the changes can be examined: the next purge tries again. */
const maxAttempts = 10
/** The maximum of a pause, in milliseconds: the clock may jump by hours while a transaction runs. */
const maxPauseMs = 1_000

/** Purges the families that settled before a time. */
export async function purgeFamilies(host: PurgeHost, before: number): Promise<PurgeSum> {
  const sum: PurgeSum = { tasks: 0, families: 0, events: 0 }
  if (await finishPurge(host)) sum.finishedEarlier = true
  await repeat(host, forgetMail(before))
  for (let after: PurgePosition | undefined; host.mayGoOn(); ) {
    const from = after
    // Hundreds of pages may hold no family that can be purged.
    await nextTurn()
    const { next, ...batch } = await host.read((tx) => findFamilies(tx, before, from))
    for (const { tasks, events } of await begin(host, batch)) {
      sum.families++
      sum.tasks += tasks
      sum.events += events
    }
    await finishPurge(host)
    if (next === undefined) break
    after = next
  }
  return sum
}

/** Removes what purges have begun to remove. Returns whether there was anything. */
export async function finishPurge(host: PurgeHost): Promise<boolean> {
  let isAny = false
  while (host.mayGoOn()) {
    await nextTurn()
    const tasks = await host.read(tasksToRemove)
    if (tasks.length === 0) break
    isAny = true
    for (let at = 0; at < tasks.length; at += maxTasksRemoved) {
      await repeat(host, removeRows(tasks.slice(at, at + maxTasksRemoved)))
    }
  }
  return isAny
}

async function begin(host: PurgeHost, batch: PurgeBatch): Promise<Purgeable[]> {
  let current = batch
  for (let attempt = 0; current.families.length > 0 && attempt < maxAttempts; attempt++) {
    const found = current
    const begun = await host.step(beginPurge(found))
    if (begun !== undefined) return begun
    current = await host.read((tx) => unchanged(tx, found))
  }
  return []
}

/** Pauses for as long as each transaction took, so that other processes get the write lock. */
async function repeat({ clock, step, mayGoOn }: PurgeHost, more: Step<boolean>): Promise<void> {
  for (let isMore = true; isMore && mayGoOn(); ) {
    const since = clock.now()
    isMore = await step(more)
    const tookMs = clock.now() - since
    if (tookMs > 0) await new Promise<void>((resume) => clock.setTimeout(() => resume(), Math.min(tookMs, maxPauseMs)))
  }
}
