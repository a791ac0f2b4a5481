// The ledger of a command, in order of precedence, and the trust in a found one.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import {
  ledgerExists,
  missingLedger,
  prepareLedger,
  realLedger,
  resolveLedger,
} from '../../../src/surfaces/cli/ledger-path.ts'
import { main } from '../../../src/surfaces/cli/main.ts'
import { exitCodes } from '../../../src/surfaces/terminal/exit-code.ts'
import { fakeIo } from './fake-io.ts'

let folder: string
/** Without the variables that git sets for hooks, and without the repositories above the temporary folder. */
const env = () => ({ PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: tmpdir() })

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'errand-path-')))
})
afterEach(() => rmSync(folder, { recursive: true }))

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', args, { cwd, env: { ...env(), HOME: folder }, stdio: 'pipe' })

it('the ledger is the one of --ledger, relative to the working directory', () => {
  expect(resolveLedger('x/l.db', { cwd: '/w', env: { ERRAND_LEDGER: '/other.db' } })).toBe('/w/x/l.db')
})

it('the ledger is the one of ERRAND_LEDGER without --ledger', () => {
  expect(resolveLedger(undefined, { cwd: '/w', env: { ERRAND_LEDGER: '/other.db' } })).toBe('/other.db')
})

it.each([':memory:', 'postgres://host/db', 'postgresql://host/db'])(
  'the ledger is %s as given, which only the engine validates',
  (ledger) => {
    expect(resolveLedger(ledger, { cwd: '/w', env: {} })).toBe(ledger)
    expect(ledgerExists(ledger)).toBe(true)
  },
)

it('the ledger is .errand/ledger.db here or in the nearest parent folder', () => {
  mkdirSync(join(folder, '.errand'))
  writeFileSync(join(folder, '.errand', 'ledger.db'), '')
  mkdirSync(join(folder, 'a', 'b'), { recursive: true })
  expect(resolveLedger(undefined, { cwd: join(folder, 'a', 'b'), env: env() })).toBe(
    join(folder, '.errand', 'ledger.db'),
  )
})

it('the ledger is the one in the common git directory, which worktrees share', () => {
  const main = join(folder, 'main')
  mkdirSync(join(main, 'sub'), { recursive: true })
  git(main, 'init', '-q')
  git(main, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'one')
  git(main, 'worktree', 'add', '-q', join(folder, 'tree'))
  const shared = join(main, '.git', 'errand', 'ledger.db')
  expect(resolveLedger(undefined, { cwd: join(main, 'sub'), env: env() })).toBe(shared)
  expect(resolveLedger(undefined, { cwd: join(folder, 'tree'), env: env() })).toBe(shared)
})

it('the ledger is .errand/ledger.db in the working directory if none exists', () => {
  expect(resolveLedger(undefined, { cwd: folder, env: env() })).toBe(join(folder, '.errand', 'ledger.db'))
})

it('an empty --ledger is refused', () => {
  expect(() => resolveLedger('', { cwd: folder, env: {} })).toThrowError(/--ledger is empty/)
})

it('the folder of a new ledger is readable by its owner only, and the ledger is announced once', () => {
  const ledger = join(folder, '.errand', 'ledger.db')
  const io = fakeIo({ cwd: folder })
  prepareLedger(io, ledger)
  expect(statSync(join(folder, '.errand')).mode & 0o777).toBe(0o700)
  expect(ledgerExists(ledger)).toBe(false)
  expect(io.err()).toBe(`Creating a new ledger: ${ledger}\n`)
  writeFileSync(ledger, '')
  prepareLedger(io, ledger)
  prepareLedger(io, ':memory:')
  expect(io.err().split('\n')).toHaveLength(2)
})

