// A service with an engine in one file, as bundlers of applications make it: it runs from a folder in which only the native driver is
// installed, with a ledger that is checked beside the work, over HTTP, and with a ledger on a server.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { build as esbuild } from 'esbuild'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import webpack from 'webpack'
import { createEngine } from '../../../src/engine/create-engine.ts'
import { createLedger, testServer } from '../../postgres/server.ts'

const root = join(import.meta.dirname, '../../..')
const server = await testServer()

/** Where the bundle is made, with all packages. */
const source = mkdtempSync(join(tmpdir(), 'errand-bundled-'))
/** Where it runs. */
const place = mkdtempSync(join(tmpdir(), 'errand-deployed-'))

const program = `
import { createServer } from 'node:http'
import { createEngine, defineExecutor } from 'errand'
import { createHttp, toNodeListener } from 'errand/http'
import { machine } from 'errand/machine'
import { createScriptedModel } from 'errand/testing'
import { createMachine } from 'xstate'
import { z } from 'zod'

const main = async () => {
  const problems = []
  const light = machine(createMachine({ initial: 'off', states: { off: { on: { ON: 'on' } }, on: { type: 'final' } } }))
  const double = defineExecutor({
    input: z.object({ n: z.number() }),
    result: z.number(),
    run: ({ input: { n } }, run) => run.call('double', { n }, () => 2 * n),
  })
  const engine = await createEngine({
    ledger: process.argv[2],
    executors: { double, light },
    model: createScriptedModel([{ text: 'Four.' }]),
    onError: (error) => problems.push(error.message),
  })
  const http = createHttp(engine, { basePath: '/errand', authenticate: () => ({ owner: 'ada', scopes: ['admin'] }) })
  const server = createServer(toNodeListener(http)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const list = await fetch('http://127.0.0.1:' + server.address().port + '/errand/tasks?limit=1')
  const lamp = await engine.create({ executor: 'light' })
  await engine.sendEvent(lamp, { type: 'ON' })
  console.log(JSON.stringify({
    result: await engine.result(await engine.create({ executor: 'double', input: { n: 2 } })),
    answer: await engine.result(await engine.create({ goal: 'What is two and two?' })),
    lamp: (await engine.settled(lamp)).status,
    http: list.status,
    problems,
  }))
  await http.close()
  server.close()
  await engine.close()
}
main().catch((error) => {
  console.log(JSON.stringify({ code: error.code, message: error.message }))
  process.exitCode = 1
})
`

function link(folder: string, name: string, target = join(root, 'node_modules', name)): void {
  mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
  symlinkSync(target, join(folder, 'node_modules', name))
}

beforeAll(() => {
  writeFileSync(join(source, 'service.mjs'), program)
  link(source, 'errand', root)
  for (const name of ['zod', 'xstate']) link(source, name)
  link(place, 'better-sqlite3')
})

afterAll(() => {
  for (const folder of [source, place]) rmSync(folder, { recursive: true, force: true })
})

const entry = join(source, 'service.mjs')
const external = ['better-sqlite3']

/** Each writes the service to a file, and resolves to what it complains about. */
const bundlers: Record<string, (file: string) => Promise<string[]>> = {
  'esbuild, as a module': async (outfile) => {
    const { warnings } = await esbuild({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      external,
      logLevel: 'silent',
      // Packages in CommonJS, such as pg, call it.
      banner: {
        js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url)",
      },
    })
    return warnings.map(({ text }) => text)
  },
  'esbuild, in CommonJS': async (outfile) => {
    const { warnings } = await esbuild({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      external,
      logLevel: 'silent',
    })
    return warnings.map(({ text }) => text)
  },
  'rolldown, as a module': (file) => rolledDown(file, 'esm'),
  'rolldown, in CommonJS': (file) => rolledDown(file, 'cjs'),
  'webpack, as a module': (file) => packed(file, { module: true }),
  'webpack, in CommonJS': (file) => packed(file, {}),
}

