// PostgreSQL in the process of a test, with the system tables of a package: to create them takes many seconds.
import { type messages, PGlite, protocol } from '@electric-sql/pglite'
import { dataDir } from '@electric-sql/pglite-prepopulatedfs'
import type { PostgresClient } from '../../src/ledger/postgres/postgres-ledger.ts'

export async function createPglite(): Promise<PGlite> {
  return await PGlite.create({ loadDataDir: await dataDir() })
}

interface Prepared {
  name: string
  parameterTypes: readonly number[]
  columns: ReadonlyArray<{ name: string; parse: (text: string) => unknown }>
}

/**
 * A client that prepares each statement once, as drivers over the network do. `pglite.query` parses and plans every statement anew, which
 * takes most of the time of the thousands that a contract runs. Only for a schema whose tables keep their columns.
 */
export function preparingClient(pglite: PGlite): PostgresClient {
  const { serialize } = protocol
  const known = new Map<string, Prepared>()
  const request = async (...parts: Uint8Array[]): Promise<messages.BackendMessage[]> =>
    (await pglite.execProtocol(Buffer.concat([...parts, serialize.sync()]), { syncToFs: false })).messages

  async function prepare(sql: string): Promise<Prepared> {
    const name = `statement_${known.size}`
    const replies = await request(serialize.parse({ name, text: sql }), serialize.describe({ type: 'S', name }))
    const reply = <M extends messages.BackendMessage | undefined>(of: string) =>
      replies.find((each) => each.name === of) as M
    const prepared: Prepared = {
      name,
      parameterTypes: reply<messages.ParameterDescriptionMessage>('parameterDescription').dataTypeIDs,
      columns: (reply<messages.RowDescriptionMessage | undefined>('rowDescription')?.fields ?? []).map((field) => ({
        name: field.name,
        parse: (text) => pglite.parsers[field.dataTypeID]?.(text, field.dataTypeID) ?? text,
      })),
    }
    known.set(sql, prepared)
    return prepared
  }

  return {
    query: (sql, parameters = []) =>
      pglite.runExclusive(async () => {
        const { name, parameterTypes, columns } = known.get(sql) ?? (await prepare(sql))
        const values = parameters.map((value, index) => {
          if (value === null || value === undefined) return null
          const serializer = pglite.serializers[parameterTypes[index] as number]
          return serializer === undefined ? String(value as string | number | boolean) : serializer(value)
        })
        const replies = await request(serialize.bind({ statement: name, values }), serialize.execute({}))
        const rows: unknown[] = []
        let affectedRows = 0
        for (const reply of replies) {
          if (reply.name === 'commandComplete') {
            affectedRows = Number(/\d+$/.exec((reply as messages.CommandCompleteMessage).text)?.[0] ?? 0)
          } else if (reply.name === 'dataRow') {
            const { fields } = reply as messages.DataRowMessage
            rows.push(
              Object.fromEntries(columns.map((column, at) => [column.name, parsedValue(fields[at], column.parse)])),
            )
          }
        }
        return { rows, affectedRows }
      }),
  }
}

function parsedValue(text: string | null | undefined, parseText: (text: string) => unknown): unknown {
  return text === null || text === undefined ? null : parseText(text)
}
