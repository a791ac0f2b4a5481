// A ledger whose URL names a server and its standby. The server dies while engines work, and the standby takes over; and engines are upgraded
// one after the other. It takes some time to make the two servers, so this runs with `npm run test:postgres` only.
import { setTimeout as rest } from 'node:timers/promises'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import { copyLedger } from '../../../src/ledger/copy/copy-ledger.ts'
import { createPlace, startEngine } from '../../crash/child.ts'
import { crashExecutors } from '../../crash/executors.ts'
import { violations } from '../../crash/invariants.ts'
import { violationsIn } from '../../ledger/check/violations-in.ts'
import { startPool } from '../../postgres/pool.ts'
import { query, startReplicated, type TestServer } from '../../postgres/server.ts'
import { isFull } from '../full.ts'

const isOffered = isFull && process.env['ERRAND_PG_URL'] === undefined

async function replicated(options: { synchronous: boolean }): Promise<{
  url: string
  primary: TestServer
  standby: TestServer
  /** Ends the first server at once, and makes the standby the primary one. */
  failOver(): Promise<void>
}> {
  const { primary, standby } = (await startReplicated(options)) as { primary: TestServer; standby: TestServer }
  onTestFinished(async () => {
    await Promise.all([primary.stop(), standby.stop()])
  })
  // The standby comes first: it is skipped while it only reads.
  const [first, second] = [standby, primary].map(({ url }) => new URL(url).host)
  return {
    url: `postgres://postgres@${first},${second}/postgres?schema=errand`,
    primary,
    standby,
    async failOver() {
      await primary.stop()
      await query(standby, 'select pg_promote()')
    },
  }
}

/** The standby receives nothing more. */
async function cutOff(primary: TestServer, standby: TestServer): Promise<void> {
  await query(standby, `alter system set primary_conninfo = ''`)
  await query(standby, 'select pg_reload_conf()')
  await expect.poll(() => query(primary, 'select pid from pg_stat_replication'), { interval: 20 }).toEqual([])
}

type Refusal = { code: string; details: object }

/** Whether a creation may be repeated: an engine that misses events has ended. */
function mayRepeat({ code, details }: Refusal): boolean {
  return /^LEDGER_|^OUTCOME_UNKNOWN$/.test(code) && !('lost' in details)
}

const executors = {
  work: async (_task: unknown, run: { call(name: string, fn: () => unknown): Promise<unknown> }) => {
    for (let n = 0; n < 3; n++) await run.call(`call ${n}`, () => n)
  },
}

it.skipIf(!isOffered)(
  'two engines go on when the standby takes over, and nothing that was acknowledged is lost with synchronous replication',
  { timeout: 120_000 },
  async () => {
    const { url, failOver } = await replicated({ synchronous: true })
    const open = async () => (await createEngine({ ledger: url, executors, onError: () => {} })) as unknown as Engine
    const engines = [await open(), await open()] as const
    onTestFinished(async () => {
      await Promise.all(engines.map((engine) => engine.close()))
    })
    const acknowledged: string[] = []
    let isOver = false
    const creating = engines.map(async (engine, at) => {
      for (let n = 0; !isOver || n < 60; n++) {
        const key = `task-${at}-${n}`
        for (;;) {
          // A creation may be refused while no server writes; the key makes its repetition safe.
          const task = await engine.create({ name: key, key, executor: 'work' }).catch((error: Refusal) => {
            if (!mayRepeat(error)) throw error
          })
          if (task === undefined) continue
          acknowledged.push(task.id)
          break
        }
        if (acknowledged.length === 40) void failOver().then(() => (isOver = true))
      }
    })
    await Promise.all(creating)
    const settled = await Promise.all(acknowledged.map((id) => engines[0].settled(id)))
    expect(new Set(settled.map((outcome) => outcome.status))).toEqual(new Set(['completed']))
    expect(await violationsIn(url)).toEqual([])
  },
)

