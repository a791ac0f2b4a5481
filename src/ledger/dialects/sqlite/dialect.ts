// SQLite's words for Kysely: it compiles with them and is never connected (see statement.ts).
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { Database } from '../../schema.ts'
import type { Dialect } from '../../statement.ts'

export const sqliteDialect: Dialect = {
  kind: 'sqlite',
  db: new Kysely<Database>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  }),
}
