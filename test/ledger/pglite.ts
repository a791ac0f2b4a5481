// PostgreSQL in the process of a test. To create its system tables takes seconds, so they are stored for the next tests, by version.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'

const modules = join(import.meta.dirname, '../../node_modules')
const { version } = JSON.parse(readFileSync(join(modules, '@electric-sql/pglite/package.json'), 'utf8'))
const folder = join(modules, '.cache/pglite')
const stored = join(folder, `${version}.tar`)

export async function createPglite(): Promise<PGlite> {
  if (existsSync(stored)) return await PGlite.create({ loadDataDir: new Blob([readFileSync(stored)]) })
  const server = await PGlite.create()
  mkdirSync(folder, { recursive: true })
  const written = `${stored}.${process.pid}`
  writeFileSync(written, Buffer.from(await (await server.dumpDataDir('none')).arrayBuffer()))
  renameSync(written, stored)
  return server
}
