// Finds the processes of a command: those of its group and session, those with its mark, and their descendants. Why
// these three ways, and what none of them finds: docs/decisions/0022.
import { marksIn, type ShownMarks } from './process-mark.ts'
import { type ProcessEntry, type ProcessTable, startedSince } from './process-table.ts'

/** What identifies the processes of a command. */
export interface CommandTrace {
  /** `NAME=value` in the environment that the command was started with, different for every command. */
  mark: string
  /** Pid of the leader: the number of its group and session. Undefined when it is no longer known. */
  pgid?: number
  /** Start time of the leader as the kernel prints it; only ever compared. */
  startedAt?: string
}

export interface SearchOptions {
  processTable: ProcessTable
  /** The group is that of a child of this process, so a process with its number needs no proof. */
  trusted: boolean
}

/** The running processes of a command, without zombies. */
export interface Found {
  /** Processes that the command itself started. */
  own: readonly ProcessEntry[]
  /** Processes that an engine inside the command started for its own commands: that engine ends them first. */
  nested: readonly ProcessEntry[]
  /** Processes with the number of the group that cannot be distinguished from foreign ones. */
  doubtful: readonly ProcessEntry[]
  /** All running processes, to see what else is in their groups. */
  running: readonly ProcessEntry[]
}

/** How a process belongs to a command. */
type Relation = 'own' | 'nested'

/** One reading of the process table, with the requested marks. */
interface Reading {
  processes: readonly ProcessEntry[]
  running: readonly ProcessEntry[]
  marks(entry: ProcessEntry): ShownMarks
  /** A process was in `execve`, so its environment could not be read. */
  incomplete: boolean
}

/** Maximum number of readings, to find processes that show no environment for a moment. */
const maxReadings = 5

export class ProcessSearch {
  readonly #options: SearchOptions
  /**
   * Processes found for each trace, by pid and start time: they still belong to it when their parent has ended or their
   * mark is no longer shown.
   */
  readonly #known = new Map<CommandTrace, Map<string, Relation>>()

  constructor(options: SearchOptions) {
    this.#options = options
  }

  /** Searches for all traces in the same readings of the process table; the results are in the order of the traces. */
  async find(traces: readonly CommandTrace[]): Promise<Found[]> {
    const first = await this.#read()
    const found = traces.map((trace) => this.#findIn(first, trace))
    // The table is not a snapshot: a process may be forked at a position already read and its parent may end before it is
    // read. So a process counts as ended only after it was missed twice.
    for (let reading = 2, incomplete = true; incomplete && reading <= maxReadings; reading++) {
      if (found.every((each) => !isEmpty(each))) break
      const next = await this.#read()
      for (const [index, trace] of traces.entries()) {
        if (isEmpty(found[index] as Found)) found[index] = this.#findIn(next, trace)
      }
      incomplete = next.incomplete
    }
    return found
  }

  async #read(): Promise<Reading> {
    const { processTable } = this.#options
    const known = new Map<number, ShownMarks>()
    const processes = await processTable.list()
    const reading: Reading = {
      processes,
      running: processes.filter(({ zombie }) => !zombie),
      incomplete: false,
      marks({ pid }) {
        const shown = known.get(pid)
        if (shown !== undefined) return shown
        const environment = processTable.environment(pid)
        if (environment === undefined) reading.incomplete = true
        const marks = marksIn(environment ?? [])
        known.set(pid, marks)
        return marks
      },
    }
    return reading
  }

  #findIn(reading: Reading, trace: CommandTrace): Found {
    const { processes, running } = reading
    const relation = (entry: ProcessEntry): Relation | undefined => {
      if (trace.startedAt !== undefined && !startedSince(entry, trace.startedAt)) return undefined
      const { own, outer } = reading.marks(entry)
      if (own === trace.mark) return 'own'
      return outer.includes(trace.mark) ? 'nested' : undefined
    }
    const leader = processes.find(({ pid }) => pid === trace.pgid)
    // The kernel reuses a number only when no process, group or session has it: if the present leader is foreign,
    // nothing of the group is left.
    const group =
      leader !== undefined && leader.startedAt !== trace.startedAt
        ? []
        : running.filter((entry) => isInGroup(entry, trace))
    const proven = this.#options.trusted || leader !== undefined || group.some((entry) => relation(entry) === 'own')

    const belongs = new Map<number, Relation>(proven ? group.map(({ pid }) => [pid, 'own']) : [])
    const known = this.#known.get(trace)
    for (const entry of running) {
      if (belongs.has(entry.pid)) continue
      const how = relation(entry) ?? known?.get(keyOf(entry))
      if (how !== undefined) belongs.set(entry.pid, how)
    }
    addDescendants(belongs, running)

    const found = running.filter(({ pid }) => belongs.has(pid))
    this.#known.set(trace, new Map(found.map((entry) => [keyOf(entry), belongs.get(entry.pid) as Relation])))
    return {
      own: found.filter(({ pid }) => belongs.get(pid) === 'own'),
      nested: found.filter(({ pid }) => belongs.get(pid) === 'nested'),
      doubtful: group.filter(({ pid }) => !belongs.has(pid)),
      running,
    }
  }
}

function keyOf({ pid, startedAt }: ProcessEntry): string {
  return `${pid} ${startedAt}`
}

function isEmpty({ own, nested, doubtful }: Found): boolean {
  return own.length + nested.length + doubtful.length === 0
}

/** `timeout` and shells with job control put their children into groups of their own, but leave them in the session. */
function isInGroup(entry: ProcessEntry, { pgid }: CommandTrace): boolean {
  return pgid !== undefined && (entry.pgid === pgid || entry.sessionId === pgid)
}

/** A process that has cleared its environment is found as long as its parent lives. */
function addDescendants(belongs: Map<number, Relation>, running: readonly ProcessEntry[]): void {
  if (belongs.size === 0) return
  for (let before = -1; before !== belongs.size; ) {
    before = belongs.size
    for (const { pid, ppid } of running) {
      const parent = belongs.get(ppid)
      if (parent !== undefined && !belongs.has(pid)) belongs.set(pid, parent)
    }
  }
}
