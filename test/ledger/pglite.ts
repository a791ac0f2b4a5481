// PostgreSQL in the process of a test, with the system tables of a package: to create them takes many seconds.
import { PGlite } from '@electric-sql/pglite'
import { dataDir } from '@electric-sql/pglite-prepopulatedfs'

export async function createPglite(): Promise<PGlite> {
  return await PGlite.create({ loadDataDir: await dataDir() })
}
