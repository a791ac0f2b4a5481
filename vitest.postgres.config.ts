// The suites of the engine, the board, memory, agents and HTTP with their ledgers on a PostgreSQL server: the first part of
// `npm run test:postgres`. The second is test/postgres, with faults for a longer time.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

const { projects: _tiers, ...shared } = base.test ?? {}
const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const opened = pathOf('src/ledger/open-ledger.ts')
const replacement = pathOf('test/postgres/on-server/open-ledger.ts')

/** They read or write the SQLite file beside the engine, or replace a function of a module that the server's driver loads in another way. */
const needTheFile = [
  'agent/kill',
  'agent/team-kill',
  'agent/wire',
  'board/four-processes',
  'board/mirror/election',
  'engine/damaged-rows',
  'engine/edges',
  'engine/groups',
  'engine/injected',
  'engine/invalid-arguments',
  'engine/lost-lock',
  'engine/redact',
  'engine/snapshots',
  'engine/stuck-groups',
  'memory/kill',
]
/** They expect something at once, or after some turns of the event loop, that a server does later, or a failure of SQLite. */
const countTurns = [
  'board/mirror/crash',
  'engine/failed-reads',
  'engine/feed',
  'engine/level-triggered',
  'engine/random-commands',
  'engine/purge-pauses',
  'engine/supervision',
  'engine/two-engines',
]
/** They require a number of steps in a given time, which boards on a server do not reach. */
const needSpeed = ['board/mirror/torture']

// Not merged with the base, which would add its files to these.
export default defineConfig({
  ...base,
  plugins: [
    {
      name: 'ledgers-on-a-server',
      enforce: 'pre',
      async resolveId(source, importer, options) {
        if (!source.endsWith('/open-ledger.ts')) return null
        const found = await this.resolve(source, importer, { ...options, skipSelf: true })
        return found?.id === opened ? replacement : null
      },
    },
  ],
  test: {
    ...shared,
    include: ['engine', 'board', 'memory', 'agent', 'team', 'surfaces/http'].map(
      (suite) => `test/{,long/}${suite}/**/*.test.ts`,
    ),
    setupFiles: ['test/postgres/on-server/close-opened.ts'],
    testTimeout: 300_000,
    exclude: [...needTheFile, ...countTurns, ...needSpeed].map((file) => `test/{,long/}${file}.test.ts`),
    env: {
      ...shared.env,
      ERRAND_RUNS: process.env['ERRAND_RUNS'] ?? '100',
      // The redirection is of a module, and in a bundle there is none.
      ERRAND_TEST_SOURCES: '1',
      NODE_OPTIONS: `--import=${pathOf('test/postgres/on-server/redirect.ts')}`,
    },
    globalSetup: [shared.globalSetup ?? [], 'test/postgres/on-server/global-setup.ts'].flat(),
  },
})
