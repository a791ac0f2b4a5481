// Builds dist: the package, and the page that it serves. Apart from the command in package.json because the tests need it too: those
// that start the command line as a process want a dist no older than the source, and want it once per test run, not once per file.

import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildPage } from '../page/build.ts'
import { writeSbom } from './sbom.ts'

const root = join(import.meta.dirname, '..')
const source = join(root, 'src')
const dist = join(root, 'dist')
const page = { source: join(root, 'page'), built: join(root, 'dist/page') }
const bin = join(dist, 'surfaces/cli/bin.js')

function compile(): void {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
}

async function finish(): Promise<void> {
  if (existsSync(bin)) chmodSync(bin, 0o755)
  const { planJsonSchema } = await import(join(dist, 'plans/plan-schema.js'))
  writeFileSync(join(dist, 'plan.schema.json'), `${JSON.stringify(planJsonSchema(), null, 2)}\n`)
  writeSbom()
}

function newestFileIn(folder: string, except?: string): number {
  if (!existsSync(folder)) return 0
  const times = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && (except === undefined || !entry.parentPath.startsWith(except)))
    .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs)
  return Math.max(0, ...times)
}

/** A vitest global setup: builds what is older than its source. Type errors are left to `npm run types`; tsc emits anyway. */
export async function setup(): Promise<void> {
  if (newestFileIn(source) > newestFileIn(dist, page.built)) {
    try {
      compile()
    } catch {
      console.warn('The build reported errors; the tests go on with what it emitted.')
    }
    await finish()
  }
  if (newestFileIn(page.source) > newestFileIn(page.built)) await buildPage()
}

if (import.meta.main) {
  rmSync(dist, { recursive: true, force: true })
  compile()
  await finish()
  await buildPage()
}
