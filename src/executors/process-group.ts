// What can be known of the processes of a command and done to them, be it our own child or the orphan of an engine that died:
// describe, look, end. Knows nothing of the engine. A pid alone names nobody, the kernel gives it away again: a process is
// known by its start time, or by a mark in its environment.
import { z } from 'zod'
import { type Clock, systemClock } from '../core/clock.ts'
import { rest } from '../core/signals.ts'
import { type CommandTrace, type Found, ProcessSearch } from './process-search.ts'
import { type ProcessEntry, type ProcessTable, systemProcessTable } from './process-table.ts'

/** A group as it is noted in the ledger. Its leader was started as the leader of a session too (`detached`). */
export interface ProcessGroup extends CommandTrace {
  pgid: number
  startedAt: string
}

/** What came of a reclaim: nothing was left, it was ended, or what is there is not provably ours and was left alone. */
export type Reclaimed = 'gone' | 'ended' | 'unproven'

export interface EndOptions {
  /** Milliseconds between TERM and KILL. */
  graceMs: number
  clock?: Clock
  processTable?: ProcessTable
}

/** How long an orphan may take to go once it is killed, before its recovery is put off. */
const killWaitMs = 2_000
/** Pauses between two looks at the process table, growing from the first to the second. */
const minPauseMs = 4
const maxPauseMs = 100
/** The pause between two looks at what `killWaitMs` after KILL still runs, or while the process table cannot be read. */
const rarePauseMs = 1_000

/** How often is looked for what the processes that are stopped have started, before they are killed. */
const maxConcurrentLooks = 5

// 0, 1 and -1 would address our own group, init and everybody.
const processGroupSchema = z.object({ pgid: z.int().min(2), startedAt: z.string().min(1), mark: z.string().min(3) })

/** The process group that a call noted in its details (`{ processGroup }`), if it noted one. */
export function processGroupOf(details: unknown): ProcessGroup | undefined {
  return z.object({ processGroup: processGroupSchema }).safeParse(details).data?.processGroup
}

/** Describes the group that this process leads; undefined when there is no such process or it leads none. */
export async function describeProcessGroup(
  pid: number,
  mark: string,
  processTable: ProcessTable = systemProcessTable,
): Promise<ProcessGroup | undefined> {
  const leader = await processTable.get(pid)
  if (leader === undefined || leader.pgid !== pid) return undefined
  return { pgid: pid, startedAt: leader.startedAt, mark }
}

/** Whether any process of the command still runs, outside of its group too. Zombies do not. */
export async function isAlive(group: ProcessGroup, processTable: ProcessTable = systemProcessTable): Promise<boolean> {
  const [found] = await new ProcessSearch({ processTable, trusted: true }).find([group])
  return membersOf(found as Found).length > 0
}

/**
 * Ends a command that the caller knows to be his: TERM to all of it, KILL to what is left after `graceMs`. Resolves only when
 * nothing of it runs any more, at once when nothing does. A process that even KILL does not end, because it hangs inside the
 * kernel or belongs to another user, is waited for as long as it takes.
 */
export async function terminate(group: ProcessGroup, options: EndOptions): Promise<void> {
  const { processTable = systemProcessTable } = options
  await end(group, new ProcessSearch({ processTable, trusted: true }), options, true)
}

/**
 * Kills commands that the caller knows to be his, and does not wait for their ends. They are stopped first: a process that just
 * forks or leaves its group would escape a single signal, and the first death would be noticed before a second one.
 */
export async function killAtOnce(
  groups: readonly ProcessGroup[],
  processTable: ProcessTable = systemProcessTable,
): Promise<void> {
  if (groups.length === 0) return
  const search = new ProcessSearch({ processTable, trusted: true })
  const stopped = new Set<number>()
  for (let look = 1; look <= maxConcurrentLooks; look++) {
    const found = await search.find(groups)
    const fresh = found.flatMap((each) => send('SIGSTOP', membersOf(each), each, stopped))
    if (fresh.length === 0) break
    for (const address of fresh) stopped.add(address)
  }
  for (const address of stopped) sendTo(address, 'SIGKILL')
}

/**
 * Ends commands that have outlived the engine that started them, and waits for their ends. What is not provably theirs is not
 * touched. Where nothing is left to do, the process table is read twice for all of them.
 * @throws Error when a process that is provably theirs cannot be ended, after all the others have been; it may help to try
 *   again later. AggregateError for several.
 */
