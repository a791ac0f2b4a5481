// Builds dist: the package, and the page that it serves. Apart from the command in package.json because the tests need it too: those
// that start the command line as a process want a dist no older than the source, and want it once per test run, not once per file.

import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { buildPage } from '../page/build.ts'
import { bundleCode, bundleTypes } from './bundle.ts'
import { writeSbom } from './sbom.ts'
import { bundleTestPrograms, programsFolder } from './test-programs.ts'

const root = join(import.meta.dirname, '..')
const source = join(root, 'src')
const dist = join(root, 'dist')
const page = { source: join(root, 'page'), built: join(root, 'dist/page') }

async function buildCode(): Promise<void> {
  for (const file of globSync('{,chunks/}*.js', { cwd: dist })) rmSync(join(dist, file))
  await bundleCode(dist)
  chmodSync(join(dist, 'bin.js'), 0o755)
  const { planJsonSchema } = await import('../src/plans/plan-schema.ts')
  writeFileSync(join(dist, 'plan.schema.json'), `${JSON.stringify(planJsonSchema(), null, 2)}\n`)
  writeSbom()
}

/** Each file is replaced as a whole, because several tests may build them at once, read them, and pack dist. */
async function buildTypes(): Promise<void> {
  const built = join(root, `node_modules/.cache/types-${process.pid}`)
  await bundleTypes(built)
  const namesIn = (folder: string) => ['chunks/*.d.ts', '*.d.ts'].flatMap((files) => globSync(files, { cwd: folder }))
  const [before, names] = [namesIn(dist), namesIn(built)]
  mkdirSync(join(dist, 'chunks'), { recursive: true })
  for (const name of names) renameSync(join(built, name), join(dist, name))
  for (const name of before) if (!names.includes(name)) rmSync(join(dist, name), { force: true })
  rmSync(built, { recursive: true })
}

function newestFileIn(folder: string): number {
  return Math.max(0, ...timesIn(folder))
}

function timesIn(folder: string): number[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs)
}

/** When the file was made; 0 if it is not there. */
function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** Builds the declarations if they are older than their source. */
export async function freshTypes(): Promise<void> {
  if (newestFileIn(source) > timeOf(join(dist, 'index.d.ts'))) await buildTypes()
}

/** A vitest global setup: builds what is older than its source. The declarations are left to the tests that read them. */
export async function setup(): Promise<void> {
  if (newestFileIn(source) > timeOf(join(dist, 'bin.js'))) await buildCode()
  if (newestFileIn(page.source) > newestFileIn(page.built)) await buildPage()
  const sourcesOfPrograms = [source, join(root, 'test'), import.meta.dirname]
  // Written when npm has changed a package.
  const packages = join(root, 'node_modules/.package-lock.json')
  const changed = Math.max(...sourcesOfPrograms.map(newestFileIn), timeOf(packages))
  if (changed > newestFileIn(programsFolder)) {
    rmSync(programsFolder, { recursive: true, force: true })
    await bundleTestPrograms()
  }
}

if (import.meta.main) {
  rmSync(dist, { recursive: true, force: true })
  await buildCode()
  await buildTypes()
  await buildPage()
}
