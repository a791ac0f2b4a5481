// Reads the kernel's process table: pid, parent, group, session, start time and environment of each process. Separate
// from process-group.ts because only this part differs between Linux (/proc) and other systems (ps).
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** A process as the kernel lists it. */
export interface ProcessEntry {
  pid: number
  /** The parent; the kernel replaces it when the parent ends. */
  ppid: number
  pgid: number
  /** Null where the system does not report it. */
  sessionId: number | null
  /** Only ever compared: the same pid with the same text is the same process, across reboots too. */
  startedAt: string
  /** Has ended and waits for its parent to collect its exit status. */
  zombie: boolean
}

export interface ProcessTable {
  list(): Promise<ProcessEntry[]>
  get(pid: number): Promise<ProcessEntry | undefined>
  /**
   * The `NAME=value` texts that the process was started with; empty when they cannot be read. Undefined during
   * `execve`: the kernel shows none for a moment.
   */
  environment(pid: number): readonly string[] | undefined
}

/**
 * Linux. The reads are synchronous because /proc is memory: some microseconds each, a tenth of the cost of the thread
 * pool.
 */
export const linuxProcessTable: ProcessTable = {
  async list() {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.map((pid) => readStat(Number(pid))).filter((entry) => entry !== undefined)
  },
  get: async (pid) => readStat(pid),
  environment(pid) {
    const environ = readProc(`${pid}/environ`)
    if (environ === '' && isBetweenPrograms(pid)) return undefined
    return environ?.split('\0') ?? []
  },
}

/** macOS and the BSDs. The environment of a process cannot be read there (docs/decisions/0022). */
export const psProcessTable: ProcessTable = {
  list: () => listByPs(['-A']),
  get: async (pid) => (await listByPs(['-p', String(pid)]))[0],
  environment: () => [],
}

export const systemProcessTable: ProcessTable = process.platform === 'linux' ? linuxProcessTable : psProcessTable

/**
 * False when the process was started before that time, and so cannot be a child of what started then. Known on Linux
 * only; elsewhere true.
 */
export function startedSince(entry: ProcessEntry, startedAt: string): boolean {
  const [bootId, ticks] = startedAt.split('/')
  const [ownBootId, ownTicks] = entry.startedAt.split('/')
  if (ticks === undefined || ownTicks === undefined) return true
  return ownBootId === bootId && Number(ownTicks) >= Number(ticks)
}

function readStat(pid: number): ProcessEntry | undefined {
  const fields = readStatFields(pid)
  if (fields === undefined) return undefined
  const [state = '', ppid, pgid, sessionId] = fields
  // Field 22 of proc(5): ticks since boot. Combined with the boot id, so that start times of different boots differ.
  const startedAt = `${readBootId()}/${fields[19]}`
  const zombie = isEnded(state)
  return { pid, ppid: Number(ppid), pgid: Number(pgid), sessionId: Number(sessionId), startedAt, zombie }
}

/** The fields of proc(5) from the third on. */
function readStatFields(pid: number): string[] | undefined {
  const stat = readProc(`${pid}/stat`)
  // The second field is the program's name in parentheses and may hold anything, spaces and parentheses too.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/**
 * Whether the process has memory (field 23) of which no part is known to be its environment yet (field 51): it is in
 * `execve`.
 */
function isBetweenPrograms(pid: number): boolean {
  const fields = readStatFields(pid)
  return fields !== undefined && fields[20] !== '0' && fields[48] === '0'
}

let bootId: string | undefined
function readBootId(): string {
  bootId ??= readProc('sys/kernel/random/boot_id')?.trim() ?? 'unknown'
  return bootId
}

/** Undefined when the process has ended meanwhile or its files may not be read. */
function readProc(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

async function listByPs(selection: string[]): Promise<ProcessEntry[]> {
  // The start time is printed in the reader's language and time zone, and must be the same text for every reader.
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
  const columns = ['-o', 'pid=,ppid=,pgid=,stat=,lstart=']
  try {
    const { stdout } = await promisify(execFile)('ps', [...selection, ...columns], { env, maxBuffer: 64 * 1024 * 1024 })
    return stdout
      .split('\n')
      .map(parsePsLine)
      .filter((entry) => entry !== undefined)
  } catch (error) {
    // Exit code 1 with nothing on stderr: no such process.
    if ((error as { code?: unknown }).code === 1 && (error as { stderr?: string }).stderr === '') return []
    throw error
  }
}

function parsePsLine(line: string): ProcessEntry | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)\s*$/.exec(line)
  if (match === null) return undefined
  const [, pid, ppid, pgid, state = '', startedAt = ''] = match
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    pgid: Number(pgid),
    sessionId: null,
    startedAt,
    zombie: isEnded(state),
  }
}

/** Z: zombie; X: being removed from the table. */
function isEnded(state: string): boolean {
  return state.startsWith('Z') || state.startsWith('X')
}
