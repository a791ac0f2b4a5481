// Life and time on a PostgreSQL server: which engines count as alive, for how long, and by which clock. How soon others take over is measured in
// takeover.test.ts.
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import type pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import type { Task } from '../../../src/entities/task.ts'
import { delegateLedger } from '../../../src/ledger/delegate-ledger.ts'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { applicationId } from '../../../src/ledger/migrations/migrations.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { ServerHeartbeat } from '../../../src/ledger/postgres/server-heartbeat.ts'
import { parseServerUrl } from '../../../src/ledger/postgres/server-url.ts'
import { SimulatedClock } from '../../../src/testing/simulated-clock.ts'
import { adminOf, openSecond, startLifeProcess } from '../../postgres/life.ts'
import { createLedger, type TestServer, testServer } from '../../postgres/server.ts'
import { isFull } from '../full.ts'

const server = (await testServer()) as TestServer
const leaseMs = 1_500

/** An engine that works in this process. Its run `stay` lasts until the test or the engine ends it. */
async function openWorking(options: Record<string, unknown>) {
  const reported: string[] = []
  const end = Promise.withResolvers<string>()
  const runs: Run[] = []
  const engine = (await createEngine({
    leaseMs,
    onInterrupt: 'rerun',
    onError: (error) => void reported.push(String(error)),
    executors: {
      stay: async (_task: ExecutorTask, run: Run) => {
        runs.push(run)
        return await end.promise
      },
    },
    ...options,
  })) as unknown as Engine
  onTestFinished(async () => {
    end.resolve('at the end')
    await engine.close()
  })
  const start = async () => {
    const task = (await engine.create({ executor: 'stay' } as never)) as unknown as Task
    await expect.poll(() => runs.length).toBe(1)
    return task
  }
  return { engine, reported, end, runs, start }
}

/** How much is left of the lease of the only engine that has not ended, by the clock of the server. */
async function leftOfLease(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query<{ left: number }>(
    `select (lease_until - extract(epoch from clock_timestamp()) * 1000)::float8 as left from instance where ended_at is null`,
  )
  return (rows as [{ left: number }])[0].left
}

/** Resolves when the lease of the only engine that has not ended has been renewed several times. */
async function renewals(admin: pg.Client): Promise<void> {
  const leaseUntil = async () => {
    const { rows } = await admin.query<{ until: string }>(
      'select lease_until as until from instance where ended_at is null',
    )
    return Number((rows as [{ until: string }])[0].until)
  }
  for (let renewed = 0; renewed < 4; renewed++) {
    const before = await leaseUntil()
    await expect.poll(leaseUntil, { interval: 20 }).toBeGreaterThan(before)
  }
}

/** Takes a lock of the ledger that every step waits for. */
async function stopSteps(url: string, lock: 'gate' | 'sequence'): Promise<{ goOn(): Promise<unknown> }> {
  const admin = await adminOf(url)
  await admin.query('begin')
  await admin.query(`select pg_advisory_xact_lock($1, hashtext(current_schema() || $2))`, [applicationId, `/${lock}`])
  return { goOn: () => admin.query('commit') }
}

/** The URL of a ledger for a role that may have so many sessions. */
async function limitedRole(
  url: string,
  admin: pg.Client,
  sessions: number,
): Promise<{ limited: string; role: string }> {
  const role = `limited_${process.pid}_${Math.random().toString(36).slice(2)}`
  await (await openLedger(url)).close()
  await admin.query(`create role ${role} login connection limit ${sessions}`)
  await admin.query(`grant select, insert, update, delete on all tables in schema public to ${role}`)
  await admin.query(`grant usage on all sequences in schema public to ${role}`)
  const limited = new URL(url)
  limited.username = role
  return { limited: limited.href, role }
}

