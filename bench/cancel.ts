// Cancels a family of 100,000 tasks, ten levels deep, with the engine (one event per row, one commit), and with the bare statement
// that sets the same columns of the same rows, under the same indexes, in a copy of the file.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createEngine } from '../src/index.ts'
import { openLedger } from '../src/ledger/open-ledger.ts'

const Database = createRequire(import.meta.url)('better-sqlite3') as typeof import('better-sqlite3')

const levels = 10
const perLevel = Number(process.env.BENCH_FAMILY ?? 100_000) / levels

const columns = [
  'id',
  'name',
  'description',
  'status',
  'is_group',
  'ready',
  'claimable',
  'held',
  'executor',
  'input',
  'result',
  'priority',
  'parent_id',
  'depth',
  'attempt',
  'run',
  'run_open',
  'open_blockers',
  'wakes',
  'crashes',
  'policy',
  'metadata',
  'snapshot',
  'version',
  'created_at',
  'updated_at',
] as const // prettier-ignore

/** A root with levels below it: one third of the tasks is ready for a slot, one third claimable, one third held. */
async function fill(path: string): Promise<void> {
  await (await openLedger(path)).close()
  const db = new Database(path)
  db.pragma('synchronous = off')
  const insert = db.prepare(
    `insert into task (${columns.join(', ')}) values (${columns.map((column) => `@${column}`).join(', ')})`,
  )
  const created = db.prepare(
    `insert into event (type, task_id, at, instance_id, data) values ('task.created', ?, 1, 'bench', '{}')`,
  )
  const add = (id: string, parent: string | null, depth: number, n: number): void => {
    insert.run({
      id,
      name: 'a task of a family',
      description: '',
      status: 'submitted',
      is_group: 0,
      ready: n % 3 === 0 ? 1 : 0,
      claimable: n % 3 === 1 ? 1 : 0,
      held: n % 3 === 2 ? 1 : 0,
      executor: n % 3 === 1 ? null : 'later',
      input: 'null',
      result: 'null',
      priority: 0,
      parent_id: parent,
      depth,
      attempt: 1,
      run: 0,
      run_open: 0,
      open_blockers: 0,
      wakes: 0,
      crashes: 0,
      policy: '{}',
      metadata: '{}',
      snapshot: `{"version":1,"value":"submitted","context":{"taskId":"${id}","name":"a task of a family","attempt":1,"run":0}}`,
      version: 1,
      created_at: 1,
      updated_at: 1,
    })
    created.run(id)
  }
  db.transaction(() => {
    add('task-root', null, 0, 1)
    for (let n = 0; n < levels * perLevel; n++) {
      add(idOf(n), n < perLevel ? 'task-root' : idOf(n - perLevel), Math.floor(n / perLevel) + 1, n)
    }
  })()
  db.pragma('wal_checkpoint(truncate)')
  db.close()
}

/** Scattered over the index, as real ids are. */
const idOf = (n: number): string => `task-${(((n + 1) * 2_654_435_761) % 2 ** 32).toString(36)}`

/** Milliseconds of `engine.cancel`; checks that it makes one commit. */
async function cancelByEngine(path: string): Promise<number> {
  const engine = await createEngine({ ledger: path, work: false })
  const commits = countCommits()
  const started = performance.now()
  await engine.cancel('task-root')
  const elapsed = performance.now() - started
  if (commits.stop() !== 1) throw new Error(`the family was canceled in ${commits.stop()} commits, not in one`)
  const { total } = await engine.list({ status: 'canceled', limit: 0 })
  if (total !== levels * perLevel + 1) throw new Error(`${total} of ${levels * perLevel + 1} tasks were canceled`)
  await engine.close()
  return elapsed
}

/** Counts the commits of all connections of this process from now on. */
function countCommits(): { stop(): number } {
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
  return {
    stop() {
      prototype.run = original
      return commits
    },
  }
}

/** The bare statement, without events and without traversing the tree. */
function cancelBare(path: string): number {
  const db = new Database(path)
  db.pragma('journal_mode = wal')
  db.pragma('synchronous = full')
  db.pragma('foreign_keys = on')
  const update = db.prepare(
    `update task set status = 'canceled', status_reason = null, ready = 0, claimable = 0, not_before = null,
       lease_until = null, completed_at = @at, updated_at = @at, version = version + 1,
       snapshot = replace(snapshot, '"value":"' || status || '"', '"value":"canceled"')
     where status not in ('completed', 'failed', 'canceled')`,
  )
  const started = performance.now()
  const { changes } = update.run({ at: 2 })
  const elapsed = performance.now() - started
  if (changes !== levels * perLevel + 1) throw new Error(`the bare statement changed ${changes} rows`)
  db.close()
  return elapsed
}

export async function cancel(rounds = 3): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'))
  try {
    const full = join(folder, 'full.db')
    await fill(full)
    const times: Array<{ engineMs: number; bareMs: number }> = []
    for (let round = 1; round <= rounds; round++) {
      const [engine, bare] = [join(folder, `engine-${round}.db`), join(folder, `bare-${round}.db`)]
      copyFileSync(full, engine)
      copyFileSync(full, bare)
      times.push({ engineMs: await cancelByEngine(engine), bareMs: cancelBare(bare) })
      for (const path of [engine, bare]) rmSync(path)
    }
    times.sort((a, b) => a.engineMs / a.bareMs - b.engineMs / b.bareMs)
    const { engineMs, bareMs } = times[Math.floor(times.length / 2)] as (typeof times)[number]
    console.log(
      `cancel: a family of ${(levels * perLevel).toLocaleString('en')} tasks, ${levels} levels deep, in one commit: ${engineMs.toFixed(0)} ms, the bare update of the same rows ${bareMs.toFixed(0)} ms: ${(engineMs / bareMs).toFixed(1)} times (aim: under 10)`,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
