// Every statement that the tables of the ledger can prepare, each once as text, and where in the source it is built. A recorder stands
// between the builder and the compiler, so no list of statements has to be kept: those of the tables are compiled when the tables are
// made (here at once, elsewhere when first used), and those that are built for a single use when their verbs are called with each of their filters.
import { join, relative, sep } from 'node:path'
import type { ClaimFilter, Op, TaskFilter, Tx } from '../../../src/ledger/ledger.ts'
import type {
  BranchFilter,
  ConsolidationFilter,
  FactFilter,
  ObservationFilter,
  TeamFilter,
} from '../../../src/ledger/memory-port.ts'
import { createCompiler, type Dialect, type Statement, type StatementCompiler } from '../../../src/ledger/statement.ts'
import { readFolder, type SourceFile } from '../../house/source.ts'

const root = join(import.meta.dirname, '../../..')

type Plugin = Parameters<Dialect['db']['withPlugin']>[0]

export interface Recorder {
  dialect: Dialect
  /** Every compiled text. */
  texts: Set<string>
  /** The lines of the source that led to a compiled text, as `src/ledger/tables/task.ts:19`. */
  lines: Set<string>
}

/** A dialect that notes what it compiles. */
export function recorder({ kind, db }: Dialect): Recorder {
  const texts = new Set<string>()
  const lines = new Set<string>()
  const plugin: Plugin = {
    transformQuery({ node, queryId }) {
      texts.add(db.getExecutor().compileQuery(node, queryId).sql)
      for (const line of callingLines()) lines.add(line)
      return node
    },
    transformResult: ({ result }) => Promise.resolve(result),
  }
  return { dialect: { kind, db: db.withPlugin(plugin) }, texts, lines }
}

/** Compiles each statement when it is prepared, not when it is first used. */
export function compilingAtOnce(dialect: Dialect): StatementCompiler {
  const compiler = createCompiler(dialect)
  const compiled = (statement: Statement): Statement => {
    statement()
    return statement
  }
  return {
    dialect,
    prepare: (...given) => compiled(compiler.prepare(...given)),
    prepareText: (...given) => compiled(compiler.prepareText(...given)),
  }
}

