// PostgreSQL's words for Kysely: it compiles with them and is never connected (see statement.ts).
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { Database } from '../../schema.ts'
import type { Dialect } from '../../statement.ts'

export const postgresDialect: Dialect = {
  kind: 'postgres',
  db: new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
}
