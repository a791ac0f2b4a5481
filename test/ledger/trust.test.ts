// A ledger that was found and not named is opened if this user's errand made it, or if the user trusts it. Its log and its journal are judged
// with it.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
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
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { copyLedger } from '../../src/ledger/copy/copy-ledger.ts'
import { findLedger } from '../../src/ledger/find-ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { connect } from '../../src/ledger/sqlite/connection.ts'
import { judgeLedger, trustLedger } from '../../src/ledger/trust.ts'
import { recordFile, recordFolder } from '../../src/ledger/trust-record.ts'

/** A home with a project, and the state folder of its user, which the engines of this process use too. */
function setup() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'errand-trust-')))
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(home, { recursive: true, force: true })
  })
  const project = join(home, 'project')
  mkdirSync(join(project, '.errand'), { recursive: true, mode: 0o700 })
  const ledger = join(project, '.errand', 'ledger.db')
  const XDG_STATE_HOME = join(home, 'state')
  const env = { HOME: home, XDG_STATE_HOME, PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: tmpdir() }
  vi.stubEnv('XDG_STATE_HOME', XDG_STATE_HOME)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project, env, stdio: 'pipe' })
  /** Makes a ledger as another user would, elsewhere. */
  const elsewhere = async () => {
    const file = join(home, 'elsewhere', '.errand', 'ledger.db')
    vi.stubEnv('XDG_STATE_HOME', join(home, 'state of another user'))
    await make(file)
    vi.stubEnv('XDG_STATE_HOME', XDG_STATE_HOME)
    return file
  }
  return {
    home,
    project,
    ledger,
    env,
    git,
    elsewhere,
    judge: () => judgeLedger(ledger, env),
    verdict: () => judgeLedger(ledger, env).verdict,
  }
}

async function make(file: string): Promise<void> {
  await (await openLedger(file)).close()
}

/** The files of a ledger that is open, as a process that is killed leaves them: with a log. */
async function withLog(file: string, use: () => void): Promise<void> {
  const ledger = await openLedger(file)
  try {
    await ledger.step({
      name: 'write',
      *decide(tx) {
        yield* tx.setting.put('written', true)
      },
    })
    use()
  } finally {
    await ledger.close()
  }
}

const isRoot = process.getuid?.() === 0
const notCreated = { verdict: 'asked', why: 'it was not created by an engine of yours' }

