// Reads the kernel's process table: who runs, in which group and session, since when, with which mark in its environment.
// Apart from process-group.ts because this is the only part that differs between Linux (/proc) and the rest (ps).
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** A process as the kernel lists it. */
export interface ProcessEntry {
  pid: number
  pgid: number
  /** Null where the system does not tell. */
  sessionId: number | null
  /** Only ever compared: the same pid with the same text is the same process, across reboots too. */
  startedAt: string
  /** Has ended and waits for its parent to take notice. */
  zombie: boolean
}

export interface ProcessTable {
  list(): Promise<ProcessEntry[]>
  get(pid: number): Promise<ProcessEntry | undefined>
  /** Whether the process was started with this `NAME=value` in its environment; false where that cannot be read. */
  hasMark(pid: number, mark: string): boolean
}

/**
 * Linux. The reads are synchronous because /proc is memory: some microseconds each, a tenth of a detour through the thread
 * pool.
 */
export const linuxProcessTable: ProcessTable = {
  async list() {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.map((pid) => readStat(Number(pid))).filter((entry) => entry !== undefined)
  },
  get: async (pid) => readStat(pid),
  hasMark: (pid, mark) => readProc(`${pid}/environ`)?.split('\0').includes(mark) ?? false,
}

/** macOS and the BSDs. The environment of a process is not readable there. */
export const psProcessTable: ProcessTable = {
  list: () => listByPs(['-A']),
  get: async (pid) => (await listByPs(['-p', String(pid)]))[0],
  hasMark: () => false,
}

export const systemProcessTable: ProcessTable = process.platform === 'linux' ? linuxProcessTable : psProcessTable

function readStat(pid: number): ProcessEntry | undefined {
  const stat = readProc(`${pid}/stat`)
  if (stat === undefined) return undefined
  // The second field is the program's name in parentheses and may hold anything, spaces and parentheses too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state = '', , pgid, sessionId] = fields
  // Field 22 of proc(5): ticks since boot. Which boot is part of the text, else it would say little after the next one.
  const startedAt = `${readBootId()}/${fields[19]}`
  return { pid, pgid: Number(pgid), sessionId: Number(sessionId), startedAt, zombie: isEnded(state) }
}

let bootId: string | undefined
function readBootId(): string {
  bootId ??= readProc('sys/kernel/random/boot_id')?.trim() ?? 'unknown'
  return bootId
}

/** Undefined when the process has ended meanwhile or belongs to somebody whose files we may not read. */
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
  const columns = ['-o', 'pid=,pgid=,stat=,lstart=']
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
  const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)\s*$/.exec(line)
  if (match === null) return undefined
  const [, pid, pgid, state = '', startedAt = ''] = match
  return { pid: Number(pid), pgid: Number(pgid), sessionId: null, startedAt, zombie: isEnded(state) }
}

/** Z: zombie; X: being taken off the table. */
function isEnded(state: string): boolean {
  return state.startsWith('Z') || state.startsWith('X')
}