it('a command that only reads creates neither the ledger nor its folder, and one that writes says that it creates it', async () => {
  const io = () => fakeIo({ cwd: folder, env: { PATH: process.env['PATH'] ?? '' } })
  for (const args of [['ps'], ['show', '1'], ['tree'], ['logs', '1'], ['board'], ['why', '1'], ['graph']]) {
    const refused = io()
    expect(await main([...args, '--ledger', 'data/new.db'], refused)).toBe(exitCodes.badInput)
    expect(refused.err()).toContain(
      `There is no ledger at ${join(folder, 'data', 'new.db')}. "errand run PLAN" or "errand add"`,
    )
  }
  expect(existsSync(join(folder, 'data'))).toBe(false)
  const [first, second] = [io(), io()]
  expect(await main(['board', 'add', 'one', '--ledger', 'data/new.db'], first)).toBe(0)
  expect(first.err()).toBe(`Creating a new ledger: ${join(folder, 'data', 'new.db')}\n`)
  expect(await main(['board', 'add', 'two', '--ledger', 'data/new.db'], second)).toBe(0)
  expect(second.err()).toBe('')
})

it('the refusal of a missing ledger names the nearest file that exists, whichever part of the path is mistyped', () => {
  mkdirSync(join(folder, 'data'))
  const ledger = join(folder, 'data', 'errand.db')
  writeFileSync(ledger, '')
  for (const typo of ['data/erand.db', 'dta/errand.db']) {
    expect(missingLedger(join(folder, typo))).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining(`${typo}. Did you mean "${ledger}"?`),
      details: { nearest: ledger },
    })
  }
  for (const other of ['data/quite-another.db', 'dta/other.db', 'data/errand.db/inside.db']) {
    expect(missingLedger(join(folder, other)).details).not.toHaveProperty('nearest')
  }
})

it('realLedger returns the same path before and after the ledger is created', () => {
  mkdirSync(join(folder, 'real'))
  symlinkSync(join(folder, 'real'), join(folder, 'link'))
  const real = join(folder, 'real', 'new', 'l.db')
  expect(realLedger(join(folder, 'link', 'new', 'l.db'), folder)).toBe(real)
  mkdirSync(join(folder, 'real', 'new'))
  expect(realLedger(join(folder, 'link', 'new', 'l.db'), folder)).toBe(real)
})

/** A terminal at which the user types this. */
const answering = (env: Record<string, string | undefined>, text: string) => {
  const io = fakeIo({ tty: true, cwd: folder, env: env as Record<string, string> })
  io.stderr.isTTY = true
  io.keyboard = Object.assign(Readable.from([text]), { setRawMode: () => {} }) as never
  return io
}

it('V-02 a found ledger that every user can write is refused, even if the user confirms it at a terminal', async () => {
  const place = { ...env(), HOME: join(folder, 'home') }
  await main(['add', 'first', '--ledger', '.errand/ledger.db'], fakeIo({ cwd: folder }))
  chmodSync(join(folder, '.errand'), 0o777)
  const io = answering(place, 'y\n')
  expect(await main(['ps'], io)).toBe(1)
  expect(io.err()).toContain('all users can write')
  expect(await main(['trust'], answering(place, 'y\n'))).not.toBe(0)
  expect(await main(['ps'], answering(place, 'y\n'))).toBe(1)
})

const ps = async (env: Record<string, string | undefined>, ...flags: string[]) => {
  const io = fakeIo({ cwd: folder, env: env as Record<string, string> })
  return { code: await main(['ps', ...flags], io), err: io.err() }
}

/** Adds a task to `.errand/ledger.db` as another user does. */
async function plant(args: string[], place: Record<string, string | undefined> = {}): Promise<void> {
  const own = process.env['XDG_STATE_HOME']
  vi.stubEnv('XDG_STATE_HOME', join(folder, 'state of another user'))
  const io = fakeIo({ cwd: folder, env: place as Record<string, string> })
  expect(await main([...args, '--ledger', '.errand/ledger.db'], io)).toBe(0)
  vi.stubEnv('XDG_STATE_HOME', own)
}

