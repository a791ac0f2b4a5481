// Bundles src into dist. All entries are one build, so every module is in one chunk only: what one entry makes, another recognizes.
// Dependencies stay imports, for the same reason (a schema made with the zod of the application is one for us), because the driver is
// native, and so that package.json names what is in use. Names and line breaks stay as they are written, so a stack trace is readable without
// the maps, which would be half of the package.

import { join } from 'node:path'
import { type InputOptions, type OutputChunk, type Plugin, type RolldownOutput, rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { machineNames, machines } from '../src/engine/machine-charts.ts'
import { libraryEntries, startedEntries } from './entries.ts'

const root = join(import.meta.dirname, '..')

/**
 * Chunks by what loads together, the lowest first: each takes the modules it names and all that they import, as far as no chunk above
 * it in this list has taken them, so no two chunks need each other. What is not named becomes a chunk of its own where it is imported
 * with `import()`, or belongs to its entry: a verb of the command line, a surface.
 */
const chunks: ReadonlyArray<readonly [name: string, modules: RegExp]> = [
  // Without any dependency: what `errand --version` needs.
  ['core', /\/src\/core\/(?!parse\.|input-gate\.|duration-schema\.|zod-schema\.)/],
  ['command', /\/src\/surfaces\/(?:terminal\/(?:arguments|exit-code|io|terminal-text)|cli\/(?:verb|at-end))\.ts$/],
  // For its worker too, which needs nothing else.
  ['sqlite', /\/src\/ledger\/sqlite\/(?:connection|quick-check)\.ts$/],
  // The same, with the driver of a server.
  ['connection', /\/src\/ledger\/postgres\/(?:server-connection|heartbeat)\.ts$/],
  ['library', /\/src\/index\.ts$/],
  // What finds a ledger and the tasks of a round, without opening one.
  ['places', /\/src\/(?:ledger\/(?:home|trust-record|sqlite\/trust-id)|entities\/task-trees)\.ts$/],
  // What an agent runs, and what a folder of task files needs: loaded when they are used.
  ['agent', /\/src\/agents\/loop\/agent-loop\.ts$/],
  ['engine', /\/src\/engine\/engine\.ts$/],
  ['mirror', /\/src\/board\/mirror\/(?!known-folders)/],
  // What imports kysely: loaded when the first ledger is opened.
  [
    'ledger',
    /\/src\/ledger\/(?!copy\/|check\/|postgres\/|sqlite\/(?:quick-check|file-|table-shapes)|(?:open-snapshot|snapshot|find-ledger|trust|home)\.)/,
  ],
  // Loaded for a ledger on a server, or in PGlite.
  ['postgres', /\/src\/ledger\/postgres\/(?!server-url|heartbeat-worker)/],
  // With what several verbs of the command line need.
  [
    'terminal',
    /\/src\/surfaces\/(?:terminal\/(?!operation-verb)|cli\/(?:open-ledger|board-target|owner-flags|each-task|read-input|stream-position|task-context|hook-call|end-commands)\.ts$)/,
  ],
  // With yaml, and what the verbs need that work on tasks.
  ['plans', /\/src\/(?:plans\/|agents\/models\/script|surfaces\/cli\/(?:working-options|model-|run-summary))/],
  ['web', /\/src\/surfaces\/web\//],
]

/** Our modules, and what the compiler brings along for newer syntax. */
const inside = /^(?:[./]|@oxc-project\/runtime\/)/

/** What every bundle of our modules has in common. */
export const bundling: InputOptions = {
  external: (id: string) => !inside.test(id),
  platform: 'node',
  // Node 22 knows no `await using`.
  transform: { target: 'es2024' },
  cwd: root,
}

const files = { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' } as const

const inputOf = (entries: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(entries).map(([name, source]) => [name, join(root, source)]))

/**
 * Writes other characters than those of ASCII as escapes, which only stand in texts and patterns: Node reads, hashes and keeps a module of
 * plain ASCII in half the time.
 */
export const escapeNonAscii: Plugin = {
  name: 'escape-non-ascii',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type === 'chunk') chunk.code = chunk.code.replace(/[^\0-\x7f]/g, escaped)
    }
  },
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The public charts are data: deriving them needs XState, which is loaded with the first engine. */
const chartsAsData: Plugin = {
  name: 'charts-as-data',
  load: (id) =>
    id.endsWith('/src/engine/machine-charts.ts')
      ? `export const machineNames = ${JSON.stringify(machineNames)}\nexport const machines = ${JSON.stringify(machines)}`
      : undefined,
}

/** Writes the modules. */
export async function bundleCode(folder: string): Promise<OutputChunk[]> {
  const build = await rolldown({
    ...bundling,
    input: inputOf({ ...libraryEntries, ...startedEntries }),
    plugins: [chartsAsData],
  })
  const groups = chunks.map(([name, test], index) => ({ name, test, priority: chunks.length - index }))
  const output = await build.write({
    ...files,
    dir: folder,
    plugins: [escapeNonAscii],
    comments: { legal: true, annotation: true, jsdoc: false },
    codeSplitting: { groups },
  })
  await build.close()
  return chunksOf(output)
}

/** What the main entry declares, and what the entries for ledgers and servers add to it. */
const typeGroups = [
  { name: 'engine.d', test: /\/src\/index\.d\.ts$/, priority: 2 },
  { name: 'more.d', test: /\/src\/(?:ledger|surfaces\/web|agents\/models|memory)\/.*\.d\.ts$/, priority: 1 },
]

/** Where interfaces stand to which other files add types. No module of a bundle has these names; programs add under the other. */
const mergedModules = /declare module ["']\.\.\/(?:bus\/ability-types|entities\/executor)\.ts["']/g
const renameMergedModule: Plugin = {
  name: 'rename-merged-module',
  renderChunk: (code) => code.replaceAll(mergedModules, "declare module 'errand'"),
}

/** Without a remark on every build that the compiler is a new one. */
const quiet = { info: () => {}, warn: () => {}, error: console.error }

/** Writes the declarations. They are not type-checked here: `npm run types` does that. */
export async function bundleTypes(folder: string): Promise<OutputChunk[]> {
  const build = await rolldown({
    ...bundling,
    input: inputOf(libraryEntries),
    checks: { pluginTimings: false },
    plugins: [
      dts({ cwd: root, tsconfig: 'tsconfig.build.json', generator: 'tsgo', emitDtsOnly: true, logger: quiet }),
      renameMergedModule,
    ],
    onLog(level, log, report) {
      if (log.message.search(mergedModules) < 0) report(level, log)
    },
  })
  const output = await build.write({ ...files, dir: folder, codeSplitting: { groups: typeGroups } })
  await build.close()
  return chunksOf(output)
}

function chunksOf({ output }: RolldownOutput): OutputChunk[] {
  return output.filter((file) => file.type === 'chunk')
}
