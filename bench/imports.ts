// What it costs to load the package, out of dist: a program that imports it beside one that imports what it depends on, and `errand ps` on a
// small ledger. The programs alternate, so that a slow spell of a shared machine hits all of them; the least of all rounds is what each
// needs when nothing else runs.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'

const rounds = Number(process.env.BENCH_ROUNDS ?? 15)
const root = join(import.meta.dirname, '..')
const bin = join(root, 'dist/bin.js')
/** Those that load with the package; kysely and yaml load with a ledger and with a plan. */
const dependencies = ['xstate', 'zod', '@xstate/store', 'better-sqlite3']

const script = (text: string) => ['--input-type=module', '-e', text]
const importing = (names: readonly string[]) => script(names.map((name) => `import '${name}'`).join('\n'))

export function imports(): void {
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'))
  const env = { ...process.env, ERRAND_LEDGER: join(folder, 'errand.db'), XDG_STATE_HOME: folder }
  const run = (args: readonly string[]): number => {
    const began = performance.now()
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}. Is the package built (npm run build)?`)
    return performance.now() - began
  }
  try {
    for (let n = 1; n <= 10; n++) run([bin, 'add', `task ${n}`])
    const programs: Array<[name: string, args: string[]]> = [
      ['nothing', script('')],
      ['the dependencies', importing(dependencies)],
      ['the dependencies and kysely', importing([...dependencies, 'kysely'])],
      ["import 'errand'", importing(['errand'])],
      ['an open engine', script(`import { createEngine } from 'errand'; await (await createEngine()).close()`)],
      ['errand version', [bin, 'version']],
      ['errand ps', [bin, 'ps']],
    ]
    const found = programs.map(() => [] as number[])
    for (let round = 0; round < rounds; round++) {
      for (const [index, [, args]] of programs.entries()) found[index]?.push(run(args))
    }
    const least = found.map((values) => Math.min(...values))
    const base = least[1] as number
    console.log(`\nLoading: least and median of ${rounds} rounds, in ms, and how many times the dependencies`)
    for (const [index, [name]] of programs.entries()) {
      const ms = least[index] as number
      const times = (ms / base).toFixed(2)
      console.log(`  ${name}: ${ms.toFixed(0)}, ${median(found[index] as number[]).toFixed(0)}, ${times} times`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number

if (import.meta.main) imports()