async function rolledDown(file: string, format: 'esm' | 'cjs'): Promise<string[]> {
  const complaints: string[] = []
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    external,
    onLog: (level, { message }) => {
      if (level === 'warn') complaints.push(message)
    },
  })
  await bundle.write({
    dir: dirname(file),
    entryFileNames: basename(file),
    chunkFileNames: `${basename(file)}-[name].${format === 'esm' ? 'mjs' : 'cjs'}`,
    format,
  })
  await bundle.close()
  return complaints
}

function packed(file: string, { module = false }): Promise<string[]> {
  return new Promise((resolve, reject) => {
    webpack(
      {
        mode: 'production',
        target: 'node22',
        entry,
        externals: { 'better-sqlite3': `${module ? 'module' : 'commonjs'} better-sqlite3` },
        optimization: { minimize: false },
        ...(module ? { experiments: { outputModule: true } } : {}),
        output: { path: dirname(file), filename: basename(file), ...(module ? { module } : {}) },
        plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
      },
      (error, stats) => {
        if (error || stats === undefined) reject(error)
        else {
          const { errors = [], warnings = [] } = stats.toJson({ all: false, errors: true, warnings: true })
          if (errors.length > 0) reject(new Error(errors.map(({ message }) => message).join('\n')))
          else resolve(warnings.map(({ message }) => message))
        }
      },
    )
  })
}

async function start(file: string, ledger: string, cwd = place): Promise<unknown> {
  const env = { ...process.env, NO_COLOR: '1' }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file, ledger], { cwd, env }).catch(
    (error: { stdout: string; stderr: string }) => error,
  )
  return stdout === '' ? stderr : JSON.parse(stdout)
}

const works = { result: 4, answer: 'Four.', lamp: 'completed', http: 200, problems: [] }

describe.each(Object.entries(bundlers))('a service bundled with %s', (name, bundle) => {
  const file = join(place, name.replaceAll(/\W+/g, '-') + (name.includes('CommonJS') ? '.cjs' : '.mjs'))

  it('is built without complaints but about packages that are not installed', async () => {
    const complaints = await bundle(file)
    expect(
      complaints.filter(
        (text) => !/(?:not found|resolve|import\.meta|no side effects|will not move module)/i.test(text),
      ),
    ).toEqual([])
    expect(readFileSync(file, 'utf8')).not.toContain("from 'errand")
  })

  it('runs tasks, an agent and a machine, and serves them', async () => {
    expect(await start(file, `${name}.db`)).toEqual(works)
  })

  it('runs with a ledger above 32 MB, which is checked beside the work', async () => {
    const ledger = join(place, `${name}-large.db`)
    const engine = await createEngine({ ledger, work: false })
    for (let n = 0; n < 36; n++) await engine.create({ name: `large ${n}`, input: 'x'.repeat(1_000_000) })
    await engine.close()
    expect(await start(file, ledger)).toEqual(works)
  })

  it.skipIf(server === undefined)('runs with a ledger on PostgreSQL', async () => {
    const seen = (await start(file, await createLedger(server as never))) as typeof works
    expect(seen).toMatchObject({ ...works, problems: expect.anything() })
    // The thread that renews the lease is a file of its own, so the engine renews it by itself, and says so. Webpack keeps the place where the
    // package was when the bundle was made, and on this machine it is still there.
    const isLeftBehind = !name.startsWith('webpack')
    expect(seen.problems).toEqual(isLeftBehind ? [expect.stringContaining('The engine renews it by itself')] : [])
  })
})

it('a bundle without the native driver beside it says what is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'errand-without-driver-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'service.cjs')
  await bundlers['esbuild, in CommonJS']?.(file)
  expect(await start(file, 'tasks.db', folder)).toEqual({
    code: 'NOT_OFFERED',
    message: expect.stringMatching(/^A ledger in a file or in memory needs the package better-sqlite3/),
  })
})
