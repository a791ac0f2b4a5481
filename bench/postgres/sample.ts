// The samples of the benchmark on a PostgreSQL server: what each does, and which figures are compared with which in the same round.

/** What the processes of a sample do. JSON. */
export interface Order {
  program: 'errand' | 'DBOS'
  /** Default 1. All work on one database. */
  processes?: number
  /** Tasks at a time in each process. Each lane creates its next task when the one before has ended, unless `perSecond` is given. */
  lanes: number
  /** So many tasks arrive in a second, at random, in the first process alone; the others only run them. */
  perSecond?: number
  /** Journaled calls of a task. Default none. */
  calls?: number
  /** Steps of a task, which is an agent then: each asks a model, and all but the last call a tool. Default: a task is no agent. */
  agentSteps?: number
  /** Through the relay, which delays each direction. Default false. */
  isDistant?: boolean
}

/** Of the processes of one sample together. Figures are for each call or step where tasks have some, else for each task. */
export interface Figures {
  /** Tasks, calls or steps per second. */
  rate: number
  /** Milliseconds of CPU time of the Node processes. */
  nodeCpu: number
  /** The same of the server. Undefined where its processes cannot be seen. */
  serverCpu?: number | undefined
  /** Both together. */
  cpu?: number | undefined
  // Only of errand:
  /** From `create` to the first line of the executor, in milliseconds. */
  p50?: number | undefined
  p99?: number | undefined
  statements?: number | undefined
  /** How often a connection without an open statement sends some. */
  roundTrips?: number | undefined
}

export interface Comparison {
  title: string
  figure: keyof Figures
  /** The name of a sample; its figure is taken as it is, unless it is divided by that of `beside`. */
  of: string
  beside?: string
  unit: string
  atLeast?: number
  atMost?: number
}

export interface Row {
  title: string
  samples: Readonly<Record<string, Order>>
  /** Also with samples of other rows. */
  comparisons: readonly Comparison[]
}

const besideDbos = (what: string, of: string, beside: string, aim: { atLeast?: number } = {}): Comparison[] => [
  { title: `${what} a second beside DBOS`, figure: 'rate', of, beside, unit: 'times', ...aim },
  { title: 'CPU time of DBOS beside that of errand', figure: 'cpu', of: beside, beside: of, unit: 'times', ...aim },
]

export const rows: Readonly<Record<string, Row>> = {
  tasks: {
    title: 'Create and run trivial tasks',
    samples: {
      'errand, 10': { program: 'errand', lanes: 10 },
      'DBOS, 10': { program: 'DBOS', lanes: 10 },
      'errand, 100': { program: 'errand', lanes: 100 },
      'DBOS, 100': { program: 'DBOS', lanes: 100 },
    },
    comparisons: [
      ...besideDbos('tasks', 'errand, 10', 'DBOS, 10', { atLeast: 2.5 }),
      ...besideDbos('tasks', 'errand, 100', 'DBOS, 100', { atLeast: 5 }),
      { title: 'statements a task', figure: 'statements', of: 'errand, 10', unit: '', atMost: 3 },
      { title: 'round trips a task', figure: 'roundTrips', of: 'errand, 10', unit: '', atMost: 0.7 },
      { title: 'statements a task', figure: 'statements', of: 'errand, 100', unit: '', atMost: 0.3 },
      { title: 'round trips a task', figure: 'roundTrips', of: 'errand, 100', unit: '', atMost: 0.08 },
    ],
  },
  distance: {
    title: 'The same with about 2 ms more for a round trip to the server',
    samples: {
      'errand, 100, distant': { program: 'errand', lanes: 100, isDistant: true },
      'DBOS, 100, distant': { program: 'DBOS', lanes: 100, isDistant: true },
    },
    comparisons: [
      {
        title: 'share of the rate without the distance',
        figure: 'rate',
        of: 'errand, 100, distant',
        beside: 'errand, 100',
        unit: 'times',
        atLeast: 0.6,
      },
      {
        title: 'tasks a second beside DBOS',
        figure: 'rate',
        of: 'errand, 100, distant',
        beside: 'DBOS, 100, distant',
        unit: 'times',
      },
    ],
  },
  engines: {
    title: 'Several engines on one database, fifty lanes each',
    samples: {
      '1 engine': { program: 'errand', lanes: 50 },
      '2 engines': { program: 'errand', lanes: 50, processes: 2 },
      '4 engines': { program: 'errand', lanes: 50, processes: 4 },
    },
    comparisons: [
      { title: 'rate of all beside one', figure: 'rate', of: '2 engines', beside: '1 engine', unit: 'times' },
      {
        title: 'rate of all beside one',
        figure: 'rate',
        of: '4 engines',
        beside: '1 engine',
        unit: 'times',
        atLeast: 0.8,
      },
    ],
  },
  dispatch: {
    title: 'From create to the start of the executor, 100 tasks a second',
    samples: {
      'arriving, 1 engine': { program: 'errand', lanes: 100, perSecond: 100 },
      'arriving, 4 engines': { program: 'errand', lanes: 100, perSecond: 100, processes: 4 },
    },
    comparisons: [
      { title: 'p50', figure: 'p50', of: 'arriving, 1 engine', unit: 'ms', atMost: 4 },
      { title: 'p50', figure: 'p50', of: 'arriving, 4 engines', unit: 'ms', atMost: 5 },
      {
        title: 'p50 beside one',
        figure: 'p50',
        of: 'arriving, 4 engines',
        beside: 'arriving, 1 engine',
        unit: 'times',
      },
    ],
  },
  steps: {
    title: 'Tasks of ten journaled calls; the figures are those of a call',
    samples: {
      'errand, 10, ten calls': { program: 'errand', lanes: 10, calls: 10 },
      'DBOS, 10, ten calls': { program: 'DBOS', lanes: 10, calls: 10 },
      'errand, 100, ten calls': { program: 'errand', lanes: 100, calls: 10 },
      'DBOS, 100, ten calls': { program: 'DBOS', lanes: 100, calls: 10 },
    },
    comparisons: [
      ...besideDbos('steps', 'errand, 10, ten calls', 'DBOS, 10, ten calls'),
      ...besideDbos('steps', 'errand, 100, ten calls', 'DBOS, 100, ten calls'),
    ],
  },
  agents: {
    title:
      'Agents of ten steps, each a call of the model and, but for the last, of a tool; the figures are those of a step',
    samples: {
      'errand, 10, agents': { program: 'errand', lanes: 10, agentSteps: 10 },
      'errand, 100, agents': { program: 'errand', lanes: 100, agentSteps: 10 },
    },
    comparisons: [
      ...besideDbos('steps', 'errand, 10, agents', 'DBOS, 10, ten calls'),
      ...besideDbos('steps', 'errand, 100, agents', 'DBOS, 100, ten calls'),
    ],
  },
}

/** The samples of rows, and those that theirs are compared with. */
export function samplesOf(chosen: readonly Row[]): Record<string, Order> {
  const all: Record<string, Order> = Object.assign({}, ...Object.values(rows).map((row) => row.samples))
  const named = chosen.flatMap((row) => [...Object.keys(row.samples), ...row.comparisons.map(({ beside }) => beside)])
  return Object.fromEntries(Object.entries(all).filter(([name]) => named.includes(name)))
}
