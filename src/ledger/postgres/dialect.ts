// The PostgreSQL dialect of Kysely: it only compiles and is never connected (see statement.ts).
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { Database } from '../schema.ts'
import type { Dialect } from '../statement.ts'

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
