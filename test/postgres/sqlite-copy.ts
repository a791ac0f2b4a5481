// Copies the rows of a ledger on a server into a new SQLite ledger, so that the checks of the crash tests read it.
import Database from 'better-sqlite3'
import pg from 'pg'
import { openLedger } from '../../src/testing/index.ts'

/** Events are numbered again: on a server their numbers have gaps. */
export async function copyToSqlite(url: string, file: string): Promise<void> {
  await (await openLedger(file)).close()
  const source = new pg.Client({
    connectionString: url,
    types: { getTypeParser: (type: number) => (type === 20 ? Number : pg.types.getTypeParser(type)) } as never,
  })
  await source.connect()
  const copy = new Database(file)
  copy.pragma('foreign_keys = off')
  for (const table of ['instance', 'task', 'run', 'call', 'message', 'dependency', 'event']) {
    const order = table === 'event' || table === 'task' ? ' order by seq' : ''
    const { rows } = await source.query<Record<string, unknown>>(`select * from "${table}"${order}`)
    const columns = Object.keys(rows[0] ?? {})
    if (columns.length === 0) continue
    const insert = copy.prepare(
      `insert into "${table}" (${columns.map((name) => `"${name}"`).join()}) values (${columns.map(() => '?').join()})`,
    )
    copy.transaction(() => {
      for (const [at, row] of rows.entries()) {
        insert.run(columns.map((name) => (name === 'seq' && table === 'event' ? at + 1 : row[name])))
      }
    })()
  }
  copy.close()
  await source.end()
}