export async function reclaimAll(
  traces: readonly CommandTrace[],
  options: Partial<EndOptions> = {},
): Promise<Reclaimed[]> {
  if (traces.length === 0) return []
  const search = new ProcessSearch({ processTable: options.processTable ?? systemProcessTable, trusted: false })
  const found = await search.find(traces)
  const outcomes = await Promise.allSettled(
    traces.map((trace, index) => reclaim(trace, found[index] as Found, search, { graceMs: 500, ...options })),
  )
  const failures: unknown[] = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  if (failures.length > 1) throw new AggregateError(failures, failures.map((each) => (each as Error).message).join(' '))
  if (failures.length === 1) throw failures[0]
  return outcomes.map((outcome) => (outcome as PromiseFulfilledResult<Reclaimed>).value)
}

async function reclaim(
  trace: CommandTrace,
  found: Found,
  search: ProcessSearch,
  options: EndOptions,
): Promise<Reclaimed> {
  const members = membersOf(found)
  if (members.some(({ pid }) => pid === process.pid)) {
    throw new Error(
      `The command with ${trace.mark} has outlived its engine, and this process is part of it: it does not end itself. The command is left to an engine outside of it, or until it has ended.`,
    )
  }
  if (members.length > 0) await end(trace, search, options, false)
  if (found.doubtful.length > 0) return 'unproven'
  return members.length > 0 ? 'ended' : 'gone'
}

/** @param patient waits as long as it takes; without it what KILL does not end, and a process table that cannot be read, throws. */
async function end(
  trace: CommandTrace,
  search: ProcessSearch,
  { graceMs, clock = systemClock }: EndOptions,
  patient: boolean,
): Promise<void> {
  const asked = new Set<number>()
  let pauseMs = 0
  // Time is counted in pauses, because the wall clock may be set back while we wait.
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    const found = await look(trace, search, patient)
    if (found !== undefined) {
      const members = membersOf(found)
      if (members.length === 0) return
      // A second TERM would start a program's clean-up anew, or make it give up on it.
      if (waitedMs >= graceMs) send('SIGKILL', members, found)
      else for (const address of send('SIGTERM', firstToEnd(found), found, asked)) asked.add(address)
      if (!patient && waitedMs >= graceMs + killWaitMs) throw stillRunning(trace, members)
    }
    pauseMs = nextPause(waitedMs, pauseMs, graceMs, found === undefined)
    await rest(clock, pauseMs)
  }
}

/** Undefined when the process table cannot be read (no file descriptors left, say) and the end must be awaited all the same. */
async function look(trace: CommandTrace, search: ProcessSearch, patient: boolean): Promise<Found | undefined> {
  try {
    const [found] = await search.find([trace])
    return found
  } catch (error) {
    if (patient) return undefined
    throw error
  }
}

function nextPause(waitedMs: number, lastMs: number, graceMs: number, unreadable: boolean): number {
  if (unreadable || waitedMs >= graceMs + killWaitMs) return rarePauseMs
  // The end of the grace begins the looks anew: what is killed goes soon.
  if (waitedMs === graceMs) return minPauseMs
  const grown = Math.max(minPauseMs, Math.min(lastMs * 2, maxPauseMs))
  return waitedMs < graceMs ? Math.min(grown, graceMs - waitedMs) : grown
}

function stillRunning(trace: CommandTrace, members: readonly ProcessEntry[]): Error {
  const pids = members.map(({ pid }) => pid).join(', ')
  return new Error(
    `Of the command with ${trace.mark}, these processes still run ${killWaitMs} ms after SIGKILL: ${pids}. They hang inside the kernel or belong to another user; end them, or wait until they have ended.`,
  )
}

function membersOf({ own, nested }: Found): ProcessEntry[] {
  return [...own, ...nested]
}

/** An engine inside of the command is asked first, and ends its commands in its own way; they are asked when it has gone. */
function firstToEnd({ own, nested }: Found): readonly ProcessEntry[] {
  return own.length > 0 ? own : nested
}

/** Signals what is not in `except`: whole groups where all of them are targets, else one by one. Returns what was addressed. */
function send(
  signal: NodeJS.Signals,
  targets: readonly ProcessEntry[],
  { running }: Found,
  except: ReadonlySet<number> = new Set(),
): number[] {
  const addresses = [...new Set(targets.map(({ pgid }) => pgid))].flatMap((pgid) => {
    const members = targets.filter((entry) => entry.pgid === pgid)
    // 0 is the number of a group outside of our container, and would address our own.
    const whole = pgid > 1 && members.length === running.filter((entry) => entry.pgid === pgid).length
    return whole ? [-pgid] : members.map(({ pid }) => pid)
  })
  const fresh = addresses.filter((address) => !except.has(address))
  for (const address of fresh) sendTo(address, signal)
  return fresh
}

function sendTo(address: number, signal: NodeJS.Signals): void {
  try {
    process.kill(address, signal)
  } catch (error) {
    // ESRCH: it ended since we looked. EPERM: not ours to end, or (macOS) only zombies are left; the next look tells.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