describe('a found ledger', () => {
  it('a found ledger is trusted if an engine of this user created it, and has its recorded id', async () => {
    const { ledger, env, verdict } = setup()
    expect(verdict()).toBe('trusted')
    await make(ledger)
    expect(verdict()).toBe('trusted')
    expect(JSON.parse(readFileSync(recordFile(ledger, env) as string, 'utf8'))).toMatchObject({ ledger })
  })

  it('the user is asked about a found ledger that came in an archive, until they say that they trust it', async () => {
    const { ledger, env, judge, verdict, elsewhere } = setup()
    cpSync(await elsewhere(), ledger)
    expect(judge()).toEqual(notCreated)
    expect(await trustLedger(ledger, env)).toBe(true)
    expect(verdict()).toBe('trusted')
  })

  it('the user is asked about a found ledger whose content was replaced, also in the same file', async () => {
    const { ledger, judge, verdict, elsewhere } = setup()
    await make(ledger)
    expect(verdict()).toBe('trusted')
    writeFileSync(ledger, readFileSync(await elsewhere()))
    expect(judge()).toEqual(notCreated)
  })

  it('the user is asked about a found ledger beside which a write-ahead log was put, which is not read', async () => {
    const { home, ledger, judge, verdict, elsewhere } = setup()
    const planted = join(home, 'planted')
    const foreign = await elsewhere()
    await withLog(foreign, () => copyFileSync(`${foreign}-wal`, planted))
    await make(ledger)
    expect(verdict()).toBe('trusted')
    const before = readFileSync(ledger)
    copyFileSync(planted, `${ledger}-wal`)
    expect(judge()).toEqual({
      verdict: 'asked',
      why: expect.stringContaining('-wal, which SQLite would play into it, was not written'),
    })
    expect(readFileSync(ledger)).toEqual(before)
    expect(readFileSync(`${ledger}-wal`)).toEqual(readFileSync(planted))
  })

  it('a found ledger is trusted with the write-ahead log that an engine of this user left, and no longer with another one', async () => {
    const { home, ledger, verdict } = setup()
    await make(ledger)
    await withLog(ledger, () => {
      expect(existsSync(`${ledger}-wal`)).toBe(true)
      expect(verdict()).toBe('trusted')
      copyFileSync(`${ledger}-wal`, join(home, 'copied'))
    })
    expect(existsSync(`${ledger}-wal`)).toBe(false)
    copyFileSync(join(home, 'copied'), `${ledger}-wal`)
    expect(verdict()).toBe('asked')
  })

  it('a new ledger has no journal at any moment, so a process that is killed leaves none', async () => {
    const { ledger, verdict } = setup()
    // A link at its place would be refused by SQLite, as it would by a file of others.
    symlinkSync(join(dirname(ledger), 'nowhere'), `${ledger}-journal`)
    await make(ledger)
    rmSync(`${ledger}-journal`)
    expect(verdict()).toBe('trusted')
  })

  it('a found ledger whose id is no JSON is not trusted, though its file is the one that was recorded', async () => {
    const { ledger, elsewhere, verdict } = setup()
    await make(ledger)
    const foreign = await elsewhere()
    const connection = connect(foreign, { busyTimeoutMs: 50 })
    connection.execute(`update setting set value = 'no json' where name = 'trustId'`)
    connection.pragma('journal_mode = delete')
    connection.close()
    writeFileSync(ledger, readFileSync(foreign))
    expect(verdict()).toBe('asked')
  })

  it('a found ledger is refused if a journal lies beside it, which would be played into it', async () => {
    const { ledger, judge } = setup()
    await make(ledger)
    writeFileSync(`${ledger}-journal`, 'x')
    expect(judge()).toEqual({ verdict: 'refused', why: expect.stringContaining('-journal') })
  })

  it('a found ledger is trusted that this user has copied or restored to its place', async () => {
    const { home, ledger, verdict, elsewhere } = setup()
    const backup = join(home, 'backup.db')
    await copyLedger(await elsewhere(), backup)
    await copyLedger(backup, ledger)
    expect(verdict()).toBe('trusted')
    await copyLedger(backup, ledger, { replace: true })
    expect(verdict()).toBe('trusted')
    await withLog(ledger, () => expect(verdict()).toBe('trusted'))
  })

  it('a found ledger is trusted if a backup of it is put back by hand, and if it is damaged where it was', async () => {
    const { home, ledger, verdict } = setup()
    await make(ledger)
    cpSync(ledger, join(home, 'backup.db'))
    rmSync(ledger)
    cpSync(join(home, 'backup.db'), ledger)
    expect(verdict()).toBe('trusted')
    writeFileSync(ledger, 'damaged')
    expect(verdict()).toBe('trusted')
  })

  it('the setting with the id of a found ledger is read from a table only', async () => {
    const { ledger, verdict } = setup()
    await make(ledger)
    const connection = connect(ledger, { busyTimeoutMs: 0 })
    connection.execute('alter table setting rename to hidden')
    connection.execute('create view setting as select name, value from hidden')
    connection.close()
    expect(verdict()).toBe('asked')
  })

  it('a found ledger is trusted with umask 002 if its group is the private group of its user', async () => {
    const { ledger, verdict } = setup()
    await make(ledger)
    chmodSync(ledger, 0o660)
    chmodSync(dirname(ledger), 0o770)
    expect(verdict()).toBe('trusted')
  })

  it.runIf(isRoot)('a found ledger that has replaced a trusted one is judged again', async () => {
    const { ledger, judge, verdict, elsewhere } = setup()
    await make(ledger)
    expect(verdict()).toBe('trusted')
    const foreign = await elsewhere()
    rmSync(dirname(ledger), { recursive: true })
    mkdirSync(dirname(ledger), { mode: 0o700 })
    cpSync(foreign, ledger)
    chownSync(dirname(ledger), 54_321, 54_321)
    chownSync(ledger, 54_321, 54_321)
    expect(judge()).toMatchObject({ verdict: 'asked', why: expect.stringContaining('another user') })
  })

  it.runIf(isRoot)(
    'the user is asked about a found ledger that does not exist yet if its folder belongs to another user',
    () => {
      const { ledger, verdict } = setup()
      expect(verdict()).toBe('trusted')
      chownSync(dirname(ledger), 54_321, 54_321)
      expect(verdict()).toBe('asked')
    },
  )

  it('a found ledger is refused if all users can write it or its folder, even if it is listed', async () => {
    const { ledger, judge, verdict } = setup()
    await make(ledger)
    chmodSync(dirname(ledger), 0o777)
    expect(judge()).toMatchObject({ verdict: 'refused', why: expect.stringContaining(dirname(ledger)) })
    chmodSync(dirname(ledger), 0o700)
    chmodSync(ledger, 0o666)
    expect(verdict()).toBe('refused')
  })

  it.runIf(isRoot)(
    'the user is asked about a found ledger if it or its folder belongs to another user, until they say that they trust it',
    async () => {
      for (const owned of ['ledger', 'folder']) {
        const { ledger, env, judge, verdict } = setup()
        await make(ledger)
        chownSync(owned === 'ledger' ? ledger : dirname(ledger), 54_321, 54_321)
        expect(judge()).toMatchObject({ verdict: 'asked', why: expect.stringContaining('another user') })
        await trustLedger(ledger, env)
        expect(verdict()).toBe('trusted')
      }
    },
  )

  it.runIf(isRoot)('the user is asked about a found ledger that the members of another group can write', async () => {
    const { ledger, judge } = setup()
    await make(ledger)
    // The group of the user `daemon`.
    chownSync(ledger, 0, 1)
    chmodSync(ledger, 0o660)
    expect(judge()).toMatchObject({ verdict: 'asked', why: expect.stringContaining('group') })
  })

  it('the user is asked about a found ledger if git tracks a link to it, regardless of the variables of git in the environment', () => {
    const { home, project, ledger, git, env } = setup()
    writeFileSync(ledger, '', { mode: 0o600 })
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
    writeFileSync(ledger, '', { mode: 0o600 })
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
    writeFileSync(ledger, '', { mode: 0o600 })
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

  it('a found ledger is trusted in the .git folder if an engine of this user created it, and the user is asked if git fails', async () => {
    const { project, ledger, git, env, elsewhere } = setup()
    git('init', '-q')
    const inside = join(project, '.git', 'errand', 'ledger.db')
    await make(inside)
    expect(judgeLedger(inside, env).verdict).toBe('trusted')
    cpSync(await elsewhere(), inside)
    expect(judgeLedger(inside, env)).toEqual(notCreated)
    cpSync(await elsewhere(), ledger)
    writeFileSync(join(project, '.git', 'index'), 'broken')
    expect(judgeLedger(ledger, env)).toEqual({ verdict: 'asked', why: 'git tracks it' })
  })

  it('the user is asked about a found ledger that git tracks, and again when git has replaced it', async () => {
    const { ledger, env, git, judge, verdict, elsewhere } = setup()
    cpSync(await elsewhere(), ledger)
    git('init', '-q')
    git('add', '-f', '.errand/ledger.db')
    expect(judge()).toEqual({ verdict: 'asked', why: 'git tracks it' })
    await trustLedger(ledger, env)
    expect(verdict()).toBe('trusted')
    const published = readFileSync(ledger)
    renameSync(ledger, `${ledger}.old`)
    writeFileSync(ledger, published, { mode: 0o600 })
    expect(judge()).toEqual({ verdict: 'asked', why: 'git tracks it' })
  })

  it('the user is asked about a found ledger if no trust can be recorded', async () => {
    const { ledger, env, judge } = setup()
    writeFileSync(env.XDG_STATE_HOME, 'a file where the folder would be')
    await make(ledger)
    expect(judge()).toEqual(notCreated)
    expect(await trustLedger(ledger, env)).toBe(false)
  })

  it('the search for a ledger ends at the home of the user', () => {
    const { home, project, ledger, env } = setup()
    writeFileSync(ledger, '')
    mkdirSync(join(project, 'a', 'b'), { recursive: true })
    expect(findLedger(join(project, 'a', 'b'), env)).toBe(ledger)
    const inside = { ...env, HOME: join(project, 'a') }
    expect(findLedger(join(project, 'a', 'b'), inside)).toBe(join(project, 'a', 'b', '.errand', 'ledger.db'))
    expect(findLedger(home, env)).toBe(join(home, '.errand', 'ledger.db'))
  })

  it('a damaged record of a trusted ledger is refused with INVALID_INPUT', () => {
    const { ledger, env } = setup()
    const file = recordFile(ledger, env) as string
    mkdirSync(recordFolder(env) as string, { recursive: true })
    for (const text of ['{', '{"ledger": 1}']) {
      writeFileSync(file, text)
      expect(() => judgeLedger(ledger, env)).toThrowError(expect.objectContaining({ code: 'INVALID_INPUT' }))
    }
  })
})
