// A second migration is planted, so that two versions of errand meet on one ledger: the later one migrates it, and the earlier one stops,
// or goes on beside it if the migration is additive.
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Ledger, Step } from '../../src/ledger/ledger.ts'
import { openSnapshot } from '../../src/ledger/open-snapshot.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/postgres-ledger.ts'
import { connect } from '../../src/ledger/sqlite/connection.ts'
import { openLedger } from '../../src/testing/index.ts'
import { ledgerFile } from '../engine/world.ts'
import { taskRow } from './factories.ts'
import { createPglite } from './pglite.ts'

/** The second migration of each later version, as the code in its list. */
const planted = {
  additive: `{ name: 'hues', isAdditive: true, statements: hues }`,
  notAdditive: `{ name: 'hues', statements: hues }`,
  failing: `{ name: 'failing', statements: (spelling) => [...hues(spelling), raw(spelling.db, 'drop table no_such_table')] }`,
}

const listWith = (migration: string) => `
  import { firstSchema } from './0001-first-schema.ts'
  import { raw, type Spelling } from './migration.ts'
  const hues = ({ db }: Spelling) => [
    db.schema.alterTable('task').addColumn('hue', 'text', (column) => column.notNull().defaultTo('red')),
    db.schema.alterTable('event').addColumn('hue', 'text'),
  ]
  export const migrations = [firstSchema, ${migration}]`

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'errand-next-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))

interface LaterVersion {
  openLedger: typeof openLedger
  openPostgresLedger: typeof openPostgresLedger
  openSnapshot: typeof openSnapshot
}

const versions = new Map<string, Promise<LaterVersion>>()

/** A version of errand with a second migration: a copy of the source, whose modules are others than those of the first version. */
function versionWith(migration: keyof typeof planted): Promise<LaterVersion> {
  const load = async () => {
    const ledger = join(folder, migration, 'ledger')
    cpSync(join(root, 'src'), dirname(ledger), { recursive: true })
    writeFileSync(join(ledger, 'migrations/list.ts'), listWith(planted[migration]))
    return {
      ...(await import(join(ledger, 'open-ledger.ts'))),
      ...(await import(join(ledger, 'open-snapshot.ts'))),
      ...(await import(join(ledger, 'postgres/postgres-ledger.ts'))),
    } as LaterVersion
  }
  const version = versions.get(migration) ?? load()
  versions.set(migration, version)
  return version
}

const add = (id: string): Step => ({ name: 'add', decide: (tx) => tx.task.insert(taskRow({ id })) })
const idsIn = async (ledger: Ledger) => (await ledger.read((tx) => tx.task.list({}, 9))).map(({ id }) => id).sort()

function rowsOf(file: string, sql: string): unknown {
  const connection = connect(file, { busyTimeoutMs: 50, readonly: true })
  try {
    return connection.run({ sql, parameters: [], want: 'rows' })
  } finally {
    connection.close()
  }
}

const schemaOf = (file: string) => rowsOf(file, 'select type, name, sql from sqlite_schema order by type, name')

/** The files of a ledger, byte for byte. */
const filesOf = (file: string) =>
  readdirSync(dirname(file))
    .sort()
    .map((name) => [name, readFileSync(`${dirname(file)}/${name}`).toString('base64')])

/** A ledger file of the first version with a task. */
async function firstFile(): Promise<string> {
  const file = ledgerFile()
  const ledger = await openLedger(file)
  await ledger.step(add('before'))
  await ledger.close()
  return file
}

describe('X-013 a second migration of a ledger file', () => {
  it('is made when the later version opens it: its rows stay, and its schema is that of a new file', async () => {
    const file = await firstFile()
    const later = await versionWith('notAdditive')
    const ledger = await later.openLedger(file)
    await ledger.step(add('after'))
    expect(await idsIn(ledger)).toEqual(['after', 'before'])
    await ledger.close()
    expect(rowsOf(file, 'select id, hue from task order by id')).toEqual([
      { id: 'after', hue: 'red' },
      { id: 'before', hue: 'red' },
    ])
    expect(rowsOf(file, 'pragma user_version')).toEqual([{ user_version: 2 }])
    const fresh = ledgerFile()
    await (await later.openLedger(fresh)).close()
    expect(schemaOf(file)).toEqual(schemaOf(fresh))
    await (await later.openLedger(file)).close()
  })

  it('makes earlier versions refuse the file with LEDGER_VERSION, and they leave it unchanged', async () => {
    const file = await firstFile()
    await (await (await versionWith('additive')).openLedger(file)).close()
    const before = filesOf(file)
    const refusal = { code: 'LEDGER_VERSION', details: { path: file, version: 2, known: 1 } }
    await expect(openLedger(file)).rejects.toMatchObject(refusal)
    await expect(openSnapshot(file)).rejects.toMatchObject(refusal)
    expect(filesOf(file)).toEqual(before)
  })

  it('is needed before the later version reads the whole file, which it refuses with LEDGER_VERSION', async () => {
    const file = await firstFile()
    const later = await versionWith('additive')
    await expect(later.openSnapshot(file)).rejects.toMatchObject({
      code: 'LEDGER_VERSION',
      message: expect.stringContaining('which migrates it'),
    })
  })

  it('is not made in a file whose schema another program has changed, which stays unchanged', async () => {
    const file = await firstFile()
    const connection = connect(file, { busyTimeoutMs: 50 })
    connection.execute('create view spy as select id from task')
    connection.pragma('journal_mode = delete')
    connection.close()
    const before = filesOf(file)
    await expect((await versionWith('additive')).openLedger(file)).rejects.toMatchObject({
      code: 'LEDGER_VERSION',
      details: { version: 1, differs: ['view "spy"'] },
    })
    expect(filesOf(file)).toEqual(before)
  })

  it('that fails changes nothing in the file', async () => {
    const file = await firstFile()
    const before = ledgerFile()
    copyFileSync(file, before)
    await expect((await versionWith('failing')).openLedger(file)).rejects.toMatchObject({
      message: expect.stringContaining('no_such_table'),
    })
    expect(schemaOf(file)).toEqual(schemaOf(before))
    const ledger = await openLedger(file)
    expect(await idsIn(ledger)).toEqual(['before'])
    await ledger.close()
  })
})

