// The package as npm packs it, put into a project of its own: what is in it, and that programs and the command line work from it. PACKED_NODE
// names another Node to run them with.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleCode } from '../../../scripts/bundle.ts'
import { libraryEntries, specifierOf } from '../../../scripts/entries.ts'
import { dependencies, installPacked, peerDependencies } from '../../../scripts/packed-package.ts'

const root = join(import.meta.dirname, '../../..')
const node = process.env['PACKED_NODE'] ?? process.execPath
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
  scripts: Record<string, string>
}

let project = ''
const installed = () => join(project, 'node_modules/errand')
const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'errand-packed-'))
  // What `prepack` builds is there already, as everywhere in the tests and checks.
  installPacked(project, [...Object.keys(dependencies), ...Object.keys(peerDependencies)])
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
})

afterAll(() => rmSync(project, { recursive: true, force: true }))

async function run(...args: string[]): Promise<string> {
  const env = { ...process.env, XDG_STATE_HOME: project, NO_COLOR: '1' }
  const { stdout, stderr } = await promisify(execFile)(node, args, { cwd: project, env, timeout: 60_000 })
  expect(stderr.replaceAll(/^.*(?:made|created).*\n/gim, '')).not.toMatch(/warning|error/i)
  return stdout
}

const program = (text: string) => run('--input-type=module', '-e', text)
const errand = (...args: string[]) => run(join(installed(), 'dist/bin.js'), ...args)