/** No session can begin in the database of a ledger, and those of engines end. */
async function shutOut(url: string): Promise<{ letIn(): Promise<unknown> }> {
  const admin = await adminOf(server.url)
  const name = new URL(url).pathname.slice(1)
  await admin.query(`alter database ${name} allow_connections false`)
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name like 'errand %'`,
    [name],
  )
  return { letIn: () => admin.query(`alter database ${name} allow_connections true`) }
}

describe.skipIf(server === undefined)('the lease of an engine on a PostgreSQL server', () => {
  it.each(['gate', 'sequence'] as const)(
    'is renewed while all steps of the engine wait for the lock of the %s',
    async (lock) => {
      const url = await createLedger(server)
      const { engine, end, start } = await openWorking({ ledger: url })
      const task = await start()
      const admin = await adminOf(url)
      const steps = await stopSteps(url, lock)
      const creating = engine.create({ executor: 'stay' } as never)
      await renewals(admin)
      await steps.goOn()
      await creating
      end.resolve('once')
      expect(await engine.result(task)).toBe('once')
      expect(await engine.runs(task)).toHaveLength(1)
    },
  )

  it('is over while all steps of the engine wait, if a step renews it', async () => {
    const url = await createLedger(server)
    const { keepLease: _, ...ledger } = delegateLedger(await openLedger(url))
    onTestFinished(() => ledger.close())
    const { start } = await openWorking({ ledger })
    await start()
    const steps = await stopSteps(url, 'gate')
    const admin = await adminOf(url)
    await expect.poll(() => leftOfLease(admin)).toBeLessThan(0)
    await steps.goOn()
  })

  // What must happen within the lease is not asked of a machine that is busy with other tests.
  it.runIf(isFull)('is renewed although work keeps the event loop busy for half of it, again and again', async () => {
    const url = await createLedger(server)
    const first = startLifeProcess({ ledger: url, leaseMs, busy: { ms: leaseMs / 2, times: 8 } })
    await first.lineWith('ready')
    const second = await openSecond(url, leaseMs)
    const task = await second.create('busy')
    await first.lineWith('inside')
    await second.engine.work()
    expect(await first.lineWith('over')).toMatchObject({ aborted: false })
    expect(await second.engine.result(task)).toBe('first')
    expect(first.lines.filter((line) => 'error' in line)).toEqual([])
  })

  it.runIf(isFull)('is over if the event loop does not turn, and the engine goes on when it does', async () => {
    const url = await createLedger(server)
    const first = startLifeProcess({ ledger: url, leaseMs, busy: { ms: 4 * leaseMs, times: 1 } })
    await first.lineWith('ready')
    const second = await openSecond(url, leaseMs)
    const task = await second.create('busy')
    await first.lineWith('inside')
    await second.engine.work()
    await second.takenOver(task)
    expect(await second.engine.result(task)).toBe('second')
    expect(await first.lineWith('over')).toMatchObject({ over: task.id })
    const admin = await adminOf(url)
    await expect.poll(() => leftOfOpen(admin, 2)).toBeGreaterThan(0)
  })

  it('is not over if the message that it was renewed waits for the event loop', async () => {
    const url = await createLedger(server)
    await (await openLedger(url)).close()
    const started = once(process, 'worker') as Promise<[Worker]>
    const clock = new SimulatedClock()
    const said: string[] = []
    const host = {
      target: parseServerUrl(url),
      instance: { id: 'i', pid: 1, host: 'h', startedAt: 0, leaseUntil: 0, endedAt: null },
      leaseMs,
      clock,
      // Only the thread renews it.
      watch: { ensure: () => new Promise<never>(() => {}), query: () => Promise.reject(new Error('not connected')) },
      heldSince: () => clock.now(),
    }
    const heartbeat = new ServerHeartbeat(host, {
      lapsed: () => void said.push('lapsed'),
      renewed: () => void said.push('renewed'),
      report() {},
    })
    onTestFinished(() => heartbeat.end())
    await expect.poll(() => heartbeat.isCertain).toBe(true)
    const [worker] = await started
    const [deliver] = worker.listeners('message') as [(message: unknown) => void]
    const renewed = Promise.withResolvers<void>()
    let isAsked = false
    worker.off('message', deliver)
    // Only the questions are delivered, so that the engine does not receive how a heartbeat ended.
    worker.on('message', (message) => {
      if (message !== 'does it turn?') return isAsked ? renewed.resolve() : undefined
      isAsked = true
      deliver(message)
    })
    clock.increment(leaseMs / 3)
    heartbeat.beatNow()
    await renewed.promise
    clock.increment(leaseMs / 2)
    expect(said).toEqual([])
    clock.increment(leaseMs / 2)
    expect(said).toEqual(['lapsed'])
  })

  it('ends with the runs of the engine, before others may begin them, if the server cannot be reached; they run again later', async () => {
    const url = await createLedger(server)
    const { engine, end, runs, start, reported } = await openWorking({ ledger: url })
    const task = await start()
    const admin = await adminOf(url)
    const renewedAt = Date.now() - leaseMs + (await leftOfLease(admin))
    const [run] = runs as [Run]
    const { letIn } = await shutOut(url)
    await once(run.signal, 'abort')
    const tookMs = Date.now() - renewedAt
    expect(tookMs).toBeGreaterThan(leaseMs / 3)
    expect(String(run.signal.reason)).toContain('could not renew its lease')
    await expect.poll(() => reported.join('\n')).toContain('The lease of the engine could not be renewed')
    await letIn()
    await expect.poll(() => runs.length).toBe(2)
    end.resolve('again')
    expect(await engine.result(task)).toBe('again')
    expect(await engine.runs(task)).toMatchObject([{ status: 'closed', outcome: 'released' }, { status: 'closed' }])
  })

  it.each(['before its first heartbeat', 'later'] as const)(
    'is renewed by the event loop if the thread ends %s, which is reported',
    async (when) => {
      const url = await createLedger(server)
      const started = once(process, 'worker') as Promise<[Worker]>
      if (when !== 'later') process.once('worker', (worker) => void (worker as Worker).terminate())
      const { engine, reported, start } = await openWorking({ ledger: url })
      const [worker] = await started
      const task = await start()
      const admin = await adminOf(url)
      if (when === 'later') {
        const beats = `select 1 from pg_stat_activity where datname = current_database() and application_name = 'errand heartbeat'`
        await expect.poll(async () => (await admin.query(beats)).rowCount, { interval: 20 }).toBe(1)
        await worker.terminate()
      }
      await expect.poll(() => reported).toEqual([expect.stringContaining('The thread that renews the lease')])
      await renewals(admin)
      expect(await engine.runs(task)).toMatchObject([{ status: 'live' }])
    },
  )

  it('is renewed by the event loop if the server has no connection left for the thread, which is reported once', async () => {
    const url = await createLedger(server)
    const admin = await adminOf(url)
    const { limited } = await limitedRole(url, admin, 3)
    const { reported, start } = await openWorking({ ledger: limited })
    await start()
    await expect.poll(() => reported.length).toBe(1)
    await renewals(admin)
    expect(reported).toEqual([expect.stringContaining('too many connections')])
  })

  it.runIf(isFull)(
    'proves to others that an engine lives whose session with the server cannot be made again, which is reported once',
    async () => {
      const url = await createLedger(server)
      const admin = await adminOf(url)
      const { limited, role } = await limitedRole(url, admin, 4)
      const { engine, reported, start, end, runs } = await openWorking({ ledger: limited, leaseMs: 30_000 })
      const task = await start()
      const heartbeat = `select 1 from pg_stat_activity where usename = '${role}' and application_name = 'errand heartbeat'`
      await expect.poll(async () => (await admin.query(heartbeat)).rows).toHaveLength(1)
      await admin.query(`alter role ${role} connection limit 3`)
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where usename = $1 and application_name = 'errand watch'`,
        [role],
      )
      const other = await openSecond(url, 30_000)
      await other.engine.work()
      await expect.poll(() => reported).toEqual([expect.stringMatching(/cannot be made again.*too many connections/)])
      end.resolve('done')
      expect(await engine.result(task)).toBe('done')
      expect(runs).toHaveLength(1)
      await admin.query(`alter role ${role} connection limit 4`)
      const held = `select 1 from pg_locks join pg_stat_activity using (pid) where locktype = 'advisory' and usename = '${role}'`
      await expect.poll(async () => (await admin.query(held)).rows).toEqual([expect.anything()])
      expect(reported).toHaveLength(1)
    },
  )

  it('ends with the engine, whose thread ends too, and leaves no row open', async () => {
    const url = await createLedger(server)
    const started = once(process, 'worker') as Promise<[Worker]>
    const { engine, start, end } = await openWorking({ ledger: url })
    const [worker] = await started
    const exited = once(worker, 'exit')
    await start()
    end.resolve('done')
    await engine.close()
    await exited
    const admin = await adminOf(url)
    const { rows } = await admin.query('select ended_at from instance where ended_at is null')
    expect(rows).toEqual([])
    const sessions = `select application_name from pg_stat_activity where datname = current_database() and application_name like 'errand %'`
    await expect.poll(async () => (await admin.query(sessions)).rows).toEqual([])
  })
})

