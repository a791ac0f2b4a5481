// Starts one server for all suites, with a database whose schemas are the ledgers of the tests.
import { createDatabase, startServer } from '../server.ts'

export default async function setup(): Promise<() => Promise<void>> {
  const server = await startServer()
  if (server === undefined) throw new Error('The suites on PostgreSQL need a server.')
  process.env['ERRAND_TEST_DATABASE'] = await createDatabase(server)
  return () => server.stop()
}
