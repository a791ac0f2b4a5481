// How the tests run, in two tiers that a place in the tree decides. `fast`: everything in test/ and examples/ proves the behaviour once, in a few minutes. `long`: what
// is in test/long repeats and tortures it. Random sequences at full counts, kills, many processes, browsers, servers, the documents, the package.
//
// The suite needs nothing but `npm ci`: the global setup builds dist when it is older than src. Each of the few
// processes runs many files, which share it with its modules: to load these anew for every file takes as long as
// many a file. So a test puts back what it changes of its process, watches modules with `vi.spyOn` and replaces none
// (test/house.test.ts), and anything else that only one process can stand goes into a process of its own.

import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { libraryEntries, specifierOf } from './scripts/entries.ts'

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))

/** What runs longest of each tier, most of it in one test each. */
const longest = [
  'test/long/agents/kill.test.ts',
  'test/long/engine/two-engines.test.ts',
  'test/long/runs/edited-programs.test.ts',
  'test/long/postgres/contract.test.ts',
  'test/long/postgres/beside.test.ts',
  'test/long/page/browser/task-page.test.ts',
  'test/long/docs-blocks.test.ts',
  'test/long/bench/rows.test.ts',
  'test/long/engine/level-triggered.test.ts',
  'test/long/page/browser/page.test.ts',
  'test/long/ledger/contract.test.ts',
  'test/long/agents/team-kill.test.ts',
  'test/long/packaging/guides.test.ts',
  'test/long/postgres/copy.test.ts',
  'test/long/page/browser/needs-you.test.ts',
  'test/long/engine/random-commands.test.ts',
  'test/long/page/browser/page-at-work.test.ts',
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
    alias: Object.entries(libraryEntries).map(([name, source]) => ({
      find: new RegExp(`^${specifierOf(name)}$`),
      replacement: pathOf(source),
    })),
  },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'fast', include: ['test/**/*.test.ts', 'examples/**/*.test.ts'], exclude: ['test/long/**'] },
      },
      {
        extends: true,
        test: { name: 'long', include: ['test/long/**/*.test.ts'], env: { ERRAND_TIER: 'long' } },
      },
    ],
    env: {
      // Which ledgers are trusted is kept there, and not in the home of the person who runs the tests.
      XDG_STATE_HOME: join(tmpdir(), `errand-state-${process.pid}`),
      // More than half of the time in which a process of a test starts is compilation. Those that end normally store its result.
      NODE_COMPILE_CACHE: pathOf('node_modules/.cache/compiled-for-tests'),
    },
    globalSetup: ['scripts/build.ts'],
    setupFiles: ['test/every-prompt.ts'],
    // Many tests wait for processes, servers and the disk. One process more than there are cores uses that time; two are no faster.
    maxWorkers: availableParallelism() + 1,
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // For the spies of a test that failed before it could put them back.
    restoreMocks: true,
    // A test that hangs fails; one that is slow beside busy processes does not.
    testTimeout: 120_000,
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
