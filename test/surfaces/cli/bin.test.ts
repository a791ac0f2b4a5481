// The program: its message on a Node that is too old, and its exit code.
import { execFile, execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { binFile, Workplace } from './workplace.ts'

/** Runs the program in a process that reports another version of Node. */
function runAs(versions: Record<string, string>): Promise<{ code: unknown; out: string; err: string }> {
  const disguise = `Object.defineProperty(process, 'versions', { value: { ...process.versions, ...${JSON.stringify(versions)} } })`
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', `data:text/javascript,${disguise}`, binFile, '--version'],
      (error, out, err) => {
        resolve({ code: error === null ? 0 : error.code, out, err })
      },
    )
  })
}

it('errand reports a Node that is too old in one line, loads nothing, and exits with 2', async () => {
  const { code, out, err } = await runAs({ node: '20.20.2', napi: '9' })
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(/^errand needs Node 22\.14 or newer \(N-API 10\), and this is Node 20\.20\.2 \(N-API 9\)\. .+\n$/)
  expect(await runAs({ node: '16.0.0' as string, napi: '' })).toMatchObject({ code: 2 })
})

it('errand runs on a Node that is new enough', async () => {
  expect(await runAs({})).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})

it('errand keeps its compiled code in the cache folder of the user, unless NODE_DISABLE_COMPILE_CACHE is set', async () => {
  const cache = mkdtempSync(join(tmpdir(), 'errand-cache-'))
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }))
  const run = (more: object) =>
    new Promise((resolve) => {
      const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, NODE_V8_COVERAGE: ___, ...rest } = process.env
      const env = { ...rest, XDG_CACHE_HOME: cache, ...more }
      execFile(process.execPath, [binFile, '--version'], { env }, (_error, _out, err) => resolve(err))
    })
  expect(await run({ NODE_DISABLE_COMPILE_CACHE: '1' })).toBe('')
  expect(existsSync(join(cache, 'errand'))).toBe(false)
  expect(await run({})).toBe('')
  expect(existsSync(join(cache, 'errand'))).toBe(true)
})

// Only root can give a folder to another user.
it.skipIf(process.getuid?.() !== 0)('errand keeps no compiled code in a folder of another user', async () => {
  const home = mkdtempSync(join(tmpdir(), 'errand-home-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  chownSync(home, 65_534, 65_534)
  const { NODE_COMPILE_CACHE: _, NODE_V8_COVERAGE: __, XDG_CACHE_HOME: ___, ...rest } = process.env
  execFileSync(process.execPath, [binFile, '--version'], { env: { ...rest, HOME: home } })
  expect(existsSync(join(home, '.cache'))).toBe(false)
})

it.each([
  [0, ['help']],
  [2, ['hlep']],
  [2, ['ps']],
])('the program exits with %i for %j', async (code, args) => {
  await using place = new Workplace()
  expect((await place.start(...args).ended).code).toBe(code)
})

it('errand hook prints nothing when its folder was deleted; other verbs report it in one line', async () => {
  const inRemoved = (...args: string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-removed-'))
    const script = 'rmdir "$PWD" && exec "$@" < /dev/null'
    return new Promise((resolve) => {
      execFile('sh', ['-c', script, 'sh', process.execPath, binFile, ...args], { cwd: folder }, (error, out, err) =>
        resolve({ code: error === null ? 0 : error.code, out, err }),
      )
    })
  }
  for (const name of ['session-start', 'session-end'])
    expect(await inRemoved('hook', name)).toEqual({ code: 0, out: '', err: '' })
  expect(await inRemoved('ps')).toEqual({
    code: 2,
    out: '',
    err: expect.stringMatching(/^errand: The current folder has been deleted.*\n$/),
  })
})

it('errand ends without an error when the reader of its output closes the pipe', async () => {
  await using place = new Workplace()
  const run = place.start('help')
  run.child.stdout?.destroy()
  expect(await run.ended).toMatchObject({ err: '' })
})
