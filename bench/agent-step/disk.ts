// What the disk takes for one durable commit, and how many commits the engine makes.
import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'

const Database = createRequire(import.meta.url)('better-sqlite3') as typeof import('better-sqlite3')

/**
 * Milliseconds of each of `count` commits of one small row, as durable as the engine's. `restMs` is worked through before each:
 * disks answer commits that follow each other at once sooner than those that come now and then, as a loop's do.
 */
export function commitsMs(path: string, count: number, restMs: number): number[] {
  const db = new Database(path)
  db.pragma('journal_mode = wal')
  db.pragma('synchronous = full')
  db.pragma('fullfsync = on')
  db.exec('create table if not exists line (n integer primary key, text text not null)')
  const insert = db.prepare('insert into line (text) values (?)')
  const text = 'x'.repeat(500)
  try {
    return Array.from({ length: count }, () => {
      busyFor(restMs)
      const started = performance.now()
      insert.run(text)
      return performance.now() - started
    })
  } finally {
    db.close()
  }
}

function busyFor(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** How often any connection of this process commits while the work lasts. */
export async function countCommits(work: () => Promise<unknown>): Promise<number> {
  const probe = new Database(':memory:')
  const prototype = Object.getPrototypeOf(probe.prepare('select 1')) as {
    run: (...values: unknown[]) => unknown
    source: string
  }
  probe.close()
  const original = prototype.run
  let commits = 0
  prototype.run = function (this: { source: string }, ...values: unknown[]) {
    if (this.source === 'commit') commits++
    return original.apply(this, values)
  }
  try {
    await work()
  } finally {
    prototype.run = original
  }
  return commits
}
