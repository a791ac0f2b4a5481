// The SQLite dialect of Kysely: it only compiles and is never connected (see statement.ts).
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { Database } from '../schema.ts'
import type { Dialect } from '../statement.ts'

/**
 * Writes holes as `+?` instead of `?`, which means the same. SQLite as shipped here (with STAT4) plans an ordered query again each time
 * another value is bound to a bare `?`, because the value might lead to another plan: 20 to 100 µs for a query of 2 µs. With `+?` each
 * query is planned once.
 */
class PlannedOnceCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return '+?'
  }
}

export const sqliteDialect: Dialect = {
  kind: 'sqlite',
  db: new Kysely<Database>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new PlannedOnceCompiler(),
    },
  }),
}