async function leftOfOpen(admin: pg.Client, engines: number): Promise<number> {
  const { rows } = await admin.query<{ left: number }>(
    `select (lease_until - extract(epoch from clock_timestamp()) * 1000)::float8 as left from instance where ended_at is null`,
  )
  return rows.length < engines ? 0 : Math.min(...rows.map(({ left }) => left))
}

describe.skipIf(server === undefined)('the time of a ledger on a PostgreSQL server', () => {
  it.each([-3_600_000, 3_600_000])(
    'is that of the server for events, due times and leases of an engine whose own clock is off by %i ms',
    async (offMs) => {
      const url = await createLedger(server)
      const admin = await adminOf(url)
      const clock = { ...systemClock, now: () => Date.now() + offMs }
      const off = await openWorking({
        ledger: url,
        clock,
        executors: { sleeps: async (_task: ExecutorTask, run: Run) => [await run.now(), await run.sleep(300)] },
      })
      const on = await openWorking({ ledger: url, executors: {} })
      const { createdAt, id } = (await off.engine.create({ executor: 'sleeps' } as never)) as unknown as Task
      const isNow = async (at: number) => {
        const { rows } = await admin.query<{ now: number }>(
          'select extract(epoch from clock_timestamp())::float8 * 1000 as now',
        )
        expect(Math.abs((rows as [{ now: number }])[0].now - at)).toBeLessThan(10_000)
      }
      await isNow(createdAt)
      const [inRun] = (await off.engine.result(id)) as [number]
      await isNow(inRun)
      for await (const { at } of off.engine.events({ follow: false })) await isNow(at)
      const claimed = await claim(off.engine, 60_000)
      await isNow((claimed.leaseUntil as number) - 60_000)
      const late = (await on.engine.create({ name: 'late', deadline: Date.now() + 300 } as never)) as unknown as Task
      expect(await off.engine.settled(late.id)).toMatchObject({ status: 'failed' })
      // Neither engine takes the other for lost, or the claim for lapsed.
      expect(await leftOfOpen(admin, 2)).toBeGreaterThan(0)
      expect((await on.engine.get(claimed.id))?.owner).toBe('ada')
    },
  )

  it('is compared with leases by the server: an instance whose lease is over is silent, whether or not it holds its lock', async () => {
    const url = await createLedger(server)
    const [one, other] = (await Promise.all([openLedger(url), openLedger(url)])) as [Ledger, Ledger]
    onTestFinished(async () => {
      await Promise.all([one.close(), other.close()])
    })
    const now = (one.now as () => number)()
    const row = { pid: process.pid, host: 'elsewhere', startedAt: now, endedAt: null }
    const instances = [
      { ...row, id: 'alive', leaseUntil: now + 60_000 },
      { ...row, id: 'silent', leaseUntil: now - 1_000 },
      { ...row, id: 'without a lock', leaseUntil: now - 1_000 },
    ]
    for (const instance of instances) await one.step({ name: 'insert', decide: (tx) => tx.instance.insert(instance) })
    await one.register('alive')
    await one.register('silent')
    const found = await Promise.all(instances.map(({ id }) => other.isAlive(id)))
    expect(found).toEqual(['alive', 'silent', 'silent'])
  })
})

async function claim(engine: Engine, leaseMs: number): Promise<Task> {
  const task = (await engine.create({ name: 'by hand' } as never)) as unknown as Task
  return (await engine.claim(task.id, { owner: 'ada', leaseMs })) as unknown as Task
}