let server: Promise<PGlite> | undefined
let schemas = 0

afterAll(async () => {
  await (await server)?.close()
})

/** A schema with a ledger of the first version and a task, which an engine of that version has open. */
async function firstSchemaOnServer() {
  server ??= createPglite()
  const client = await server
  const schema = `next_${++schemas}`
  await client.exec(`create schema ${schema}; set search_path to ${schema}`)
  const ledger = await openPostgresLedger(client)
  onTestFinished(() => client.exec(`drop schema ${schema} cascade`).then(() => {}))
  await ledger.step(add('before'))
  const versions = async () => (await client.query('select version, usable_from from ledger_version')).rows
  return { client, ledger, versions }
}

describe('X-013 a second migration of a ledger on PostgreSQL', () => {
  it('that is additive leaves the engines of the version before at work, and more of them may open it', async () => {
    const { client, ledger, versions } = await firstSchemaOnServer()
    const later = await (await versionWith('additive')).openPostgresLedger(client)
    expect(await versions()).toEqual([{ version: 2, usable_from: 1 }])
    await ledger.step(add('beside'))
    await later.step(add('after'))
    expect(await idsIn(ledger)).toEqual(['after', 'before', 'beside'])
    const another = await openPostgresLedger(client)
    expect(await idsIn(another)).toEqual(['after', 'before', 'beside'])
    expect(await versions()).toEqual([{ version: 2, usable_from: 1 }])
    expect((await client.query('select distinct hue from task')).rows).toEqual([{ hue: 'red' }])
  })

  it('that is not additive stops the engines of the version before with LEDGER_VERSION', async () => {
    const { client, ledger, versions } = await firstSchemaOnServer()
    const failures: unknown[] = []
    ledger.observe({ committed() {}, changed() {}, failed: (error) => failures.push(error) }, { watchOthers: false })
    const later = await (await versionWith('notAdditive')).openPostgresLedger(client)
    expect(await versions()).toEqual([{ version: 2, usable_from: 2 }])
    const refusal = { code: 'LEDGER_VERSION', details: { version: 2, known: 1 } }
    await expect(ledger.step(add('late'))).rejects.toMatchObject(refusal)
    await expect(ledger.step(add('later'))).rejects.toMatchObject(refusal)
    expect(failures).toEqual([expect.objectContaining(refusal)])
    await expect(ledger.read((tx) => tx.task.list({}, 9))).rejects.toBe(failures[0])
    await expect(openPostgresLedger(client)).rejects.toMatchObject(refusal)
    await later.step(add('after'))
    expect(await idsIn(later)).toEqual(['after', 'before'])
  })

  it('is not made in a schema of a development version, which is refused with LEDGER_VERSION', async () => {
    const { client, versions } = await firstSchemaOnServer()
    const later = await versionWith('additive')
    const isRefused = async (version: number) => {
      for (const open of [openPostgresLedger, later.openPostgresLedger]) {
        await expect(open(client)).rejects.toMatchObject({
          code: 'LEDGER_VERSION',
          details: { version },
        })
      }
    }
    await client.exec(`update ledger_version set digest = 'of another schema'`)
    await isRefused(1)
    expect(await versions()).toEqual([{ version: 1, usable_from: 1 }])
    await client.exec('alter table ledger_version drop column digest')
    await isRefused(1)
    await client.exec('update ledger_version set version = 17, usable_from = 17')
    await isRefused(17)
  })

  it('that fails changes nothing', async () => {
    const { client, ledger, versions } = await firstSchemaOnServer()
    await expect((await versionWith('failing')).openPostgresLedger(client)).rejects.toThrow('no_such_table')
    expect(await versions()).toEqual([{ version: 1, usable_from: 1 }])
    await ledger.step(add('after'))
    expect(await idsIn(ledger)).toEqual(['after', 'before'])
  })
})
