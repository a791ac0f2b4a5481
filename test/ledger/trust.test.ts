// A ledger that was found and not named is opened if only its user can have written it, or if the user trusts it.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findLedger } from '../../src/ledger/find-ledger.ts'
import { judgeLedger, listFile, trustLedger } from '../../src/ledger/trust.ts'

function setup() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'errand-trust-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const project = join(home, 'project')
  mkdirSync(join(project, '.errand'), { recursive: true, mode: 0o700 })
  const ledger = join(project, '.errand', 'ledger.db')
  writeFileSync(ledger, '', { mode: 0o600 })
  const env = { HOME: home, PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: tmpdir() }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project, env, stdio: 'pipe' })
  return { home, project, ledger, env, git, verdict: () => judgeLedger(ledger, env).verdict }
}

const isRoot = process.getuid?.() === 0

describe('a found ledger', () => {
  it('a found ledger that only its user can write is trusted and listed', () => {
    const { ledger, env, verdict } = setup()
    expect(verdict()).toBe('trusted')
    expect(JSON.parse(readFileSync(listFile(ledger, env) as string, 'utf8'))).toMatchObject({ ledger })
  })

  it('a found ledger is trusted with umask 002 if its group is the private group of its user', () => {
    const { ledger, verdict } = setup()
    chmodSync(ledger, 0o660)
    chmodSync(dirname(ledger), 0o770)
    expect(verdict()).toBe('trusted')
  })

  it.runIf(isRoot)('a found ledger that has replaced a trusted one is judged again', () => {
    const { ledger, env, verdict } = setup()
    expect(verdict()).toBe('trusted')
    rmSync(dirname(ledger), { recursive: true })
    mkdirSync(dirname(ledger), { mode: 0o700 })
    writeFileSync(ledger, '', { mode: 0o600 })
    chownSync(dirname(ledger), 54_321, 54_321)
    chownSync(ledger, 54_321, 54_321)
    expect(judgeLedger(ledger, env)).toMatchObject({ verdict: 'asked', why: expect.stringContaining('another user') })
  })

  it.runIf(isRoot)(
    'the user is asked about a found ledger that does not exist yet if its folder belongs to another user',
    () => {
      const { ledger, verdict } = setup()
      rmSync(ledger)
      expect(verdict()).toBe('trusted')
      chownSync(dirname(ledger), 54_321, 54_321)
      expect(verdict()).toBe('asked')
    },
  )

  it('a found ledger is refused if all users can write it or its folder, even if it is listed', () => {
    const { ledger, env, verdict } = setup()
    trustLedger(ledger, env)
    chmodSync(dirname(ledger), 0o777)
    expect(judgeLedger(ledger, env)).toMatchObject({
      verdict: 'refused',
      why: expect.stringContaining(dirname(ledger)),
    })
    chmodSync(dirname(ledger), 0o700)
    chmodSync(ledger, 0o666)
    expect(verdict()).toBe('refused')
  })

  it.runIf(isRoot)(
    'the user is asked about a found ledger if it or its folder belongs to another user, until it is listed',
    () => {
      for (const owned of ['ledger', 'folder']) {
        const { ledger, env, verdict } = setup()
        chownSync(owned === 'ledger' ? ledger : dirname(ledger), 54_321, 54_321)
        expect(judgeLedger(ledger, env)).toMatchObject({
          verdict: 'asked',
          why: expect.stringContaining('another user'),
        })
        trustLedger(ledger, env)
        expect(verdict()).toBe('trusted')
      }
    },
  )

  it.runIf(isRoot)('the user is asked about a found ledger that the members of another group can write', () => {
    const { ledger, env } = setup()
    // The group of the user `daemon`.
    chownSync(ledger, 0, 1)
    chmodSync(ledger, 0o660)
    expect(judgeLedger(ledger, env)).toMatchObject({ verdict: 'asked', why: expect.stringContaining('group') })
  })

  it('the user is asked about a found ledger if git tracks a link to it, regardless of the variables of git in the environment', () => {
    const { home, project, ledger, git, env } = setup()
    const elsewhere = join(home, 'elsewhere.db')
    renameSync(ledger, elsewhere)
    symlinkSync(elsewhere, ledger)
    git('init', '-q')
    git('add', '-f', '.errand/ledger.db')
    for (const GIT_DIR of [undefined, '.git', join(home, 'nowhere')]) {
      expect(judgeLedger(ledger, { ...env, GIT_DIR })).toEqual({ verdict: 'asked', why: 'git tracks it' })
    }
    git('rm', '-q', '--cached', '.errand/ledger.db')
    rmSync(ledger)
    symlinkSync(':(top)odd', ledger)
    writeFileSync(join(project, '.errand', ':(top)odd'), '', { mode: 0o600 })
    git('add', '-f', '--', '.errand')
    expect(judgeLedger(ledger, env).verdict).toBe('asked')
  })

  it('V-02 the user is asked about a found ledger if git tracks its folder as a link, or the file that it links to', () => {
    const { home, project, ledger, git, env } = setup()
    git('init', '-q')
    const elsewhere = join(home, 'elsewhere')
    renameSync(dirname(ledger), elsewhere)
    symlinkSync(elsewhere, dirname(ledger))
    git('add', '-f', '.errand')
    expect(judgeLedger(ledger, env)).toEqual({ verdict: 'asked', why: 'git tracks it' })
    git('rm', '-q', '--cached', '.errand')
    rmSync(dirname(ledger))
    mkdirSync(dirname(ledger), { mode: 0o700 })
    writeFileSync(join(project, 'data'), '', { mode: 0o600 })
    symlinkSync(join(project, 'data'), ledger)
    git('add', '-f', 'data')
    expect(judgeLedger(ledger, env)).toEqual({ verdict: 'asked', why: 'git tracks it' })
  })

  it('V-02 judging a found ledger runs no program that its git repository names', () => {
    const { home, project, ledger, git, verdict } = setup()
    const ran = join(home, 'ran')
    const program = join(project, 'program')
    writeFileSync(program, `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o700 })
    git('init', '-q')
    git('add', '-f', '.errand/ledger.db')
    git('config', 'core.fsmonitor', program)
    git('update-index', '--fsmonitor')
    /** Whether the judgement ran the program, and whether git itself runs it, which proves that the attack works. */
    const isRun = (): boolean[] => {
      rmSync(ran, { force: true })
      verdict()
      const byVerdict = existsSync(ran)
      try {
        git('ls-files', '--', '.errand/ledger.db')
      } catch {
        // The remote does not exist.
      }
      return [byVerdict, existsSync(ran)]
    }
    expect(isRun()).toEqual([false, true])
    git('config', '--unset', 'core.fsmonitor')
    git('update-index', '--no-fsmonitor')
    // The folder of the ledger is one tree in the index, which git has to fetch.
    mkdirSync(join(project, 'kept'))
    writeFileSync(join(project, 'kept', 'file'), '')
    git('add', 'kept')
    git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'x')
    git('sparse-checkout', 'set', '--cone', '--sparse-index', 'kept')
    const tree = git('rev-parse', 'HEAD:.errand').toString().trim()
    rmSync(join(project, '.git', 'objects', tree.slice(0, 2), tree.slice(2)))
    const remote = { 'remote.origin.url': 'ssh://x/y', 'remote.origin.promisor': 'true', 'core.sshCommand': program }
    for (const [name, value] of Object.entries({ ...remote, 'extensions.partialClone': 'origin' }))
      git('config', name, value)
    git('config', 'core.repositoryFormatVersion', '1')
    mkdirSync(dirname(ledger), { recursive: true, mode: 0o700 })
    writeFileSync(ledger, '', { mode: 0o600 })
    expect(isRun()).toEqual([false, true])
  })

  it('a found ledger is trusted in the .git folder, and the user is asked if git fails', () => {
    const { project, git, env } = setup()
    git('init', '-q')
    const inside = join(project, '.git', 'errand', 'ledger.db')
    mkdirSync(dirname(inside), { mode: 0o700 })
    writeFileSync(inside, '', { mode: 0o600 })
    expect(judgeLedger(inside, env).verdict).toBe('trusted')
    writeFileSync(join(project, '.git', 'index'), 'broken')
    expect(judgeLedger(join(project, '.errand', 'ledger.db'), env).verdict).toBe('asked')
  })

  it('the user is asked about a found ledger that git tracks, unless it was listed before', () => {
    const { ledger, env, git, verdict } = setup()
    git('init', '-q')
    git('add', '-f', '.errand/ledger.db')
    expect(judgeLedger(ledger, env)).toEqual({ verdict: 'asked', why: 'git tracks it' })
    git('rm', '-q', '--cached', '.errand/ledger.db')
    expect(verdict()).toBe('trusted')
    git('add', '-f', '.errand/ledger.db')
    expect(verdict()).toBe('trusted')
  })

  it('a found ledger is judged by owner and modes alone if the list cannot be written', () => {
    const { home, git, ledger, verdict } = setup()
    git('init', '-q')
    git('add', '-f', '.errand/ledger.db')
    writeFileSync(join(home, '.local'), 'a file where the folder would be')
    expect(verdict()).toBe('trusted')
    chmodSync(ledger, 0o666)
    expect(verdict()).toBe('refused')
  })

  it('the search for a ledger ends at the home of the user', () => {
    const { home, project, ledger, env } = setup()
    mkdirSync(join(project, 'a', 'b'), { recursive: true })
    expect(findLedger(join(project, 'a', 'b'), env)).toBe(ledger)
    const inside = { ...env, HOME: join(project, 'a') }
    expect(findLedger(join(project, 'a', 'b'), inside)).toBe(join(project, 'a', 'b', '.errand', 'ledger.db'))
    expect(findLedger(home, env)).toBe(join(home, '.errand', 'ledger.db'))
  })

  it('a damaged list of trusted ledgers is refused with INVALID_INPUT', () => {
    const { ledger, env } = setup()
    const file = listFile(ledger, env) as string
    mkdirSync(dirname(file), { recursive: true })
    for (const text of ['{', '{"ledger": 1}']) {
      writeFileSync(file, text)
      expect(() => judgeLedger(ledger, env)).toThrowError(expect.objectContaining({ code: 'INVALID_INPUT' }))
    }
  })
})
