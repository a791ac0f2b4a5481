// The first schema. Until the first release it is edited in place; from then on it never changes, and each change is a migration of its own.
import { boardTables } from './0001-boards.ts'
import { memoryTables } from './0001-memory.ts'
import { runTables } from './0001-runs.ts'
import { scheduleTables } from './0001-schedules.ts'
import { taskTables } from './0001-tasks.ts'
import { teamTables } from './0001-teams.ts'
import { type Migration, raw } from './migration.ts'

export const firstSchema: Migration = {
  name: 'first schema',
  statements: (spelling) => [
    ...taskTables(spelling),
    ...runTables(spelling),
    ...boardTables(spelling),
    ...memoryTables(spelling),
    ...teamTables(spelling),
    ...scheduleTables(spelling),
    // SQLite gets its tables for the statistics of ANALYZE, empty. If another program ran ANALYZE and they did not exist, the schema would
    // change, and open connections would read the schema again, with the statistics.
    ...(spelling.kind === 'sqlite' ? ['analyze setting', 'delete from sqlite_stat1'] : []).map((text) =>
      raw(spelling.db, text),
    ),
  ],
}
