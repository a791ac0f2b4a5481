// SQLite's words for Kysely: it compiles with them and is never connected (see statement.ts).
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { Database } from '../../schema.ts'
import type { Dialect } from '../../statement.ts'

/**
 * Writes holes as `+?` instead of `?`, which means the same. SQLite as it ships here (with STAT4) plans an ordered query anew each
 * time another value is bound to a bare `?`, because the value might have led to another plan: 20 to 100 µs for a query that takes 2.
 * Every query of ours is planned once.
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
