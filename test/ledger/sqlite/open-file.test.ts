// Opening a ledger file: it is durable and private, it is migrated once even if many processes open it at a time, and a file that is not a
// sound ledger is refused and left unchanged.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { firstSchema } from '../../../src/ledger/migrations/0001-first-schema.ts'
import { applicationId, ledgerVersion, migrationTexts } from '../../../src/ledger/migrations/migrations.ts'
import { connect, isBusy } from '../../../src/ledger/sqlite/connection.ts'
import { sqliteDialect } from '../../../src/ledger/sqlite/dialect.ts'
import { busyTimeoutMs, openFile } from '../../../src/ledger/sqlite/open-file.ts'
import { currentDigest, schemaDigest } from '../../../src/ledger/sqlite/own-schema.ts'
import { openLedger, type Step } from '../../../src/testing/index.ts'
import { messageRow, taskRow } from '../factories.ts'
import { startChild } from './child-process.ts'

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'errand-open-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return { folder, file: join(folder, 'ledger.db') }
}

const add = (id: string): Step => ({ name: 'add', decide: (tx) => tx.task.insert(taskRow({ id })) })
const open = (path: string) => openFile(path, systemClock, () => 0.5)

async function makeLedger(file: string, messages = 40): Promise<void> {
  const ledger = await openLedger(file)
  await ledger.step(add('a'))
  await ledger.step({
    name: 'talk',
    *decide(tx) {
      for (let n = 0; n < messages; n++) {
        yield* tx.message.append(messageRow({ id: `m-${n}`, taskId: 'a', content: 'x'.repeat(3_000) }))
      }
    },
  })
  await ledger.close()
}

/** Everything in a folder, by name and content. */
const imageOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  )

function schemaOf(file: string): unknown {
  const connection = connect(file, { busyTimeoutMs, readonly: true })
  try {
    return {
      version: connection.pragma('user_version'),
      application: connection.pragma('application_id'),
      schema: connection.run({
        sql: 'select type, name, tbl_name, sql from sqlite_schema order by type, name',
        parameters: [],
        want: 'rows',
      }),
    }
  } finally {
    connection.close()
  }
}

