// Bundles the programs that tests start as processes of their own. As they are written, each start reads and strips some two hundred modules,
// which is more than half of its work, and a process that is killed keeps nothing of it for the next. The bundle is the same code.

import { dirname, isAbsolute, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { bundling, escapeNonAscii } from './bundle.ts'

const root = join(import.meta.dirname, '..')

/** Not in dist, which is what is published. */
export const programsFolder = join(root, 'node_modules/.cache/test-programs')

/** Paths in test, without their ending. */
export const testPrograms = [
  'agents/background-process',
  'agents/kill-process',
  'agents/mcp-process',
  'agents/team-kill-process',
  'agents/ai/chat-process',
  'board/board-worker',
  'board/mirror/editor-process',
  'board/mirror/mirror-process',
  'board/mirror/worker-process',
  'board/team/claim-racer',
  'crash/claim-process',
  'crash/end-to-end-process',
  'crash/engine-process',
  'crash/hung-process',
  'crash/limits-process',
  'crash/signal-process',
  'webhooks/posting-process',
  'ledger/copy/copy-process',
  'ledger/sqlite/child-engine',
  'memory/kill-process',
  'page/browser/server',
  'long/engine/two-containers-process',
  'postgres/life-process',
  'postgres/opening-process',
  'providers/agent-process',
  'surfaces/mcp/stdio-server',
  'time/schedule-process',
  'memory/team/mortal-process',
  'memory/team/race-process',
]

/** Modules keep the place of their source: beside it are the files and workers that they look for. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  transform: {
    filter: { code: /\bimport\.meta\.(?:url|dirname|filename)\b/ },
    handler(code, id) {
      // A module of rolldown itself.
      if (!isAbsolute(id)) return code
      const places: Record<string, string> = { url: pathToFileURL(id).href, dirname: dirname(id), filename: id }
      return code.replace(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, place: string) =>
        JSON.stringify(places[place]),
      )
    },
  },
}

export async function bundleTestPrograms(): Promise<void> {
  const build = await rolldown({
    ...bundling,
    // Packages too, for the same reason: read as files, they are a third of what is left. These have files beside their code.
    external: /^(?:better-sqlite3|pg|@electric-sql\/pglite|playwright-core)(?:\/|$)/,
    input: Object.fromEntries(testPrograms.map((name) => [name, join(root, 'test', `${name}.ts`)])),
    plugins: [keepPlaces, escapeNonAscii],
    // Every module of a program is evaluated, as without the bundle.
    treeshake: { moduleSideEffects: true },
  })
  await build.write({
    dir: programsFolder,
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunks/[name].mjs',
    // To find and read each file costs a start more than the code in it that is not used. A module of ours or of a package does nothing
    // but define; those of tests may act, and stay with the programs that import them.
    codeSplitting: { groups: [{ name: 'shared', test: /\/(?:src|node_modules)\//, minShareCount: 6 }] },
  })
  await build.close()
}

/** The bundle of a program, given as the path of its source. */
export function bundledProgram(source: string): string {
  const name = relative(join(root, 'test'), source).replace(/\.ts$/, '')
  if (!testPrograms.includes(name)) throw new Error(`scripts/test-programs.ts does not name ${name}.`)
  return join(programsFolder, `${name}.mjs`)
}
