// The entry points of the package, by the name of their file in dist, and the source of each. The bundle is made of them; the tests
// resolve `errand/…` to the same sources, and compare package.json and tsconfig.json with this list.

/** What `exports` of package.json names: `index` is `errand`, any other `errand/<name>`. */
export const libraryEntries = {
  index: 'src/index.ts',
  testing: 'src/testing/index.ts',
  exo: 'src/compat/exo.ts',
  'agent-os': 'src/compat/agent-os.ts',
  s07: 'src/compat/s07.ts',
  day1: 'src/compat/day1.ts',
  ai: 'src/agents/ai/durable.ts',
  machine: 'src/user-machines/index.ts',
  mcp: 'src/surfaces/mcp/index.ts',
  http: 'src/surfaces/http/index.ts',
  repl: 'src/surfaces/repl/index.ts',
  inspect: 'src/surfaces/inspector/index.ts',
  otel: 'src/otel/otel.ts',
  'ui-messages': 'src/surfaces/chat/index.ts',
} as const

/** Files that are started by their path: the program, and workers that lie beside the chunks of their starters. */
export const startedEntries = {
  bin: 'src/surfaces/cli/bin.ts',
  'chunks/quick-check-worker': 'src/ledger/sqlite/quick-check-worker.ts',
  'chunks/heartbeat-worker': 'src/ledger/postgres/heartbeat-worker.ts',
} as const

/** How a program imports an entry. */
export function specifierOf(entry: string): string {
  return entry === 'index' ? 'errand' : `errand/${entry}`
}
