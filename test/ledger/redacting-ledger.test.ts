// Which columns the hook `redact` is shown: every column of every table either holds what users and programs say, or is known to hold
// none of it.
import { describe, expect, it, onTestFinished } from 'vitest'
import { redactionBy } from '../../src/core/redact.ts'
import type { MailRecord } from '../../src/entities/board.ts'
import { connect } from '../../src/ledger/dialects/sqlite/connection.ts'
import type { Ledger, Op, Step, Tx } from '../../src/ledger/ledger.ts'
import { contentOfTables, redactingLedger } from '../../src/ledger/redacting-ledger.ts'
import { openLedger } from '../../src/testing/index.ts'
import { ledgerFile } from '../engine/world.ts'

/** Columns that belong to no field of a record: places, words and vectors that are derived from what is stored. */
const derived: Readonly<Record<string, readonly string[]>> = {
  dependency: ['position'],
  fact: ['subject'],
  stint: ['seq'],
  // Limits, folders and what finds facts: no content.
  setting: ['name', 'value'],
  board_mirror: ['dir', 'board', 'instance_id', 'until'],
  fact_word: ['branch', 'word', 'size', 'fact'],
  fact_vector: ['fact', 'model', 'vector'],
}

const columnOf = (field: string): string =>
  field === 'group' ? 'is_group' : field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function mail(): Omit<MailRecord, 'seq'> {
  const said = { id: 'mail-1', board: 'main', sender: 'ann', recipient: 'bob', topic: 't', body: 'b' }
  return { ...said, kind: 'message', requestId: null, verdict: null, createdAt: 1, readAt: null }
}

describe('a new column', () => {
  it('V-10 every stored field is either shown to the redact hook or listed as holding no content', async () => {
    const file = ledgerFile()
    await (await openLedger(file)).close()
    const connection = connect(file, { busyTimeoutMs: 50 })
    onTestFinished(() => connection.close())
    const namesIn = (sql: string): string[] =>
      (connection.run({ sql, parameters: [], want: 'rows' }) as Array<{ name: string }>).map(({ name }) => name)
    const all = namesIn(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`)
    // The index for full text holds the words of facts, which are taken from what was stored of them.
    const names = all.filter((name) => !name.startsWith('fact_text'))
    const judged: Readonly<Record<string, object>> = contentOfTables
    expect(names.sort()).toEqual([...new Set([...Object.keys(judged), ...Object.keys(derived)])].sort())
    for (const table of names) {
      const columns = namesIn(`select name from pragma_table_info('${table}')`)
      const known = [...Object.keys(judged[table] ?? {}).map(columnOf), ...(derived[table] ?? [])]
      expect([table, columns.sort()]).toEqual([table, known.sort()])
    }
  })

  it('V-10 is shown to the hook in place, so that a step goes on with what is stored', async () => {
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

  it('is shown to the hook by a ledger whose transaction is made of classes, too', async () => {
    class Mails {
      readonly #mail: Tx['mail']
      constructor(own: Tx['mail']) {
        this.#mail = own
      }
      insert(said: Omit<MailRecord, 'seq'>): Op<number> {
        return this.#mail.insert(said)
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
