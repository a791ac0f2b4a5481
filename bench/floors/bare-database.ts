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

/** Runs `work` for each number below `count`, `lanes` of them at a time. */
export async function inLanes(count: number, lanes: number, work: (n: number) => Promise<unknown>): Promise<void> {
  const lane = async (first: number): Promise<void> => {
    for (let n = first; n < count; n += lanes) await work(n)
  }
  await Promise.all(Array.from({ length: lanes }, (_, first) => lane(first)))
}

/** A bounded number of works at a time, the others in a queue. */
export function createSlots(count: number): { run(work: () => Promise<void>): void; idle(): Promise<void> } {
  const waiting: Array<() => Promise<void>> = []
  let running = 0
  const idlers: Array<() => void> = []
  function next(): void {
    const work = waiting.shift()
    if (work === undefined) {
      if (running === 0) for (const resolve of idlers.splice(0)) resolve()
      return
    }
    running++
    void work().then(() => {
      running--
      next()
    })
  }
  return {
    run(work) {
      waiting.push(work)
      if (running < count) next()
    },
    idle: () =>
      running === 0 && waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve)),
  }
}
