// A ledger whose URL names a server and its standby. The server dies while engines work, and the standby takes over. It takes some time to make
// the two, so this runs with ERRAND_CHAOS_SECONDS, as `npm run test:postgres` does.
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/create-engine.ts'
import type { Engine } from '../../src/engine-api.ts'
import { violationsIn } from '../ledger/check/violations-in.ts'
import { startReplicated, type TestServer } from './server.ts'

const isOffered = process.env['ERRAND_CHAOS_SECONDS'] !== undefined && process.env['ERRAND_PG_URL'] === undefined

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

async function query(server: TestServer, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}

/** The standby receives nothing more. */
async function cutOff(primary: TestServer, standby: TestServer): Promise<void> {
  await query(standby, `alter system set primary_conninfo = ''`)
  await query(standby, 'select pg_reload_conf()')
  await expect.poll(() => query(primary, 'select pid from pg_stat_replication'), { interval: 20 }).toEqual([])
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
          const task = await engine.create({ name: key, key, executor: 'work' }).catch((error: { code: string }) => {
            if (!/^LEDGER_|^OUTCOME_UNKNOWN$/.test(error.code)) throw error
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
      await expect(engine.create({ name: 'late' })).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
    }
  },
)