describe('an open ledger file', () => {
  it('X-014 every connection to a ledger file uses WAL mode, full sync, foreign keys and a short busy timeout', async () => {
    const { file } = setup()
    // Opened twice, because the file itself stores none of these settings but WAL.
    for (let time = 0; time < 2; time++) {
      const { connection } = await open(file)
      connection.execute('begin immediate')
      connection.execute('commit')
      expect(connection.pragma('journal_mode')).toBe('wal')
      expect(connection.pragma('synchronous')).toBe(2)
      expect(connection.pragma('foreign_keys')).toBe(1)
      expect(connection.pragma('busy_timeout')).toBe(busyTimeoutMs)
      expect(connection.pragma('fullfsync')).toBe(1)
      expect(connection.pragma('trusted_schema')).toBe(0)
      expect(connection.pragma('cell_size_check')).toBe(1)
      connection.close()
    }
    expect(busyTimeoutMs).toBeLessThanOrEqual(50)
  })

  it('a ledger file whose schema the migrations made is recognized by its digest', async () => {
    const { file } = setup()
    await makeLedger(file, 1)
    const connection = connect(file, { busyTimeoutMs })
    onTestFinished(() => connection.close())
    expect(schemaDigest(connection)).toBe(currentDigest)
    connection.execute('create view spy as select id from task')
    expect(schemaDigest(connection)).not.toBe(currentDigest)
  })

  it('a ledger file whose schema another program has changed is refused with the names of the changes, and left unchanged', async () => {
    const planted: Array<[sql: string, differs: string[]]> = [
      ['create trigger t after insert on task begin update task set executor = 1; end', ['trigger "t"']],
      ['create view v as select * from task', ['view "v"']],
      ['create table extra (x)', ['table "extra"']],
      ['create index i on task (name)', ['index "i"']],
      ['drop index dependency_in_order', ['index "dependency_in_order"']],
      ['alter table task add column extra text', ['table "task"']],
      ['pragma user_version = 0', expect.arrayContaining(['table "task"']) as never],
      ['pragma user_version = -1', expect.arrayContaining(['table "task"']) as never],
    ]
    for (const [sql, differs] of planted) {
      const { folder, file } = setup()
      await makeLedger(file, 1)
      const connection = connect(file, { busyTimeoutMs })
      connection.execute(sql)
      connection.pragma('journal_mode = delete')
      connection.close()
      const before = imageOf(folder)
      const refusal = await openLedger(file).then(
        () => expect.fail(`opened with ${sql}`),
        (error: unknown) => error,
      )
      expect(refusal).toMatchObject({ code: 'LEDGER_VERSION', details: { path: file, differs } })
      expect(imageOf(folder)).toEqual(before)
    }
  })

  it('a ledger file would not be synced fully without the pragma, because the driver falls back to NORMAL', async () => {
    const { file } = setup()
    await makeLedger(file, 1)
    const connection = connect(file, { busyTimeoutMs })
    connection.execute('begin immediate')
    connection.execute('commit')
    expect(connection.pragma('synchronous')).toBe(1)
    connection.close()
  })

  it('a new ledger file, the files beside it and its new folder are private to the user', async () => {
    const { folder } = setup()
    const file = join(folder, 'new', 'ledger.db')
    const ledger = await openLedger(file)
    await ledger.step(add('a'))
    await ledger.register('engine-1')
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
    expect(modeOf(join(folder, 'new'))).toBe('700')
    for (const name of ['ledger.db', 'ledger.db-wal', 'ledger.db-shm', 'ledger.db-locks/engine-1']) {
      expect([name, modeOf(join(folder, 'new', name))]).toEqual([name, '600'])
    }
    await ledger.close()
  })

  it('opening a ledger file that all users can read or write makes it private, and one shared with a group stays shared', async () => {
    const { file } = setup()
    await makeLedger(file, 1)
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
    for (const [found, left] of [
      [0o666, '600'],
      [0o644, '600'],
      [0o660, '660'],
    ] as const) {
      const holder = await openLedger(file)
      await holder.step(add(`found at ${found}`))
      for (const name of [file, `${file}-wal`, `${file}-shm`]) chmodSync(name, found)
      const ledger = await openLedger(file)
      expect([file, `${file}-wal`, `${file}-shm`].map(modeOf)).toEqual([left, left, left])
      await ledger.close()
      await holder.close()
    }
  })

  it('X-014 a closed ledger is one file that other processes can open', async () => {
    const { folder, file } = setup()
    const ledger = await openLedger(file)
    await ledger.register('engine-1')
    await ledger.step(add('a'))
    expect(existsSync(`${file}-wal`)).toBe(true)
    await ledger.close()
    await ledger.close()
    expect(readdirSync(folder)).toEqual(['ledger.db'])
    const other = connect(file, { busyTimeoutMs: 0 })
    other.execute('begin exclusive')
    other.execute('rollback')
    other.close()
  })

  it('X-015 a ledger file keeps its rows when it is closed, and a ledger in memory keeps none', async () => {
    const { file } = setup()
    for (const [name, kept] of [
      [file, 1],
      [':memory:', 0],
    ] as const) {
      const first = await openLedger(name)
      await first.step(add('a'))
      await first.close()
      const second = await openLedger(name)
      expect(await second.read((tx) => tx.task.count({}))).toBe(kept)
      await second.close()
    }
    expect(existsSync(':memory:')).toBe(false)
  })

  it('a ledger file can be opened twice, and closing one connection leaves the other open', async () => {
    const { file } = setup()
    const [first, second] = [await openLedger(file), await openLedger(file)]
    await first.step(add('a'))
    await first.close()
    await second.step(add('b'))
    expect(await second.read((tx) => tx.task.count({}))).toBe(2)
    await second.close()
  })
})