it('a found ledger that git tracks is refused until it is trusted or named, and the refusal says how', async () => {
  const place = { ...env(), HOME: join(folder, 'home') }
  await plant(['add', 'first'], place)
  git(folder, 'init', '-q')
  git(folder, 'add', '-f', '.errand/ledger.db')
  const ledger = join(folder, '.errand', 'ledger.db')
  expect(await ps(place)).toEqual({ code: 1, err: expect.stringContaining(`errand trust '${ledger}'`) })
  expect(await ps({ ...place, ERRAND_LEDGER: ledger })).toEqual({ code: 0, err: '' })
  expect(await ps(place, '--ledger', ledger)).toEqual({ code: 0, err: '' })
  expect(await main(['trust'], fakeIo({ cwd: folder, env: place as Record<string, string> }))).toBe(0)
  expect(await ps(place)).toEqual({ code: 0, err: '' })
})

it('V-02 no command works on or serves a found ledger that git tracks', async () => {
  const place = { ...env(), HOME: join(folder, 'home') } as Record<string, string>
  const ran = join(folder, 'ran')
  await plant(['add', 'planted', '--run', `touch '${ran}'`], place)
  git(folder, 'init', '-q')
  git(folder, 'add', '-f', '.errand/ledger.db')
  mkdirSync(join(folder, 'below'))
  writeFileSync(join(folder, 'below', 'plan.yaml'), 'tasks: { own: { run: "true" } }')
  const working = [
    ['run', 'plan.yaml'],
    ['serve', '--port', '0'],
    ['repl', '--work', '-e', 'list'],
    ['ask', 'Well?'],
    ['chat'],
  ]
  for (const verb of [
    ...working,
    ['mcp'],
    ['repl', '-e', 'list'],
    ['add', 'x'],
    ['board', 'show', '1'],
    ['logs', 'x'],
  ]) {
    const io = fakeIo({ cwd: join(folder, 'below'), env: { ...place, ERRAND_MODEL: 'ollama:none' } })
    expect([verb, await main(verb, io), io.err()]).toEqual([verb, 1, expect.stringContaining('git tracks it')])
  }
  expect(existsSync(ran)).toBe(false)
})

it('a found ledger that git tracks is confirmed once at a terminal', async () => {
  const place = { ...env(), HOME: join(folder, 'home') }
  mkdirSync(join(folder, '.errand'))
  await plant(['add', 'first'])
  git(folder, 'init', '-q')
  git(folder, 'add', '-f', '.errand/ledger.db')
  const refusing = answering(place, 'n\n')
  expect(await main(['ps'], refusing)).toBe(1)
  expect(refusing.err()).toContain('git tracks it, and its tasks would run as you. Trust it? [y/N]')
  expect(await main(['ps'], answering(place, 'y\n'))).toBe(0)
  expect(await ps(place)).toEqual({ code: 0, err: '' })
})

it('V-02 a found ledger that came in an archive, or whose log did, is refused, and none of its tasks run', async () => {
  const place = { ...env(), HOME: join(folder, 'home') } as Record<string, string>
  const ran = join(folder, 'ran')
  await plant(['add', 'planted', '--run', `touch '${ran}'`], place)
  for (const verb of [['ps'], ['serve', '--port', '0'], ['repl', '--work', '-e', 'list']]) {
    const io = fakeIo({ cwd: folder, env: place })
    expect([verb, await main(verb, io), io.err()]).toEqual([
      verb,
      1,
      expect.stringContaining('not created by an engine'),
    ])
  }
  rmSync(join(folder, '.errand'), { recursive: true })
  expect(await main(['add', 'own', '--ledger', '.errand/ledger.db'], fakeIo({ cwd: folder, env: place }))).toBe(0)
  writeFileSync(join(folder, '.errand', 'ledger.db-wal'), 'a log')
  expect(await ps(place)).toEqual({ code: 1, err: expect.stringContaining('ledger.db-wal') })
  expect(existsSync(ran)).toBe(false)
})
