// How the tests run. The suite needs nothing but `npm ci`: the global setup builds dist when it is older than src. There is one
// process per core, and the files that it is given share it with its modules: to load these anew for every file takes as long as
// many a file. So a test puts back what it changes of its process, watches modules with `vi.spyOn` and replaces none
// (test/house.test.ts), and anything else that only one process can stand goes into a process of its own.

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))

/** What runs longest, most of it in one test each. */
const longest = [
  'test/agent/kill.test.ts',
  'test/engine/two-engines.test.ts',
  'test/ledger/postgres.test.ts',
  'test/engine/model.test.ts',
  'test/page/browser/page.test.ts',
  'test/page/browser/page-at-work.test.ts',
].map(pathOf)

/** They begin first: where no run has left its times vitest goes by size, and the last of these would keep one core busy alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => longest.includes(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^errand$/, replacement: pathOf('src/index.ts') },
      { find: /^errand\/testing$/, replacement: pathOf('src/testing/index.ts') },
      { find: /^errand\/agent-os$/, replacement: pathOf('src/vocabularies/agent-os.ts') },
      { find: /^errand\/ai$/, replacement: pathOf('src/ai/durable.ts') },
      { find: /^errand\/mcp$/, replacement: pathOf('src/surfaces/mcp/index.ts') },
      { find: /^errand\/http$/, replacement: pathOf('src/surfaces/http/index.ts') },
      { find: /^errand\/ui-messages$/, replacement: pathOf('src/surfaces/ui-messages/index.ts') },
      { find: /^errand\/repl$/, replacement: pathOf('src/surfaces/repl/index.ts') },
      { find: /^errand\/inspect$/, replacement: pathOf('src/surfaces/inspector/index.ts') },
      { find: /^errand\/s07$/, replacement: pathOf('src/vocabularies/s07.ts') },
      { find: /^errand\/day1$/, replacement: pathOf('src/vocabularies/day1.ts') },
      { find: /^errand\/exo$/, replacement: pathOf('src/vocabularies/exo.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // Which ledgers are trusted is kept there, and not in the home of whoever runs the tests.
    env: { XDG_STATE_HOME: join(tmpdir(), `errand-state-${process.pid}`) },
    globalSetup: ['scripts/build.ts'],
    // Left to itself vitest keeps one core free, which of two is half.
    maxWorkers: '100%',
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // For the spies of a test that failed before it could put them back.
    restoreMocks: true,
    // A test that hangs fails; one that is slow beside busy processes does not.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'html'],
      thresholds: {
        lines: 80,
        branches: 75,
        'src/entities/**': { 100: true },
        'src/machines/**': { 100: true },
      },
    },
  },
})
