// Importing the package: each entry is an ES module that has its exports and no side effects. Each is imported by its own process,
// from dist, which prints what changed.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { libraryEntries, specifierOf } from '../../../scripts/entries.ts'

const root = join(import.meta.dirname, '../../..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  type: string
  sideEffects: boolean
  exports: Record<string, string | Record<string, string>>
}
const entries = Object.entries(manifest.exports).filter(([name]) => name !== './package.json')

/**
 * Runs in a process of its own: what can be seen of the process before and after the import of a module. What zod keeps about
 * itself (`__zod_…`) is zod's.
 */
const witness = `
import { createHook } from 'node:async_hooks'
// Promises and the turns of the loop that this program waits for itself are no handles.
const passing = ['PROMISE', 'Immediate', 'TickObject']
const made = []
createHook({ init: (_id, type) => { if (!passing.includes(type)) made.push(type) } }).enable()
const emitters = { process, stdin: process.stdin, stdout: process.stdout, stderr: process.stderr }
const listeners = () => Object.entries(emitters).flatMap(([name, emitter]) =>
  emitter.eventNames().map((event) => name + ' ' + String(event) + ' ' + emitter.listenerCount(event)))
const look = () => ({
  handles: [...made],
  listeners: listeners().sort(),
  globals: Reflect.ownKeys(globalThis).map(String).filter((name) => !name.startsWith('__zod_')).sort(),
  prototypes: [Object, Array, Promise, Symbol, Error, String].flatMap((each) => Reflect.ownKeys(each.prototype)).map(String),
  env: JSON.stringify(process.env),
  exitCode: process.exitCode ?? null,
})
const ticks = async () => { for (let n = 0; n < 3; n++) await new Promise(setImmediate) }
await ticks()
const before = look()
const names = Object.keys(await import(process.argv[1]))
await ticks()
const after = look()
const changed = Object.keys(before).filter((part) => JSON.stringify(before[part]) !== JSON.stringify(after[part]))
process.stdout.write('\\nseen ' + JSON.stringify({ names, changed }))
`

interface Seen {
  /** The exports of the module. */
  names: string[]
  /** Parts of the process that have changed. */
  changed: string[]
  /** All output on stdout and stderr. */
  printed: string
  /** Files in the working directory, which was empty. */
  files: string[]
  /** 0 when the process ended by itself. */
  code: number | string | null
}

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'errand-entries-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function importAlone(file: string, withinMs = 15_000): Promise<Seen> {
  const cwd = emptyFolder()
  const args = ['--input-type=module', '-e', witness, pathToFileURL(file).href]
  const options = { cwd, timeout: withinMs, killSignal: 'SIGKILL' } as const
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const [said = '', json] = stdout.split('\nseen ')
      const { names, changed } = JSON.parse(json ?? '{"names":[],"changed":["it did not come to an end"]}') as Seen
      const code = error === null ? 0 : (error.code ?? 'killed')
      resolve({ names, changed, printed: said + stderr, files: readdirSync(cwd), code })
    })
  })
}

const innocent = { changed: [], printed: '', files: [], code: 0 }

describe('importing the package', () => {
  it.each(entries)('X-027 importing `%s` opens no handle, registers nothing, prints nothing', async (_name, target) => {
    const { names, ...seen } = await importAlone(join(root, (target as { default: string }).default))
    expect(seen).toEqual(innocent)
    expect(names.length).toBeGreaterThan(0)
  })

  it('X-027 the package contains ES modules with declarations, and `src/index.ts` is its entry', async () => {
    expect(manifest).toMatchObject({ type: 'module', sideEffects: false })
    const built = (name: string) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` })
    expect(Object.fromEntries(entries)).toEqual(
      Object.fromEntries(
        Object.keys(libraryEntries).map((name) => [name === 'index' ? '.' : `./${name}`, built(name)]),
      ),
    )
    expect(libraryEntries.index).toBe('src/index.ts')
    const names = Object.keys((await import(join(root, 'dist/index.js'))) as object)
    expect(names.sort()).toEqual(Object.keys(await import('../../../src/index.ts')).sort())
    expect(names).toContain('createEngine')
  })

  it('importing the package resolves its own name in the sources as it does in dist', () => {
    const text = readFileSync(join(root, 'tsconfig.json'), 'utf8').replaceAll(/^\s*\/\/.*$/gm, '')
    const { paths } = (JSON.parse(text) as { compilerOptions: { paths: Record<string, string[]> } }).compilerOptions
    expect(paths).toEqual(
      Object.fromEntries(Object.entries(libraryEntries).map(([name, file]) => [specifierOf(name), [`./${file}`]])),
    )
  })

  it.each([
    ['a timer', 'setInterval(() => {}, 100_000)', { changed: ['handles'], code: 'killed' }],
    ['an unreferenced timer', 'setInterval(() => {}, 100_000).unref()', { changed: ['handles'] }],
    ['a server', 'import { createServer } from "node:net"; createServer().listen(0).unref()', { changed: ['handles'] }],
    ['a variable of the environment', 'process.env.ERRAND = "1"', { changed: ['env'] }],
    ['a listener', 'process.on("SIGTERM", () => {})', { changed: ['handles', 'listeners'] }],
    ['a listener of exits', 'process.on("exit", () => {})', { changed: ['listeners'] }],
    ['a global', 'globalThis.errand = {}', { changed: ['globals'] }],
    ['a patched prototype', 'Array.prototype.errand = () => {}', { changed: ['prototypes'] }],
    ['a word', 'console.log("hello")', { printed: 'hello\n' }],
    ['a warning', 'console.error("hello")', { printed: 'hello\n' }],
    ['a file', 'import { writeFileSync } from "node:fs"; writeFileSync("errand.db", "")', { files: ['errand.db'] }],
    ['an exit code', 'process.exitCode = 3', { changed: ['exitCode'], code: 3 }],
  ])('X-027 the check of imports detects %s', async (_fault, source, expected) => {
    const file = join(emptyFolder(), 'guilty.mjs')
    writeFileSync(file, `${source}\nexport const guilty = true`)
    // Long enough for a module without imports; the timeout ends only the first one.
    expect(await importAlone(file, 4_000)).toEqual({ ...innocent, names: ['guilty'], ...expected })
  })
})