it.skipIf(!isOffered)(
  'engines stop, and name what was lost, when a standby takes over without acknowledged events',
  { timeout: 120_000 },
  async () => {
    const { url, primary, standby, failOver } = await replicated({ synchronous: false })
    const open = async () => {
      const stopped = Promise.withResolvers<{ code: string; details: { lost: Array<{ taskId: string }> } }>()
      const onError = (error: unknown) =>
        'lost' in ((error as { details?: object }).details ?? {}) && stopped.resolve(error as never)
      const engine = await createEngine({ ledger: url, executors, onError })
      onTestFinished(() => engine.close())
      return { engine, stopped: stopped.promise }
    }
    // The second one writes nothing, and follows what the first one writes.
    const [writer, follower] = [await open(), await open()]
    await writer.engine.create({ name: 'kept' })
    await cutOff(primary, standby)
    const followed = Promise.withResolvers<void>()
    follower.engine.subscribe('*', ({ data }) => data['name'] === 'lost' && followed.resolve())
    const { id } = await writer.engine.create({ name: 'lost' })
    await followed.promise
    await failOver()
    for (const { engine, stopped } of [writer, follower]) {
      const error = await stopped
      expect(error).toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
      expect(error.details.lost.map(({ taskId }) => taskId)).toEqual([id])
      await expect(engine.create({ name: 'late' })).rejects.toBe(error)
      await expect(engine.list()).rejects.toBe(error)
    }
  },
)

it.skipIf(!isOffered)(
  'an engine follows a standby that was promoted although the old server still answers on open connections',
  { timeout: 120_000 },
  async () => {
    const { url, primary, standby } = await replicated({ synchronous: false })
    const engine = await createEngine({ ledger: url, work: false, onError: () => {} })
    onTestFinished(() => engine.close())
    await engine.create({ name: 'before' })
    const open = async ({ url: server }: TestServer) => {
      const client = new pg.Client({ connectionString: server })
      await client.connect()
      onTestFinished(() => client.end())
      return async () => (await client.query('select name from errand.task order by seq')).rows.map(({ name }) => name)
    }
    const [onOld, onNew] = [await open(primary), await open(standby)]
    await expect.poll(onNew, { interval: 20 }).toEqual(['before'])
    await query(standby, 'select pg_promote()')
    const admin = { ...primary, url: primary.url.replace(/[^/]*$/, 'template1') }
    await query(admin, 'alter database postgres allow_connections false')
    await query(admin, `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'errand watch'`)
    const watches = `select 1 from pg_stat_activity where application_name = 'errand watch'`
    await expect.poll(() => query(standby, watches), { interval: 20 }).toEqual([expect.anything()])
    await engine.create({ name: 'after' })
    expect(await onNew()).toEqual(['before', 'after'])
    expect(await onOld()).toEqual(['before'])
    const { tasks } = await engine.list()
    expect(tasks.map(({ name }) => name)).toContain('after')
  },
)