describe('The packed package', () => {
  it('the packed package has neither its sources nor maps of them', () => {
    const files = filesOf(join(installed(), 'dist'))
    expect(files.filter((file) => /(?<!\.d)\.ts$|\.map$/.test(file))).toEqual([])
    expect(files.filter((file) => readFileSync(file, 'utf8').includes('sourceMappingURL='))).toEqual([])
  })

  it('the packed package has no dead links in its documents', () => {
    const documents = filesOf(installed()).filter((file) => /\.(?:md|txt)$/.test(file))
    const dead = documents.flatMap((file) =>
      Array.from(readFileSync(file, 'utf8').matchAll(/\]\((?!https?:)([^)\s#]+)/g))
        .filter(([, path = '']) => !existsSync(join(dirname(file), path)))
        .map(([, path]) => `${relative(installed(), file)}: ${path}`),
    )
    expect(dead).toEqual([])
    expect(documents.length).toBeGreaterThan(100)
  })

  it('the packed package is built anew before npm packs or publishes it', () => {
    expect(manifest.scripts['prepack']).toBe('npm run -s build')
  })

  it('the packed package holds every module once, and none of its dependencies', async () => {
    const modules = (await bundleCode(join(project, 'bundled'))).flatMap(({ moduleIds }) => moduleIds)
    // What the compiler adds for newer syntax is none of them.
    const sources = modules.filter((id) => !id.includes('@oxc-project+runtime')).map((id) => relative(root, id))
    expect(sources.filter((source) => !source.startsWith('src/'))).toEqual([])
    expect(sources.filter((source, index) => sources.indexOf(source) !== index)).toEqual([])
    expect(sources.length).toBeGreaterThan(400)
    expect(sources).toEqual(expect.arrayContaining(['src/engine/engine.ts', 'src/ledger/tables/task.ts']))
  })

  it('the packed package has no syntax that Node 22 does not know', () => {
    const code = filesOf(join(installed(), 'dist')).filter((file) => file.endsWith('.js'))
    expect(code.filter((file) => /^\s*(?:await )?using \w+ =/m.test(readFileSync(file, 'utf8')))).toEqual([])
  })

  it('the packed package has only characters of ASCII in its modules, which Node loads faster', async () => {
    const code = filesOf(join(installed(), 'dist')).filter((file) => file.endsWith('.js') && !file.includes('/page/'))
    expect(code.filter((file) => /[^\0-\x7f]/.test(readFileSync(file, 'utf8')))).toEqual([])
    expect(await errand('help', 'pause')).toContain('errand pause ID…')
  })

  it('the packed package has one and the same error class in every entry', async () => {
    const specifiers = Object.keys(libraryEntries).map(specifierOf)
    const text = `
      const all = await Promise.all(${JSON.stringify(specifiers)}.map((each) => import(each)))
      const { createEngine, ErrandError } = await import('errand')
      const { openLedger } = await import('errand/testing')
      const error = await openLedger('postgres://localhost/nowhere').catch((error) => error)
      console.log(all.length, error instanceof ErrandError, error.code)`
    expect(await program(text)).toBe(`${specifiers.length} true LEDGER_UNAVAILABLE\n`)
  })

  it('the packed package takes schemas that the program has made with its own zod', async () => {
    const text = `
      import { createEngine, defineAbility, defineExecutor } from 'errand'
      import { z } from 'zod'
      const double = defineExecutor({ input: z.object({ n: z.number() }), result: z.number(), run: ({ input }) => input.n * 2 })
      const shout = defineAbility({ id: 'text:shout', description: 'Shouts.', input: z.object({ text: z.string() }), output: z.string(), handle: ({ text }) => text.toUpperCase() })
      const engine = await createEngine({ executors: { double }, abilities: [shout] })
      const refused = await engine.create({ executor: 'double', input: { n: 'x' } }).catch(({ code }) => code)
      console.log(await engine.result(await engine.create({ executor: 'double', input: { n: 21 } })), refused, await engine.bus.call('text:shout', { text: 'a' }))
      await engine.close()`
    expect(await program(text)).toBe('42 INVALID_INPUT A\n')
  })

  it('the packed package runs a plan, and shows its tasks', async () => {
    writeFileSync(
      join(project, 'plan.yaml'),
      'tasks:\n  one: { run: "echo first" }\n  two: { run: "echo second", after: one }\n',
    )
    await errand('run', 'plan.yaml', '--ledger', 'plan.db')
    const listed = await errand('ps', '--all', '--ledger', 'plan.db')
    expect(listed).toMatch(/one/)
    expect(listed).toMatch(/two/)
    expect(await errand('logs', '#2', '--ledger', 'plan.db')).toMatch(/first/)
  })

  it('the packed package keeps a board with its files', async () => {
    await errand('board', 'init', '--ledger', 'board.db')
    await errand('board', 'add', 'Set up the project', '--ledger', 'board.db')
    expect(await errand('board', '--ledger', 'board.db')).toContain('Set up the project')
    expect(JSON.parse(readFileSync(join(project, '.tasks/task_1.json'), 'utf8'))).toMatchObject({
      subject: 'Set up the project',
    })
  })

  it('the packed package serves its page, its API and the tools of agents', async () => {
    const text = `
      import { createEngine } from 'errand'
      import { serve } from 'errand/http'
      import 'errand/mcp'
      const engine = await createEngine()
      const token = 'a-token-that-is-long-enough-to-be-one'
      const headers = { authorization: 'Bearer ' + token }
      const server = await serve(engine, { port: 0, page: true, token })
      const page = await fetch(server.url, { headers })
      const script = /src="([^"]+\\.js)"/.exec(await page.text())?.[1]
      const asset = await fetch(new URL(script, server.url), { headers })
      console.log(page.status, asset.status, asset.headers.get('content-type'))
      await server.close()
      await engine.close()`
    expect(await program(text)).toBe('200 200 text/javascript; charset=utf-8\n')
  })

  it('the packed package knows its version, and completes plans in an editor', async () => {
    const { version } = JSON.parse(readFileSync(join(installed(), 'package.json'), 'utf8')) as { version: string }
    expect(await errand('version')).toBe(`${version}\n`)
    expect(JSON.parse(readFileSync(join(installed(), 'dist/plan.schema.json'), 'utf8'))).toHaveProperty('$schema')
  })

  it('the packed package names functions in the stack of an error', async () => {
    const plain = await program(`
      const { createEngine } = await import('errand')
      const error = await createEngine({ maxConcurent: 1 }).catch((error) => error)
      console.log(error.stack)`)
    expect(plain).toMatch(/at parse \(.*\/errand\/dist\/chunks\/library\.js:\d+:\d+\)/)
  })

  it('the packed package loads the engine with its first use, the ledger with its first one, and yaml with the first plan', async () => {
    const text = `
      import { registerHooks } from 'node:module'
      const loaded = new Set()
      const inPackage = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\/(?!node_modules|dist\\/chunks)/
      const nameOf = (url) => url.startsWith('node:') ? url : (inPackage.exec(url)?.[1] ?? url.replace(/^.*\\//, ''))
      registerHooks({ load: (url, context, next) => (loaded.add(nameOf(url)), next(url, context)) })
      const { createEngine } = await import('errand')
      const before = [...loaded]
      const engine = await createEngine()
      await engine.close()
      console.log(JSON.stringify([before, [...loaded]]))`
    const [imported, opened] = JSON.parse(await program(text)) as [string[], string[]]
    expect(imported.filter((name) => !name.startsWith('node:')).sort()).toEqual([
      'core.js',
      'errand',
      'library.js',
      'zod',
    ])
    // What starts processes, opens sockets or reads a keyboard is heavy.
    const heavy = ['child_process', 'net', 'http', 'stream', 'readline', 'worker_threads'].map((name) => `node:${name}`)
    expect(heavy.filter((name) => imported.includes(name))).toEqual([])
    expect(opened).toEqual(expect.arrayContaining(['engine.js', 'ledger.js', 'better-sqlite3', 'kysely', 'xstate']))
    expect(opened).not.toContain('yaml')
  })

  it('the packed package loads kysely neither with any entry nor for the help of a verb', async () => {
    const specifiers = Object.keys(libraryEntries).map(specifierOf)
    const text = `
      import { registerHooks } from 'node:module'
      const loaded = []
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
      await Promise.all(${JSON.stringify(specifiers)}.map((each) => import(each)))
      process.argv = [process.argv[0], 'errand', 'help', 'pause']
      await import(${JSON.stringify(pathToFileURL(join(installed(), 'dist/bin.js')).href)})
      process.on('exit', () => console.log(loaded.length > 20, loaded.filter((url) => url.includes('/kysely/'))))`
    const printed = await program(text)
    expect(printed).toContain('errand pause ID…')
    expect(printed.slice(-8)).toBe('true []\n')
  })
})
