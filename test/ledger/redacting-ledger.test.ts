// The columns that the `redact` hook receives: every column of every table either contains content of users and programs, or is listed as
// containing none.
import { describe, expect, it, onTestFinished } from 'vitest'
import { redactionBy } from '../../src/core/redact.ts'
import type { MailRecord } from '../../src/entities/board.ts'
import type { Ledger, Op, Step, Tx } from '../../src/ledger/ledger.ts'
import { contentOfTables } from '../../src/ledger/redacted-content.ts'
import { redactingLedger } from '../../src/ledger/redacting-ledger.ts'
import { connect } from '../../src/ledger/sqlite/connection.ts'
import { openLedger } from '../../src/testing/index.ts'
import { ledgerFile } from '../engine/world.ts'

/** Columns that belong to no field of a record: positions, words and vectors derived from stored content. */
const derived: Readonly<Record<string, readonly string[]>> = {
  dependency: ['position'],
  fact: ['subject'],
  stint: ['seq'],
  // Ids, limits, folders and the indexes of facts: no content.
  purging: ['root_id'],
  setting: ['name', 'value'],
  board_mirror: ['dir', 'board', 'instance_id', 'until'],
  fact_word: ['branch', 'word', 'size', 'fact'],
  fact_vector: ['fact', 'model', 'vector'],
}

const columnOf = (field: string): string =>
  field === 'group' ? 'is_group' : field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function mail(): Omit<MailRecord, 'seq'> {
  const row = { id: 'mail-1', board: 'main', sender: 'ann', recipient: 'bob', topic: 't', body: 'b' }
  return { ...row, kind: 'message', requestId: null, verdict: null, createdAt: 1, readAt: null }
}

describe('the redacted columns', () => {
  it('V-10 every stored field is either shown to the redact hook or listed as holding no content', async () => {
    const file = ledgerFile()
    await (await openLedger(file)).close()
    const connection = connect(file, { busyTimeoutMs: 50 })
    onTestFinished(() => connection.close())
    const namesIn = (sql: string): string[] =>
      (connection.run({ sql, parameters: [], want: 'rows' }) as Array<{ name: string }>).map(({ name }) => name)
    const all = namesIn(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`)
    // The full-text index contains the words of facts as they were stored.
    const names = all.filter((name) => !name.startsWith('fact_text'))
    const contents: Readonly<Record<string, object>> = contentOfTables
    expect(names.sort()).toEqual([...new Set([...Object.keys(contents), ...Object.keys(derived)])].sort())
    for (const table of names) {
      const columns = namesIn(`select name from pragma_table_info('${table}')`)
      const known = [...Object.keys(contents[table] ?? {}).map(columnOf), ...(derived[table] ?? [])]
      expect([table, columns.sort()]).toEqual([table, known.sort()])
    }
  })

  it('V-10 the redact hook changes the record itself, so that a step continues with what is stored', async () => {
    const ledger = redactingLedger(
      await openLedger(':memory:'),
      redactionBy((value, path) => (typeof value === 'string' ? `${path.join('.')}!` : value)),
    )
    onTestFinished(() => ledger.close())
    const row = mail()
    await ledger.step({
      name: 'send',
      *decide(tx) {
        yield* tx.mail.insert(row)
      },
    })
    expect(row).toMatchObject({ sender: 'ann', topic: 'mail.topic!', body: 'mail.body!' })
    expect(await ledger.read((tx) => tx.mail.get('mail-1'))).toMatchObject({ topic: 'mail.topic!', body: 'mail.body!' })
  })

  it('the redact hook receives the records of a ledger whose transaction consists of class instances', async () => {
    class Mails {
      readonly #mail: Tx['mail']
      constructor(mail: Tx['mail']) {
        this.#mail = mail
      }
      insert(row: Omit<MailRecord, 'seq'>): Op<number> {
        return this.#mail.insert(row)
      }
      get(id: string): Op<MailRecord | undefined> {
        return this.#mail.get(id)
      }
    }
    const inner = await openLedger(':memory:')
    onTestFinished(() => inner.close())
    const ofClasses = (tx: Tx): Tx => ({ ...tx, mail: new Mails(tx.mail) as unknown as Tx['mail'] })
    const step = <R>({ name, decide }: Step<R>) => inner.step({ name, decide: (tx) => decide(ofClasses(tx)) })
    const ledger = redactingLedger(
      { step } as unknown as Ledger,
      redactionBy(() => '[redacted]'),
    )
    const found = await ledger.step({
      name: 'send',
      *decide(tx) {
        yield* tx.mail.insert(mail())
        return yield* tx.mail.get('mail-1')
      },
    })
    expect(found).toMatchObject({ id: 'mail-1', body: '[redacted]' })
  })
})
