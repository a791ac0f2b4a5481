// Opening a ledger file: durable, private, migrated once however many open it, and refused, unchanged, when it is not ours.
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
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { connect } from '../../../src/ledger/dialects/sqlite/connection.ts'
import { sqliteDialect } from '../../../src/ledger/dialects/sqlite/dialect.ts'
import { busyTimeoutMs, openFile } from '../../../src/ledger/dialects/sqlite/open-file.ts'
import { applicationId, ledgerVersion, migrations, migrationTexts } from '../../../src/ledger/migrations/migrations.ts'
import { messageRow, openLedger, type Step, taskRow } from '../../../src/testing/index.ts'
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

describe('an opened ledger file', () => {
  it('X-014 is in WAL mode, synced fully, with foreign keys and a short busy timeout, on every connection', async () => {
    const { file } = setup()
    // The second opening, too: none of these but WAL is remembered by the file.
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

  it('is refused by name when something else has changed its schema, and left as it is', async () => {
    const planted: Array<[sql: string, differs: string[]]> = [
      ['create trigger t after insert on task begin update task set executor = 1; end', ['trigger "t"']],
      ['create view v as select * from task', ['view "v"']],
      ['create table extra (x)', ['table "extra"']],
      ['create index i on task (name)', ['index "i"']],
      ['drop index dependency_in_order', ['index "dependency_in_order"']],
      ['alter table task add column extra text', ['table "task"']],
      ['pragma user_version = 3', expect.arrayContaining(['table "branch"']) as never],
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
      expect(refusal).toMatchObject({ code: 'LEDGER_FOREIGN', details: { path: file, differs } })
      expect(imageOf(folder)).toEqual(before)
    }
  })

  it('would not be synced fully without the pragma: the driver falls back to NORMAL', async () => {
    const { file } = setup()
    await makeLedger(file, 1)
    const connection = connect(file, { busyTimeoutMs })
    connection.execute('begin immediate')
    connection.execute('commit')
    expect(connection.pragma('synchronous')).toBe(1)
    connection.close()
  })

  it('is private to its user, as are the files beside it and the folder that it made', async () => {
    const { folder } = setup()
    const file = join(folder, 'new', 'ledger.db')
    const ledger = await openLedger(file)
    await ledger.step(add('a'))
    await ledger.register('engine-1')
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
    expect(modeOf(join(folder, 'new'))).toBe('700')
    for (const name of ['ledger.db', 'ledger.db-wal', 'ledger.db-shm', 'ledger.db-engine-1']) {
      expect([name, modeOf(join(folder, 'new', name))]).toEqual([name, '600'])
    }
    await ledger.close()
  })

  it('becomes private when everybody may read or write it; what a group shares stays', async () => {
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

  it('X-015 keeps what was written, and a ledger in memory keeps nothing', async () => {
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

  it('is opened while another process has it open, and closing one leaves the other at work', async () => {
    const { file } = setup()
    const [first, second] = [await openLedger(file), await openLedger(file)]
    await first.step(add('a'))
    await first.close()
    await second.step(add('b'))
    expect(await second.read((tx) => tx.task.count({}))).toBe(2)
    await second.close()
  })
})

describe('a second opening in the same process', () => {
  const onLinux = it.runIf(process.platform === 'linux')
  const locksOn = (file: string) =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .filter((line) => line.includes(`:${statSync(file).ino} `)).length

  onLinux(
    'leaves the locks that SQLite holds on the file: closing a descriptor of our own would drop them',
    async () => {
      const { file } = setup()
      const first = await openLedger(file)
      await first.step(add('a'))
      const held = [locksOn(file), locksOn(`${file}-shm`)]
      expect(held[0]).toBeGreaterThan(0)
      const second = await openLedger(file)
      expect([locksOn(file), locksOn(`${file}-shm`)]).toEqual(held)
      await second.close()
      expect([locksOn(file), locksOn(`${file}-shm`)]).toEqual(held)
      await first.close()
    },
  )

  const older = spawnSync('python3', ['-c', 'import sqlite3; print(sqlite3.sqlite_version)'], { encoding: 'utf8' })

  it.runIf(older.status === 0)('loses nothing that is acknowledged after an older SQLite has looked', async () => {
    const { file } = setup()
    const first = await openLedger(file)
    await first.step(add('a'))
    await (await openLedger(file)).close()
    // The last to close the file would take the log away, under the feet of whoever still writes to it.
    const looking = `import sqlite3, sys\nd = sqlite3.connect(sys.argv[1])\nd.execute('select count(*) from task').fetchone()\nd.close()`
    expect(spawnSync('python3', ['-c', looking, file], { encoding: 'utf8' }).stderr).toBe('')
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
  })
})

describe('migrations', () => {
  it('X-013 of a new file run once, when ten processes open it at the same moment', { timeout: 60_000 }, async () => {
    const { folder, file } = setup()
    const children = Array.from({ length: 10 }, (_, n) => startChild('open', file, `task-${n}`))
    await Promise.all(children.map((child) => child.nextLine()))
    for (const child of children) child.say('go')
    expect(await Promise.all(children.map((child) => child.ended()))).toEqual(children.map(() => 0))
    const ledger = await openLedger(file)
    expect(await ledger.read((tx) => tx.task.count({}))).toBe(10)
    await ledger.close()
    expect(readdirSync(folder)).toEqual(['ledger.db'])
  })

  it('X-013 change nothing when the file is of the present version', async () => {
    const { file } = setup()
    await makeLedger(file)
    const before = schemaOf(file)
    await (await openLedger(file)).close()
    expect(schemaOf(file)).toEqual(before)
    expect(before).toMatchObject({ version: ledgerVersion, application: applicationId })
  })

  // Version 0 is an empty database; with each migration that is added, one more older version stands here by itself.
  it.each(migrations.map((_, version) => version))('X-013 bring version %i to the present one', async (version) => {
    const { folder, file } = setup()
    const old = connect(file, { busyTimeoutMs })
    const later = migrationTexts(sqliteDialect, version)
    const all = migrationTexts(sqliteDialect, 0)
    for (const text of all.slice(0, all.length - later.length)) old.execute(text)
    if (version > 0) old.pragma(`application_id = ${applicationId}`)
    old.pragma(`user_version = ${version}`)
    old.close()
    await (await openLedger(file)).close()
    const fresh = join(folder, 'fresh.db')
    await (await openLedger(fresh)).close()
    expect(schemaOf(file)).toEqual(schemaOf(fresh))
  })

  it('leave nothing behind when they are cut off in the middle', async () => {
    const { file } = setup()
    const cutOff = connect(file, { busyTimeoutMs })
    cutOff.execute('begin immediate')
    for (const text of migrationTexts(sqliteDialect, 0).slice(0, 5)) cutOff.execute(text)
    cutOff.close()
    const ledger = await openLedger(file)
    await ledger.step(add('a'))
    await ledger.close()
  })
})

describe('a file is refused, and left exactly as it was,', () => {
  it('when it is not a database', async () => {
    const { folder, file } = setup()
    for (const garbage of ['not a database, but long enough to look like one', 'short', '\u0000'.repeat(8_192)]) {
      writeFileSync(file, garbage)
      const before = imageOf(folder)
      await expect(openLedger(file)).rejects.toMatchObject({ code: 'LEDGER_FOREIGN', details: { path: file } })
      expect(imageOf(folder)).toEqual(before)
    }
  })

  it('when it is a folder', async () => {
    const { folder, file } = setup()
    mkdirSync(file)
    await expect(openLedger(file)).rejects.toMatchObject({ code: 'LEDGER_FOREIGN' })
    expect(readdirSync(folder)).toEqual(['ledger.db'])
  })

  it('when it is a database of another program, marked or not', async () => {
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

  it('when a newer errand wrote it', async () => {
    const { folder, file } = setup()
    await makeLedger(file)
    const newer = connect(file, { busyTimeoutMs })
    newer.pragma(`user_version = ${ledgerVersion + 1}`)
    newer.close()
    const before = imageOf(folder)
    await expect(openLedger(file)).rejects.toMatchObject({
      code: 'LEDGER_NEWER',
      details: { version: ledgerVersion + 1, known: ledgerVersion },
    })
    expect(imageOf(folder)).toEqual(before)
  })

  it('when it is cut short', async () => {
    const { folder, file } = setup()
    await makeLedger(file)
    truncateSync(file, Math.floor(statSync(file).size / 2 / 4_096) * 4_096)
    const before = imageOf(folder)
    await expect(openLedger(file)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
    expect(imageOf(folder)['ledger.db']).toEqual(before['ledger.db'])
  })

  it('when a page of it is overwritten, wherever it lies', async () => {
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

  it('when it may not be read or made', async () => {
    const { folder } = setup()
    writeFileSync(join(folder, 'plain'), '')
    await expect(openLedger(join(folder, 'plain', 'ledger.db'))).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
  })
})

describe('a file of more than 32 MB', () => {
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

  it('is checked in a worker, and damage in it stops the engines that work on it', { timeout: 60_000 }, async () => {
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

  it('that is sound is worked on at once', { timeout: 60_000 }, async () => {
    const { file } = setup()
    await makeLarge(file)
    const ledger = await openLedger(file)
    await ledger.step(add('b'))
    expect(await ledger.read((tx) => tx.task.count({}))).toBe(2)
    await ledger.close()
  })
})

describe('a name', () => {
  it('the URL of a PostgreSQL server is refused as not offered yet, without its secrets in the message', async () => {
    const refused = openLedger('postgres://user:secret@host/db')
    await expect(refused).rejects.toMatchObject({ code: 'NOT_OFFERED' })
    await expect(refused).rejects.not.toThrow(/secret/)
  })

  it('of another URL is refused', async () => {
    await expect(openLedger('https://host/ledger.db')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

function overwritePage(file: string, page: number): void {
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(4_096, 0xff), 0, 4_096, page * 4_096)
  closeSync(handle)
}