describe('opening a ledger file twice in one process', () => {
  const onLinux = it.runIf(process.platform === 'linux')
  /** The locks of this process on a file: their kinds and ranges. Files on other file systems may have the same inode number. */
  const locksOn = (file: string) =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .map((line) => line.split(/\s+/))
      .filter((parts) => parts[4] === `${process.pid}` && parts[5]?.endsWith(`:${statSync(file).ino}`))
      .map((parts) => [...parts.slice(1, 4), ...parts.slice(6)].join(' '))

  onLinux(
    'opening a ledger file again keeps the locks that SQLite holds on it, which closing any descriptor of the file drops',
    async () => {
      const { file } = setup()
      const first = await openLedger(file)
      await first.step(add('a'))
      const held = [locksOn(file), locksOn(`${file}-shm`)]
      expect(held[0]).not.toEqual([])
      const second = await openLedger(file)
      expect([locksOn(file), locksOn(`${file}-shm`)]).toEqual(held)
      await second.close()
      expect([locksOn(file), locksOn(`${file}-shm`)]).toEqual(held)
      await first.close()
    },
  )

  const older = spawnSync('python3', ['-c', 'import sqlite3; print(sqlite3.sqlite_version)'], { encoding: 'utf8' })

  it.runIf(older.status === 0)(
    'a ledger file loses no acknowledged write after an older SQLite has read it',
    async () => {
      const { file } = setup()
      const first = await openLedger(file)
      await first.step(add('a'))
      await (await openLedger(file)).close()
      // A connection that closes the file as the last one deletes the log, even if a newer SQLite still writes to it.
      const reading = `import sqlite3, sys\nd = sqlite3.connect(sys.argv[1])\nd.execute('select count(*) from task').fetchone()\nd.close()`
      expect(spawnSync('python3', ['-c', reading, file], { encoding: 'utf8' }).stderr).toBe('')
      await first.step(add('b'))
      const seen = connect(file, { busyTimeoutMs, readonly: true })
      expect(seen.run({ sql: 'select id from task order by id', parameters: [], want: 'rows' })).toEqual([
        { id: 'a' },
        { id: 'b' },
      ])
      seen.close()
      const child = startChild('count', file)
      expect(await child.nextLine()).toBe('2')
      await child.ended()
      await first.close()
    },
  )
})

describe('migrations', () => {
  it('X-013 ten processes that open a new ledger file at once migrate it once', async () => {
    const { folder, file } = setup()
    const children = Array.from({ length: 10 }, (_, n) => startChild('open', file, `task-${n}`))
    await Promise.all(children.map((child) => child.nextLine()))
    for (const child of children) child.send('go')
    expect(await Promise.all(children.map((child) => child.report()))).toEqual(
      children.map(() => ({ code: 0, stderr: '' })),
    )
    const ledger = await openLedger(file)
    expect(await ledger.read((tx) => tx.task.count({}))).toBe(10)
    await ledger.close()
    expect(readdirSync(folder)).toEqual(['ledger.db'])
  })

  it('X-013 a new ledger file that another process migrates between two reads of its checks is opened', async () => {
    const { file } = setup()
    const other = connect(file, { busyTimeoutMs: 0 })
    onTestFinished(() => other.close())
    const pragma = Database.prototype.pragma
    const spy = vi.spyOn(Database.prototype, 'pragma').mockImplementation(function (this: Database.Database, ...given) {
      const found: unknown = pragma.apply(this, given)
      if (given[0] !== 'application_id') return found
      spy.mockRestore()
      try {
        other.execute('begin immediate')
        for (const text of migrationTexts(sqliteDialect, 0)) other.execute(text)
        other.pragma(`application_id = ${applicationId}`)
        other.pragma(`user_version = ${ledgerVersion}`)
        other.execute('commit')
      } catch (error) {
        // The checks hold a lock of readers: the other process has to wait.
        expect(isBusy(error)).toBe(true)
        other.execute('rollback')
      }
      return found
    })
    const opened = await open(file)
    expect(schemaDigest(opened.connection)).toBe(currentDigest)
    opened.connection.close()
  })

  it('X-013 opening a ledger file of the current version does not change its schema', async () => {
    const { file } = setup()
    await makeLedger(file)
    const before = schemaOf(file)
    await (await openLedger(file)).close()
    expect(schemaOf(file)).toEqual(before)
    expect(before).toMatchObject({ version: ledgerVersion, application: applicationId })
  })

  it('no migration is compiled to open a ledger file of the current version', async () => {
    const { file } = setup()
    await makeLedger(file, 1)
    const compiled = vi.spyOn(firstSchema, 'statements')
    await (await openLedger(file)).close()
    expect(compiled).not.toHaveBeenCalled()
    migrationTexts({ ...sqliteDialect }, 0)
    expect(compiled).toHaveBeenCalledOnce()
  })

  it('an interrupted migration leaves nothing in the ledger file', async () => {
    const { file } = setup()
    const interrupted = connect(file, { busyTimeoutMs })
    interrupted.execute('begin immediate')
    for (const text of migrationTexts(sqliteDialect, 0).slice(0, 5)) interrupted.execute(text)
    interrupted.close()
    const ledger = await openLedger(file)
    await ledger.step(add('a'))
    await ledger.close()
  })
})

