// Which ledger a command means, from the most explicit word to the last resort.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ledgerExists, makeLedgerFolder, realLedger, resolveLedger } from '../../../src/surfaces/cli/ledger-path.ts'
import { main } from '../../../src/surfaces/cli/main.ts'
import { fakeIo } from './fake-io.ts'

let folder: string
/** Without what git hands down to a hook, and without the repositories above the temporary folder. */
const env = () => ({ PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: tmpdir() })

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'errand-path-')))
})
afterEach(() => rmSync(folder, { recursive: true }))

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', args, { cwd, env: { ...env(), HOME: folder }, stdio: 'pipe' })

describe('the ledger is', () => {
  test('what --ledger says, seen from the working directory', () => {
    expect(resolveLedger('x/l.db', { cwd: '/w', env: { ERRAND_LEDGER: '/other.db' } })).toBe('/w/x/l.db')
  })

  test('else what ERRAND_LEDGER says', () => {
    expect(resolveLedger(undefined, { cwd: '/w', env: { ERRAND_LEDGER: '/other.db' } })).toBe('/other.db')
  })

  test.each([':memory:', 'postgres://host/db', 'postgresql://host/db'])(
    '%s as it is, which is the engine to judge',
    (ledger) => {
      expect(resolveLedger(ledger, { cwd: '/w', env: {} })).toBe(ledger)
      expect(ledgerExists(ledger)).toBe(true)
    },
  )

  test('else .errand/ledger.db found upwards', () => {
    mkdirSync(join(folder, '.errand'))
    writeFileSync(join(folder, '.errand', 'ledger.db'), '')
    mkdirSync(join(folder, 'a', 'b'), { recursive: true })
    expect(resolveLedger(undefined, { cwd: join(folder, 'a', 'b'), env: env() })).toBe(
      join(folder, '.errand', 'ledger.db'),
    )
  })

  test("else in git's common directory, which the worktrees of a repository share", () => {
    const main = join(folder, 'main')
    mkdirSync(join(main, 'sub'), { recursive: true })
    git(main, 'init', '-q')
    git(main, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'one')
    git(main, 'worktree', 'add', '-q', join(folder, 'tree'))
    const shared = join(main, '.git', 'errand', 'ledger.db')
    expect(resolveLedger(undefined, { cwd: join(main, 'sub'), env: env() })).toBe(shared)
    expect(resolveLedger(undefined, { cwd: join(folder, 'tree'), env: env() })).toBe(shared)
  })

  test('else .errand/ledger.db in the working directory', () => {
    expect(resolveLedger(undefined, { cwd: folder, env: env() })).toBe(join(folder, '.errand', 'ledger.db'))
  })

  test('not an empty --ledger', () => {
    expect(() => resolveLedger('', { cwd: folder, env: {} })).toThrowError(/--ledger is empty/)
  })
})

test('the folder of a new ledger is for its owner only', () => {
  const ledger = join(folder, '.errand', 'ledger.db')
  makeLedgerFolder(ledger)
  expect(statSync(join(folder, '.errand')).mode & 0o777).toBe(0o700)
  expect(ledgerExists(ledger)).toBe(false)
})

test('a ledger has one real name, before and after it is made', () => {
  mkdirSync(join(folder, 'real'))
  symlinkSync(join(folder, 'real'), join(folder, 'link'))
  const real = join(folder, 'real', 'new', 'l.db')
  expect(realLedger(join(folder, 'link', 'new', 'l.db'), folder)).toBe(real)
  mkdirSync(join(folder, 'real', 'new'))
  expect(realLedger(join(folder, 'link', 'new', 'l.db'), folder)).toBe(real)
})

describe('a ledger that was found, and that git tracks', () => {
  const ps = async (env: Record<string, string | undefined>, ...flags: string[]) => {
    const io = fakeIo({ cwd: folder, env: env as Record<string, string> })
    return { code: await main(['ps', ...flags], io), err: io.err() }
  }

  test('is refused until it is trusted or named, and the refusal says how', async () => {
    const place = { ...env(), HOME: join(folder, 'home') }
    const io = fakeIo({ cwd: folder, env: place as Record<string, string> })
    expect(await main(['add', 'first', '--ledger', '.errand/ledger.db'], io)).toBe(0)
    git(folder, 'init', '-q')
    git(folder, 'add', '-f', '.errand/ledger.db')
    const ledger = join(folder, '.errand', 'ledger.db')
    expect(await ps(place)).toEqual({ code: 1, err: expect.stringContaining(`errand trust '${ledger}'`) })
    expect(await ps({ ...place, ERRAND_LEDGER: ledger })).toEqual({ code: 0, err: '' })
    expect(await ps(place, '--ledger', ledger)).toEqual({ code: 0, err: '' })
    expect(await main(['trust'], fakeIo({ cwd: folder, env: place as Record<string, string> }))).toBe(0)
    expect(await ps(place)).toEqual({ code: 0, err: '' })
  })

  test('is asked about at a terminal, once', async () => {
    const place = { ...env(), HOME: join(folder, 'home') }
    mkdirSync(join(folder, '.errand'))
    await main(['add', 'first', '--ledger', '.errand/ledger.db'], fakeIo({ cwd: folder }))
    git(folder, 'init', '-q')
    git(folder, 'add', '-f', '.errand/ledger.db')
    const answering = (text: string) => {
      const io = fakeIo({ tty: true, cwd: folder, env: place as Record<string, string> })
      io.stderr.isTTY = true
      io.keyboard = Object.assign(Readable.from([text]), { setRawMode: () => {} }) as never
      return io
    }
    const refusing = answering('n\n')
    expect(await main(['ps'], refusing)).toBe(1)
    expect(refusing.err()).toContain('git tracks it. Its tasks would run as you. Trust it? [y/N]')
    expect(await main(['ps'], answering('y\n'))).toBe(0)
    expect(await ps(place)).toEqual({ code: 0, err: '' })
  })
})
