// Describes, checks and ends the processes of a command, whether a child of this process or an orphan of a dead engine.
// Independent of the engine. A pid alone identifies nothing, because the kernel reuses it: a process is identified by
// its start time, or by a mark in its environment.
import { z } from 'zod'
import { type Clock, systemClock } from '../core/clock.ts'
import { placeOfProcess } from '../core/process-place.ts'
import { sleep } from '../core/signals.ts'
import { type CommandTrace, type Found, ProcessSearch } from './process-search.ts'
import { type ProcessEntry, type ProcessTable, systemProcessTable } from './process-table.ts'

/** A group as it is stored in the ledger. Its leader also leads a session (`detached`). */
export interface ProcessGroup extends CommandTrace {
  pgid: number
  startedAt: string
  /** Where its numbers count (core/process-place.ts). */
  place: string
}

/**
 * Outcome of a reclaim. `none`: nothing was left. `unproven`: what is there cannot be proven to be the command's and
 * was left alone.
 */
export type Reclaimed = 'none' | 'ended' | 'unproven'

export interface EndOptions {
  /** Milliseconds between TERM and KILL. */
  graceMs: number
  clock?: Clock
  processTable?: ProcessTable
}

/** How long an orphan may take to end after KILL before its recovery is postponed. */
const killWaitMs = 2_000
/** Delay between two searches, growing from the first to the second. */
const minPauseMs = 4
const maxPauseMs = 100
/**
 * Delay between two searches for processes still running `killWaitMs` after KILL, or while the process table cannot be
 * read.
 */
const rarePauseMs = 1_000

/** Maximum number of searches for what the stopped processes have started, before they are killed. */
const maxSearches = 5

// 0, 1 and -1 would address our own group, init and all processes.
const processGroupSchema = z.object({
  pgid: z.int().min(2),
  startedAt: z.string().min(1),
  mark: z.string().min(3),
  place: z.string().min(1),
})

/** The process group stored in the details of a call (`{ processGroup }`); undefined without one. */
export function processGroupOf(details: unknown): ProcessGroup | undefined {
  return z.object({ processGroup: processGroupSchema }).safeParse(details).data?.processGroup
}

/** Describes the group that this process leads; undefined when the process does not exist or leads none. */
export async function describeProcessGroup(
  pid: number,
  mark: string,
  processTable: ProcessTable = systemProcessTable,
): Promise<ProcessGroup | undefined> {
  const leader = await processTable.get(pid)
  if (leader === undefined || leader.pgid !== pid) return undefined
  return { pgid: pid, startedAt: leader.startedAt, mark, place: placeOfProcess() }
}

/** Whether any process of the command still runs, in its group or outside. Zombies do not count. */
export async function isAlive(group: ProcessGroup, processTable: ProcessTable = systemProcessTable): Promise<boolean> {
  const [found] = await new ProcessSearch({ processTable, trusted: true }).find([group])
  return membersOf(found as Found).length > 0
}

/**
 * Ends a command that belongs to the caller: TERM to all of it, KILL to what is left after `graceMs`. Resolves only
 * when nothing of it runs any more, immediately when nothing does. A process that even KILL does not end, because it
 * hangs inside the kernel or belongs to another user, is waited for as long as it takes.
 */
export async function terminate(group: ProcessGroup, options: EndOptions): Promise<void> {
  const { processTable = systemProcessTable } = options
  await end(group, new ProcessSearch({ processTable, trusted: true }), options, true)
}

/**
 * Kills commands that belong to the caller, without waiting for their ends. They are stopped first: a process that just
 * forks or leaves its group would escape a single signal, and others could react to the first death before they get a
 * signal.
 */
export async function killAtOnce(
  groups: readonly ProcessGroup[],
  processTable: ProcessTable = systemProcessTable,
): Promise<void> {
  if (groups.length === 0) return
  const search = new ProcessSearch({ processTable, trusted: true })
  const stopped = new Set<number>()
  for (let attempt = 1; attempt <= maxSearches; attempt++) {
    const found = await search.find(groups)
    const fresh = found.flatMap((each) => send('SIGSTOP', membersOf(each), each, stopped))
    if (fresh.length === 0) break
    for (const address of fresh) stopped.add(address)
  }
  for (const address of stopped) sendTo(address, 'SIGKILL')
}

/**
 * Ends commands that have outlived the engine that started them, and waits for their ends. Processes not proven to be
 * theirs are not touched. When nothing is left to do, this takes two readings of the process table for all commands.
 * @throws Error when a process proven to be theirs cannot be ended, after all the others have been; a later retry may
 * help. AggregateError for several.
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
      `The command with ${trace.mark} still runs after its engine has ended, and this process cannot end it, because it belongs to the command. An engine outside of the command can; or wait until the command has ended.`,
    )
  }
  if (members.length > 0) await end(trace, search, options, false)
  if (found.doubtful.length > 0) return 'unproven'
  return members.length > 0 ? 'ended' : 'none'
}

/**
 * @param patient waits as long as it takes; otherwise a process that KILL does not end, or an unreadable process table,
 * throws.
 */
async function end(
  trace: CommandTrace,
  search: ProcessSearch,
  { graceMs, clock = systemClock }: EndOptions,
  patient: boolean,
): Promise<void> {
  const signaled = new Set<number>()
  let pauseMs = 0
  // Time is counted in pauses, because the wall clock may be set back meanwhile.
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    const found = await findProcesses(trace, search, patient)
    if (found !== undefined) {
      const members = membersOf(found)
      if (members.length === 0) return
      // A second TERM would restart a program's clean-up, or make it give up.
      if (waitedMs >= graceMs) send('SIGKILL', members, found)
      else for (const address of send('SIGTERM', firstToEnd(found), found, signaled)) signaled.add(address)
      if (!patient && waitedMs >= graceMs + killWaitMs) throw stillRunning(trace, members)
    }
    pauseMs = nextPause(waitedMs, pauseMs, graceMs, found === undefined)
    await sleep(clock, pauseMs)
  }
}

/** Undefined when the process table cannot be read (no file descriptors left, for example) and `patient` is set. */
async function findProcesses(trace: CommandTrace, search: ProcessSearch, patient: boolean): Promise<Found | undefined> {
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
  // After the grace, searches are frequent again: killed processes end soon.
  if (waitedMs === graceMs) return minPauseMs
  const grown = Math.max(minPauseMs, Math.min(lastMs * 2, maxPauseMs))
  return waitedMs < graceMs ? Math.min(grown, graceMs - waitedMs) : grown
}

function stillRunning(trace: CommandTrace, members: readonly ProcessEntry[]): Error {
  const pids = members.map(({ pid }) => pid).join(', ')
  return new Error(
    `These processes of the command with ${trace.mark} still run ${killWaitMs} ms after SIGKILL: ${pids}. They hang inside the kernel or belong to another user; end them, or wait until they have ended.`,
  )
}

function membersOf({ own, nested }: Found): ProcessEntry[] {
  return [...own, ...nested]
}

/** An engine inside the command gets TERM first, so that it ends its own commands; these get TERM when it has ended. */
function firstToEnd({ own, nested }: Found): readonly ProcessEntry[] {
  return own.length > 0 ? own : nested
}

/**
 * Signals what is not in `except`: a whole group if all of its processes are targets, else single processes. Returns
 * the addresses.
 */
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
    // ESRCH: it has ended since the search. EPERM: not ours to end, or (macOS) only zombies are left; the next search
    // shows it.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
