// The frequent queries of abilities use an index, however large the ledger is.
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { ledgerFile, openEngine } from '../engine/world.ts'

it('S0-097 the ledger has indexes on creation, change, state and parent of tasks, on messages by time, on calls by task and state', async () => {
  const ledger = ledgerFile()
  await (await openEngine({ ledger })).close()
  const file = new Database(ledger, { readonly: true })
  const columnsOf = (table: string): string[] =>
    (file.pragma(`index_list(${table})`) as Array<{ name: string }>).map(({ name }) =>
      (file.pragma(`index_info(${name})`) as Array<{ name: string | null }>).map((column) => column.name ?? '…').join(),
    )
  const [task, message, call] = [columnsOf('task'), columnsOf('message'), columnsOf('call')]
  file.close()
  for (const wanted of ['created_at', 'updated_at', 'status', 'parent_id']) {
    expect([wanted, task.some((columns) => columns.startsWith(wanted))]).toEqual([wanted, true])
  }
  expect(message).toContain('task_id,timestamp')
  expect(call.some((columns) => columns.startsWith('task_id'))).toBe(true)
  expect(call).toContain('status')
})
