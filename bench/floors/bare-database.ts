// Bare better-sqlite3 with the durability of the engine, and group commit: writes that arrive in one turn of the event loop share a
// transaction and an fsync. What a floor does with it is the least that a durable engine could do.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type DatabaseConstructor from 'better-sqlite3'

export const Database = createRequire(import.meta.url)('better-sqlite3') as typeof DatabaseConstructor

export type BareDatabase = ReturnType<typeof openBare>

export const floorDurability = 'FULL: an acknowledged write survives a power cut'

export function openBare(folder: string, schema: string) {
  const database = new Database(join(folder, 'floor.db'))
  database.pragma('journal_mode = wal')
  database.pragma('synchronous = full')
  database.exec(schema)
  const [begin, commit] = [database.prepare('begin immediate'), database.prepare('commit')]
  let queue: Array<{ write: () => void; resolve: () => void }> = []
  let commits = 0

  function commitAll(): void {
    const group = queue
    queue = []
    begin.run()
    for (const { write } of group) write()
    commit.run()
    commits++
    for (const { resolve } of group) resolve()
  }

  return {
    database,
    get commits(): number {
      return commits
    },
    /** Resolves when the write is durable. */
    write(write: () => void): Promise<void> {
      if (queue.length === 0) setImmediate(commitAll)
      return new Promise((resolve) => void queue.push({ write, resolve }))
    },
    /** A transaction of its own, at once. */
    writeNow(write: () => void): void {
      begin.run()
      write()
      commit.run()
      commits++
    },
    close: (): void => void database.close(),
  }
}
