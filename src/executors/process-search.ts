// Which processes belong to a command: those of its group and session, those that show its mark, and their descendants. The
// choice of these three ways, and what none of them finds, is listed in docs/decisions/0022.
import { marksIn, type ShownMarks } from './process-mark.ts'
import { type ProcessEntry, type ProcessTable, startedSince } from './process-table.ts'

/** What the processes of a command are known by. */
export interface CommandTrace {
  /** `NAME=value` in the environment that the command was started with, different for every command. */
  mark: string
  /** Pid of its leader: the number of its group and session. Undefined where it is not known any more. */
  pgid?: number
  /** Start time of the leader in the words of the kernel; only ever compared. */
  startedAt?: string
}

export interface SearchOptions {
  processTable: ProcessTable
  /** The group is that of a child of ours, so what bears its number needs no proof. */
  trusted: boolean
}

/** The running processes of a command. Zombies do not run. */
export interface Found {
  /** Those that the command itself started. */
  own: readonly ProcessEntry[]
  /** Those that an engine inside of the command started, for its own commands: first of all it is that engine that ends them. */
  nested: readonly ProcessEntry[]
  /** Processes that bear the number of the group and cannot be distinguished from strangers. */
  doubtful: readonly ProcessEntry[]
  /** All that run, for the question of who else is in their groups. */
  running: readonly ProcessEntry[]
}

/** How a process belongs to a command. */
type Relation = 'own' | 'nested'

/** One reading of the process table, with the marks that have been asked for. */
interface Reading {
  processes: readonly ProcessEntry[]
  running: readonly ProcessEntry[]
  marks(entry: ProcessEntry): ShownMarks
  /** A process was just starting a program, so that its environment could not be read. */
  incomplete: boolean
}

/** How often the table is read at most, to find those that show no environment for a moment. */
const maxReadings = 5

export class ProcessSearch {
  readonly #options: SearchOptions
  /** What was seen to belong to each trace, by pid and start time: it still does when its parent or its mark has gone. */
  readonly #known = new Map<CommandTrace, Map<string, Relation>>()

  constructor(options: SearchOptions) {
    this.#options = options
  }

  /** Looks for all of them in the same readings of the process table; what is found stands in the order of the traces. */
  async find(traces: readonly CommandTrace[]): Promise<Found[]> {
    const first = await this.#read()
    const found = traces.map((trace) => this.#findIn(first, trace))
    // The table is no snapshot: a process may be forked behind the reader's back and its parent end before he is reached. So
    // nothing is believed to have gone before it was missed twice.
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
    // The kernel gives a number away again only when no process, group or session bears it: the present leader is a stranger,
    // and of our group nothing is left.
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

/** Whatever has cleared its environment is found as long as its parent lives. */
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