describe('a ledger file that is refused', () => {
  it('opening a file that is not a database is refused and does not change it', async () => {
    const { folder, file } = setup()
    for (const garbage of ['not a database, but long enough to look like one', 'short', '\u0000'.repeat(8_192)]) {
      writeFileSync(file, garbage)
      const before = imageOf(folder)
      await expect(openLedger(file)).rejects.toMatchObject({ code: 'LEDGER_FOREIGN', details: { path: file } })
      expect(imageOf(folder)).toEqual(before)
    }
  })

  it('opening a folder as a ledger is refused and does not change it', async () => {
    const { folder, file } = setup()
    mkdirSync(file)
    await expect(openLedger(file)).rejects.toMatchObject({ code: 'LEDGER_FOREIGN' })
    expect(readdirSync(folder)).toEqual(['ledger.db'])
  })

  it('opening a database of another program, with or without an application id, is refused and does not change it', async () => {
    const { folder, file } = setup()
    for (const pragma of ['user_version = 3', 'application_id = 252006673']) {
      rmSync(file, { force: true })
      const other = connect(file, { busyTimeoutMs })
      other.execute('create table task (mine)')
      other.pragma(pragma)
      other.close()
      const before = imageOf(folder)
      await expect(openLedger(file)).rejects.toMatchObject({ code: 'LEDGER_FOREIGN' })
      expect(imageOf(folder)).toEqual(before)
    }
  })

  it('opening a ledger file of a newer version is refused and does not change it', async () => {
    const { folder, file } = setup()
    await makeLedger(file)
    const newer = connect(file, { busyTimeoutMs })
    newer.pragma(`user_version = ${ledgerVersion + 1}`)
    newer.close()
    const before = imageOf(folder)
    await expect(openLedger(file)).rejects.toMatchObject({
      code: 'LEDGER_VERSION',
      details: { version: ledgerVersion + 1, known: ledgerVersion },
    })
    expect(imageOf(folder)).toEqual(before)
  })

  it('opening a truncated ledger file is refused and does not change it', async () => {
    const { folder, file } = setup()
    await makeLedger(file)
    truncateSync(file, Math.floor(statSync(file).size / 2 / 4_096) * 4_096)
    const before = imageOf(folder)
    await expect(openLedger(file)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
    expect(imageOf(folder)['ledger.db']).toEqual(before['ledger.db'])
  })

  it('opening a ledger file with an overwritten page at any position is refused and does not change it', async () => {
    const { folder, file } = setup()
    await makeLedger(file)
    const sound = readFileSync(file)
    const pages = sound.length / 4_096
    for (const page of [1, 2, Math.floor(pages / 2), pages - 1]) {
      writeFileSync(file, sound)
      overwritePage(file, page)
      const before = imageOf(folder)
      await expect(openLedger(file)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
      expect(imageOf(folder)['ledger.db']).toEqual(before['ledger.db'])
    }
    writeFileSync(file, sound)
    await (await openLedger(file)).close()
  })

  it('opening a ledger file that cannot be created is refused with LEDGER_UNAVAILABLE', async () => {
    const { folder } = setup()
    writeFileSync(join(folder, 'plain'), '')
    await expect(openLedger(join(folder, 'plain', 'ledger.db'))).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
  })
})

describe('a ledger file larger than 32 MB', () => {
  async function makeLarge(file: string): Promise<void> {
    const ledger = await openLedger(file)
    await ledger.step(add('a'))
    await ledger.step({
      name: 'talk',
      *decide(tx) {
        for (let n = 0; n < 34; n++) {
          yield* tx.message.append(messageRow({ id: `m-${n}`, taskId: 'a', content: 'x'.repeat(1_000_000) }))
        }
      },
    })
    await ledger.close()
  }

  it('a ledger file larger than 32 MB is checked in a worker, and damage stops the engines that use it', async () => {
    const { file } = setup()
    await makeLarge(file)
    overwritePage(file, 5_000)
    const ledger = await openLedger(file)
    const failure = new Promise((resolve) => {
      ledger.observe({ committed() {}, changed() {}, failed: resolve }, { watchOthers: false })
    })
    expect(await failure).toMatchObject({ code: 'LEDGER_CORRUPT', details: { path: file } })
    await expect(ledger.step(add('b'))).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
    await ledger.close()
  })

  it('a sound ledger file larger than 32 MB can be written at once', async () => {
    const { file } = setup()
    await makeLarge(file)
    const ledger = await openLedger(file)
    await ledger.step(add('b'))
    expect(await ledger.read((tx) => tx.task.count({}))).toBe(2)
    await ledger.close()
  })
})

describe('the name of a ledger', () => {
  it('openLedger refuses any other URL', async () => {
    await expect(openLedger('https://host/ledger.db')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

function overwritePage(file: string, page: number): void {
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(4_096, 0xff), 0, 4_096, page * 4_096)
  closeSync(handle)
}