function callingLines(): string[] {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 60
  const { stack = '' } = new Error('a place')
  Error.stackTraceLimit = stackTraceLimit
  const places = [...stack.matchAll(/\(?((?:file:\/\/)?\/[^\s()]+\.ts):(\d+):\d+\)?$/gm)]
  return places.map(([, path = '', line = '']) => {
    const file = relative(root, path.replace(/^file:\/\//, '')).replaceAll(sep, '/')
    return `${file}:${line}`
  })
}

/** What builds a statement. The compiler itself is not a place that builds one. */
const building = /(?<![\w.])(?:prepare|prepareText)\(|\.(?:compile|query)(?:<.*>)?\(/

/** The lines of the source that build statements. */
export function buildingLines(files: readonly SourceFile[] = readFolder(root, 'src/ledger', '.ts')): string[] {
  return files
    .filter(({ path }) => !/^src\/ledger\/(?:statement\.ts|migrations\/|sqlite\/|postgres\/|check\/)/.test(path))
    .flatMap(({ path, code }) =>
      code.split('\n').flatMap((line, index) => (building.test(line) ? [`${path}:${index + 1}`] : [])),
    )
}

type Examples<Filter> = Required<{ [Key in keyof Filter]: Array<NonNullable<Filter[Key]> | null> }>

/** Filters with one value of each field, and with each two fields. A field may have several values, each of which has a text of its own. */
function* filtersOf<Filter extends object>(examples: Examples<Filter>): Generator<Filter> {
  const single = (Object.entries(examples) as Array<[string, unknown[]]>).flatMap(([key, values]) =>
    values.map((value) => ({ key, value })),
  )
  yield {} as Filter
  for (const [index, { key, value }] of single.entries()) {
    yield { [key]: value } as Filter
    for (const other of single.slice(index + 1)) {
      if (other.key !== key) yield { [key]: value, [other.key]: other.value } as Filter
    }
  }
}

/** All subsets of the fields. */
function* subsetsOf<Filter extends object>(example: Required<Filter>): Generator<Filter> {
  const fields = Object.entries(example)
  for (let chosen = 0; chosen < 2 ** fields.length; chosen++) {
    yield Object.fromEntries(fields.filter((_, index) => chosen & (1 << index))) as Filter
  }
}

/** Names of the seeded ledger: a task with so many children that no statement may read them all, and one with few. */
export const wide = 'wide'
export const narrow = 'narrow'

const taskExamples: Examples<TaskFilter> = {
  statuses: [['submitted'], ['working', 'paused'], ['failed'], []],
  parentId: [null, wide, narrow],
  executor: ['x'],
  metadata: [{ text: 'a', count: 1, flag: true, nothing: null }],
  keyPrefix: ['k', 'none'],
  owner: ['ann'],
  tags: [['t', 'u']],
  ready: [true, false],
  below: [wide, narrow],
  released: [true, false],
  failedWith: ['no'],
  failedCode: ['DOWN'],
  endedFrom: [1],
  endedBefore: [1],
  type: ['x'],
  words: [['b', 'a']],
  ids: [['a'], []],
  createdFrom: [1],
  createdTo: [1],
  forkedFrom: ['a'],
  principal: ['owner:ann'],
  forked: [true, false],
  system: [true, false, 'include'],
}

/** Calls every verb that builds statements for a single use, with everything that makes their texts differ. */
export function* singleUses(tx: Tx): Generator<Op<unknown>> {
  for (const filter of filtersOf<TaskFilter>(taskExamples)) {
    yield tx.task.list(filter, 10)
    yield tx.task.list(filter, 10, { priority: 1, seq: 1 })
    yield tx.task.newest(filter, 10, 10)
    yield tx.task.oldest(filter, 10, 1)
    yield tx.task.count(filter)
  }
  yield tx.task.asOf(1_000, 10, 0)
  yield tx.task.asOf(1_000, 10, 0, ['a'])
  for (const below of [wide, narrow]) {
    for (const claim of subsetsOf<ClaimFilter>({ owner: 'ann', role: 'r', parentId: wide, below, tags: ['t', 'u'] })) {
      yield tx.task.claimable(claim)
      if (claim.parentId !== undefined) yield tx.task.claimable({ ...claim, parentId: narrow })
    }
  }
  for (const trees of [undefined, { rootKeys: ['k'], rootKeyPrefixes: ['k'] }]) {
    for (const executors of [[], ['none'], ['none', 'other']]) {
      for (const named of [[], ['third'], ['third', 'fourth']]) yield tx.task.anyAwake(executors, named, trees)
    }
  }
  for (const filter of subsetsOf<BranchFilter>({ status: 'active', parent: 'main', taskId: 'a' }))
    yield tx.branch.list(filter, 10, 0)
  for (const filter of subsetsOf<ObservationFilter>({
    branch: 'main',
    sessionId: 's',
    taskId: 'a',
    agentId: 'b',
    types: ['error', 'insight'],
  })) {
    yield tx.observation.list(filter, 10, 9)
  }
  for (const filter of subsetsOf<Omit<FactFilter, 'branches'>>({
    status: 'active',
    category: 'c',
    taskId: 'a',
    agentId: 'b',
    sessionId: 's',
    verdict: 'durable',
    disputed: true,
  })) {
    yield tx.fact.list({ branches: ['main', 'side'], ...filter }, 10, 9)
  }
  for (const filter of subsetsOf<ConsolidationFilter>({
    type: 'merge',
    taskId: 'a',
    agentId: 'b',
    sessionId: 's',
    branch: 'main',
  })) {
    yield tx.consolidation.list(filter, 10, 9)
  }
  for (const filter of subsetsOf<TeamFilter>({ type: 'x', statuses: ['completed', 'failed'] }))
    yield tx.team.list(filter, 10, 10)
}
