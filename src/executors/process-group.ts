// What can be known of a process group and done to it, be it our own child or the orphan of an engine that died: describe,
// look, end. Knows nothing of the engine. A pid alone names nobody, the kernel gives it away again: a group is known by
// the start time of its leader, or by a mark in the environment of its members when the leader has gone.
import { z } from 'zod'
import { type Clock, systemClock } from '../clock.ts'
import { type ProcessEntry, type ProcessTable, systemProcessTable } from './process-table.ts'
import { pause } from './timed-wait.ts'

/** A group as it is noted in the ledger. Its leader was started as the leader of a session too (`detached`). */
export interface ProcessGroup {
  /** Pid of the leader: the number of the group and of the session. */
  pgid: number
  /** Start time of the leader in the words of the kernel; only ever compared. */
  startedAt: string
  /** `NAME=value` in the environment the group was started with, different for every group. */
  mark: string
}

/** What came of a reclaim: nothing was left, it was ended, or what is there is not provably ours and was left alone. */
export type Reclaimed = 'gone' | 'ended' | 'unproven'

export interface EndOptions {
  /** Milliseconds between TERM and KILL. */
  graceMs: number
  clock?: Clock
  processTable?: ProcessTable
}

/** How long a killed process may take to go: it must only leave the kernel call that it is in. */
const killWaitMs = 10_000
/** Pauses between two looks at the process table, growing from the first to the second. */
const shortestPauseMs = 4
const longestPauseMs = 100

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

/** Whether any process of the group still runs. Zombies do not. */
export async function isAlive(group: ProcessGroup, processTable: ProcessTable = systemProcessTable): Promise<boolean> {
  return (await look(group, processTable)).members.length > 0
}

/**
 * Ends a group that the caller knows to be his: TERM to all of it, KILL to what is left after `graceMs`. Resolves when
 * nothing of it runs any more, at once when nothing does.
 * @throws Error when even KILL does not help: a process of another user, or one that hangs inside the kernel.
 */
export async function terminate(group: ProcessGroup, options: EndOptions): Promise<void> {
  if (await end(group, 'SIGTERM', options.graceMs, options)) return
  if (await end(group, 'SIGKILL', killWaitMs, options)) return
  throw new Error(
    `Process group ${group.pgid} still runs ${killWaitMs} ms after SIGKILL. It hangs inside the kernel or belongs to another user.`,
  )
}

/**
 * Ends a group that has outlived the engine that started it, and waits for its end. What carries its number without being
 * provably the same group is never touched.
 */
export async function reclaim(group: ProcessGroup, options: Partial<EndOptions> = {}): Promise<Reclaimed> {
  const processTable = options.processTable ?? systemProcessTable
  const { leader, members } = await look(group, processTable)
  if (members.length === 0) return 'gone'
  // With the leader there, `look` has compared its start time. Without it one member must show the mark.
  const proven = leader !== undefined || members.some((member) => processTable.hasMark(member.pid, group.mark))
  if (!proven) return 'unproven'
  await terminate(group, { graceMs: 500, ...options })
  return 'ended'
}

/** True when the group has gone, false when it has not after so many milliseconds. */
async function end(
  group: ProcessGroup,
  signal: 'SIGTERM' | 'SIGKILL',
  withinMs: number,
  { clock = systemClock, processTable = systemProcessTable }: EndOptions,
): Promise<boolean> {
  const signaled = new Set<number>()
  let pauseMs = 0
  // Time is counted in pauses, because the wall clock may be set back while we wait.
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    const { members } = await look(group, processTable)
    if (members.length === 0) return true
    for (const pgid of new Set(members.map((member) => member.pgid))) {
      // A second TERM would start a program's clean-up anew, or make it give up on it.
      if (signal === 'SIGKILL' || !signaled.has(pgid)) send(pgid, signal)
      signaled.add(pgid)
    }
    if (waitedMs >= withinMs) return false
    pauseMs = Math.max(shortestPauseMs, Math.min(pauseMs * 2, longestPauseMs, withinMs - waitedMs))
    await pause(clock, pauseMs)
  }
}

/** The group's leader, ended or not, and its members that run. */
async function look(
  group: ProcessGroup,
  processTable: ProcessTable,
): Promise<{ leader: ProcessEntry | undefined; members: ProcessEntry[] }> {
  const first = await find(group, processTable)
  // The table is no snapshot: somebody may fork behind the reader's back and end before he is reached. So nobody is
  // believed to have gone before he was missed twice.
  return first.members.length > 0 ? first : await find(group, processTable)
}

async function find(group: ProcessGroup, processTable: ProcessTable) {
  const processes = await processTable.list()
  const leader = processes.find((entry) => entry.pid === group.pgid)
  // The kernel gives a number away again only when no process, group or session bears it: whoever leads now is a stranger,
  // and of ours nobody is left.
  if (leader !== undefined && leader.startedAt !== group.startedAt) return { leader: undefined, members: [] }
  const members = processes.filter((entry) => !entry.zombie && isMember(entry, group))
  return { leader, members }
}

/** `timeout` and shells with job control put their children into groups of their own, but leave them in the session. */
function isMember(entry: ProcessEntry, group: ProcessGroup): boolean {
  return entry.pgid === group.pgid || entry.sessionId === group.pgid
}

function send(pgid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pgid, signal)
  } catch (error) {
    // ESRCH: it ended since we looked. EPERM: not ours to end, or (macOS) only zombies are left; the next look tells.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