it.skipIf(!isOffered)(
  'tasks wait while a pool leads to a standby, and go on when it is promoted',
  { timeout: 120_000 },
  async () => {
    const { url, primary, standby, failOver } = await replicated({ synchronous: true })
    const pool = await startPool(primary.url)
    if (pool === undefined) return
    onTestFinished(() => pool.stop())
    const refused: unknown[] = []
    const goOn = Promise.withResolvers<void>()
    const engine = (await createEngine({
      ledger: pool.urlOf(url),
      executors: {
        waits: async (_task: unknown, run: { call(name: string, fn: () => unknown): Promise<unknown> }) => {
          await goOn.promise
          return await run.call('after', () => 'done')
        },
      },
      onError: (error) => refused.push(error),
    })) as unknown as Engine
    onTestFinished(() => engine.close())
    const tasks = await Promise.all([1, 2, 3].map((n) => engine.create({ name: `task ${n}`, executor: 'waits' })))
    pool.leadTo(standby.url)
    await pool.restart()
    goOn.resolve()
    await expect
      .poll(() => query(standby, `select 1 from pg_stat_activity where application_name = 'errand writer'`), {
        interval: 20,
      })
      .not.toEqual([])
    await failOver()
    const settled = await Promise.all(tasks.map(({ id }) => engine.settled(id)))
    expect(settled.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
  },
)

const definitions = [
  { executor: 'leaf' },
  { executor: 'everyStep' },
  { executor: 'documents', input: { count: 3, atOnce: 2 } },
  { tasks: { first: { executor: 'leaf' }, last: { executor: 'leaf', after: ['first'] } } },
]

/** Creates tasks until it is stopped; a creation may be refused while no server writes, and its key makes its repetition safe. */
function createUntil(stopped: AbortSignal, open: () => Promise<Engine>) {
  const ids: string[] = []
  const done = (async () => {
    let client = await open()
    for (let n = 0; !stopped.aborted; n++) {
      for (;;) {
        const definition = { ...definitions[n % definitions.length], key: `task-${n}`, name: `task ${n}` }
        const task = await client.create(definition as never).catch((error: Refusal) => error)
        if ('id' in task) {
          ids.push(task.id)
          break
        }
        if (!mayRepeat(task)) throw task
        if (task.code === 'LEDGER_VERSION') client = await open().catch(() => client)
        await rest(50)
      }
      await rest(30)
    }
    return await open()
  })()
  return { ids, done }
}

it.skipIf(!isOffered).each([
  { engines: 2, pooled: false },
  { engines: 4, pooled: false },
  { engines: 2, pooled: true },
  { engines: 4, pooled: true },
])(
  '$engines engines settle every task once through a kill, a failover, an additive migration and another one (behind a pool: $pooled)',
  { timeout: 300_000 },
  async ({ engines, pooled }) => {
    const { url: direct, primary, standby, failOver } = await replicated({ synchronous: true })
    const pool = pooled ? await startPool(primary.url) : undefined
    onTestFinished(() => pool?.stop())
    const place = createPlace()
    const ledger = pool?.urlOf(direct) ?? direct
    const start = () =>
      startEngine({ ...place, ledger }, { leave: 'never', maxConcurrent: 8, maxCrashes: 1_000, onInterrupt: 'rerun' })
    const open = async () => {
      const executors = crashExecutors({ effects: place.effects })
      const engine = await createEngine({ ledger, work: false, executors, onError: () => {} })
      onTestFinished(() => engine.close())
      return engine as unknown as Engine
    }
    await (await open()).close()
    const workers = Array.from({ length: engines }, start)
    const stop = new AbortController()
    const { ids, done } = createUntil(stop.signal, open)
    const reached = (count: number) =>
      expect.poll(() => ids.length, { timeout: 60_000, interval: 20 }).toBeGreaterThanOrEqual(count)
    const restart = async (at: number) => {
      await workers[at]?.kill()
      workers[at] = start()
      await workers[at].lineWhere(({ ready }) => ready === true)
    }

    await reached(20)
    await restart(0)
    await reached(40)
    await failOver()
    pool?.leadTo(standby.url)
    await reached(80)
    await query(
      standby,
      `set search_path to errand; alter table task add column hue text not null default 'red'; update ledger_version set version = version + 1`,
    )
    await reached(100)
    for (const at of workers.keys()) await restart(at)
    await reached(120)
    await query(standby, 'update errand.ledger_version set usable_from = version')
    const hasEnded = ({ error }: { error?: unknown }) => /supports versions up to/.test(String(error))
    await Promise.all(workers.map((worker) => worker.lineWhere(hasEnded)))
    // From here on these are the engines of the later version. Those of the earlier one have ended, though their processes have not.
    await query(standby, 'update errand.ledger_version set usable_from = version - 1')
    for (let at = 0; at < engines; at++) workers.push(start())
    await reached(160)
    stop.abort()
    const client = await done
    const settled = await Promise.all(ids.map((id) => client.settled(id)))
    expect(settled.filter(({ status }) => status !== 'completed')).toEqual([])
    for (const worker of workers) await worker.kill()
    await query(
      standby,
      'update errand.ledger_version set version = version - 1; alter table errand.task drop column hue',
    )
    await copyLedger(direct, place.ledger)
    expect([...(await violationsIn(direct)), ...(await violations(place, { gapless: false }))]).toEqual([])
  },
)
