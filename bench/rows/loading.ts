// What it costs to load the package out of dist, and to run its command.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { defineRow, type World } from '../runner/row.ts'
import { quantile } from '../runner/statistics.ts'

interface Size {
  times: number
  /** Those that `errand ps` lists. */
  tasks: number
}

type Program = 'import' | 'errand ps' | 'errand run'

interface Given extends Size {
  program: Program
}

/** Those that load with an engine. yaml and string-width load with a plan and with text that needs them: with both the floor would be a quarter higher. */
const dependencies = ['xstate', 'zod', '@xstate/store', 'better-sqlite3', 'kysely']

const script = (text: string): string[] => ['--input-type=module', '-e', text]

/** The least of some times: what a program takes when nothing else runs. */
function timeOf(
  args: readonly string[],
  { times }: Size,
  { folder, packageRoot }: World,
): { time: number; p50: number } {
  const took = Array.from({ length: times }, () => run(args, folder, packageRoot))
  return { time: Math.min(...took), p50: quantile(took, 0.5) }
}

function run(args: readonly string[], folder: string, cwd: string): number {
  const { NODE_COMPILE_CACHE: _cache, ...rest } = process.env
  const env = { ...rest, ERRAND_LEDGER: join(folder, 'errand.db'), XDG_STATE_HOME: folder, XDG_CACHE_HOME: folder }
  const began = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}. Is the package built (npm run build)?`)
  return performance.now() - began
}

/** The arguments of node, after what the program needs was made. */
function argumentsOf({ program, tasks }: Given, { folder, packageRoot }: World): string[] {
  if (program === 'import') return script(`import 'errand'`)
  const bin = join(packageRoot, 'dist/bin.js')
  if (program === 'errand ps') {
    for (let n = 1; n <= tasks; n++) run([bin, 'add', `task ${n}`], folder, packageRoot)
    return [bin, 'ps']
  }
  const plan = join(folder, 'plan.yaml')
  writeFileSync(plan, 'tasks:\n  nothing: { run: ":" }\n')
  run([bin, 'run', plan], folder, packageRoot)
  return [bin, 'run', plan]
}

export const loading = defineRow<Size, Given>({
  name: 'loading',
  title: 'Loading, and the command',
  method:
    '`errand ps` lists ten tasks. `errand run` has a plan in which nothing is left to do. The floors are Node alone, and Node with ' +
    'the packages that an engine imports. The figure is the shortest time of several processes, each started anew.',
  figures: {
    time: { label: 'shortest', unit: 'ms', better: 'less' },
    p50: { label: 'p50', unit: 'ms', better: 'less' },
  },
  sizes: { full: { times: 7, tasks: 10 }, quick: { times: 3, tasks: 10 }, tiny: { times: 1, tasks: 1 } },
  rounds: { full: 5, quick: 2, tiny: 1 },
  cases: (size) =>
    (['import', 'errand ps', 'errand run'] as const).map((program) => ({ name: program, given: { ...size, program } })),
  goals: [
    { figure: 'time', case: 'import', as: 'ratio', beside: { side: 'its dependencies' }, atMost: 1.2 },
    { figure: 'time', case: 'errand ps', as: 'ratio', beside: { side: 'its dependencies', case: 'import' }, atMost: 2 },
  ],
  sides: {
    errand: {
      durability: '',
      measure: async (given, world) => timeOf(argumentsOf(given, world), given, world),
    },
    'its dependencies': {
      durability: '',
      cases: ['import'],
      measure: async (given, world) =>
        timeOf(script(dependencies.map((name) => `import '${name}'`).join('\n')), given, world),
    },
    'Node alone': { durability: '', measure: async (given, world) => timeOf(script(''), given, world) },
  },
})
