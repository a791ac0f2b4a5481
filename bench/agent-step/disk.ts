// The time of one durable commit on this disk, and the number of commits of the engine.
import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'

const Database = createRequire(import.meta.url)('better-sqlite3') as typeof import('better-sqlite3')

/**
 * Milliseconds of each of `count` commits of one small row, with the durability of the engine. Works for `restMs` before each commit,
 * because disks are faster for commits in direct succession than for occasional ones.
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

/** The number of commits of all connections of this process during the work. */
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
