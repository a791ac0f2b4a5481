// The statements that the engine executes in this process: how many commits it makes, and, for a floor that repeats them, all of them.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type DatabaseConstructor from 'better-sqlite3'

interface PatchedStatement {
  source: string
  run(...values: unknown[]): unknown
  all(...values: unknown[]): unknown[]
}

export interface Statement {
  sql: string
  values: unknown[]
  /** Whether it reads rows. */
  reads: boolean
}

/** Records what every connection of this process executes during the work. `packageRoot`: whose better-sqlite3 it is. */
export async function recordStatements(packageRoot: string, work: () => Promise<unknown>): Promise<Statement[]> {
  const require = createRequire(join(packageRoot, 'package.json'))
  const Database = require('better-sqlite3') as typeof DatabaseConstructor
  const probe = new Database(':memory:')
  const prototype = Object.getPrototypeOf(probe.prepare('select 1')) as PatchedStatement
  probe.close()
  const { run, all } = prototype
  const statements: Statement[] = []
  prototype.run = function (this: PatchedStatement, ...values) {
    statements.push({ sql: this.source, values, reads: false })
    return run.apply(this, values)
  }
  prototype.all = function (this: PatchedStatement, ...values) {
    statements.push({ sql: this.source, values, reads: true })
    return all.apply(this, values)
  }
  try {
    await work()
  } finally {
    Object.assign(prototype, { run, all })
  }
  return statements
}

/** The number of commits of all connections of this process during the work. */
export async function countCommits(packageRoot: string, work: () => Promise<unknown>): Promise<number> {
  const statements = await recordStatements(packageRoot, work)
  return statements.filter(({ sql }) => sql === 'commit').length
}
