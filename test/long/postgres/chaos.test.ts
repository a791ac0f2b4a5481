// Engines in processes of their own work on one ledger on a PostgreSQL server, while they are killed, stopped, and cut off from it at random. At
// the end every task has settled once, no effect has happened twice without its failed call, no limit was exceeded, and no follower has missed an
// event. It takes some time, so this runs with `npm run test:postgres` only. ERRAND_CHAOS_SECONDS sets how long the faults go on (default 60),
// and ERRAND_SEED repeats their choice.
import { setTimeout as rest } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { TaskEvent } from '../../../src/entities/event.ts'
import { copyLedger } from '../../../src/ledger/copy/copy-ledger.ts'
import { createPlace, drawSeed, type Place, randomOf, startEngine } from '../../crash/child.ts'
import { crashExecutors } from '../../crash/executors.ts'
import { violations } from '../../crash/invariants.ts'
import { violationsIn } from '../../ledger/check/violations-in.ts'
import { openNetwork } from '../../postgres/network.ts'
import { createDatabase, startServer, type TestServer, testServer } from '../../postgres/server.ts'
import { isFull } from '../full.ts'

const maxEngines = 4
const network = isFull ? openNetwork(maxEngines) : undefined
const server = (
  isFull ? await (network === undefined ? testServer() : startServer({ network: true })) : undefined
) as TestServer
afterAll(() => network?.close())
const chaosMs = Number(process.env['ERRAND_CHAOS_SECONDS'] ?? 60) * 1_000
const limitOfDocuments = 3
const maxOpenTasks = 200

type Worker = ReturnType<typeof startEngine>

class Chaos {
  readonly place: Place
  readonly url: string
  readonly workers: Worker[] = []
  readonly counts = { kill: 0, stop: 0, 'stop inside a transaction': 0, cut: 0, silence: 0 }
  readonly #admin: pg.Pool
  readonly #random: () => number
  readonly #executeFirst: boolean

  static async open(seed: number, executeFirst: boolean): Promise<Chaos> {
    const url = await createDatabase(server)
    const admin = new pg.Pool({ connectionString: url })
    onTestFinished(() => admin.end())
    return new Chaos(url, admin, randomOf(seed), executeFirst)
  }

  private constructor(url: string, admin: pg.Pool, random: () => number, executeFirst: boolean) {
    this.place = createPlace()
    this.url = url
    this.#admin = admin
    this.#random = random
    this.#executeFirst = executeFirst
  }

  /** With `executeFirst` a worker makes effects before their calls are recorded. */
  start(at: number): void {
    const url = new URL(this.url)
    if (network !== undefined) {
      url.hostname = network.addressOf(at)
      url.searchParams.set('sslmode', 'require')
    }
    this.workers[at] = startEngine(
      { ...this.place, ledger: url.href },
      {
        leave: 'never',
        maxConcurrent: 8,
        maxCrashes: 1_000,
        onInterrupt: 'rerun',
        executeFirst: this.#executeFirst,
      },
      network?.within(at),
    )
  }

  async faultsUntil(end: number): Promise<void> {
    while (Date.now() < end) {
      await rest(100 + this.#random() * 400)
      const names = Object.keys(this.counts) as Array<keyof Chaos['counts']>
      const name = names[Math.floor(this.#random() * names.length)] as keyof Chaos['counts']
      const at = Math.floor(this.#random() * this.workers.length)
      if (await this.#fault(name, at)) this.counts[name]++
    }
  }

  /** A process that cannot open the ledger ends, as it should; that is not what these faults are for. */
  async #areOpen(workers: readonly Worker[]): Promise<void> {
    await Promise.all(workers.map((worker) => worker.lineWhere(({ ready }) => ready === true)))
  }

  /** False if there was nothing to do it to. */
  async #fault(name: keyof Chaos['counts'], at: number): Promise<boolean> {
    const worker = this.workers[at] as Worker
    if (name === 'kill') {
      await worker.kill()
      this.start(at)
      return true
    }
    await this.#areOpen(name === 'cut' ? this.workers : [worker])
    if (name === 'cut') {
      const { rowCount } = await this.#admin.query(
        `select pg_terminate_backend(pid) from (select pid from pg_stat_activity
          where datname = current_database() and application_name like 'errand %' order by random() limit 2) as chosen`,
      )
      return (rowCount ?? 0) > 0
    }
    if (name === 'silence') return this.#silence(at)
    if (name === 'stop') return this.#stop(worker)
    for (let look = 0; look < 200; look++) {
      worker.signal('SIGSTOP')
      const { rows } = await this.#admin.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
      )
      if ((rows[0] as { count: number }).count > 0) return this.#stop(worker)
      worker.signal('SIGCONT')
      await rest(2)
    }
    return false
  }

  async #stop(worker: Worker): Promise<true> {
    worker.signal('SIGSTOP')
    await rest(200 + this.#random() * 4_000)
    worker.signal('SIGCONT')
    return true
  }

  /** Its packets are dropped, in both directions, for less and for more time than either side waits for an answer. */
  async #silence(at: number): Promise<boolean> {
    if (network === undefined) return false
    network.cut(at)
    await rest(200 + this.#random() ** 2 * 15_000)
    network.mend(at)
    return true
  }

  /** Samples how many runs of the executor with a limit are open, until it is stopped. */
  async sampleLimit(signal: AbortSignal): Promise<{ samples: number; over: number }> {
    const found = { samples: 0, over: 0 }
    while (!signal.aborted) {
      const { rows } = await this.#admin.query<{ open: number }>(
        `select count(*)::int as open from run join task on task.id = run.task_id where run.status <> 'closed' and executor = 'documents'`,
      )
      found.samples++
      if ((rows[0] as { open: number }).open > limitOfDocuments) found.over++
      await rest(5)
    }
    return found
  }

  async openTasks(): Promise<number> {
    const { rows } = await this.#admin.query<{ open: number }>(
      'select count(*)::int as open from task where completed_at is null',
    )
    return (rows[0] as { open: number }).open
  }

  async storedEvents(): Promise<number[]> {
    const { rows } = await this.#admin.query<{ seq: string }>('select seq from event order by seq')
    return rows.map(({ seq }) => Number(seq))
  }
}

const definitions = [
  { executor: 'leaf' },
  { executor: 'everyStep' },
  { executor: 'documents', input: { count: 4, atOnce: 2 } },
  {
    tasks: {
      first: { executor: 'leaf' },
      second: { executor: 'leaf', after: ['first'] },
      third: { executor: 'documents', input: { count: 2, atOnce: 1 }, after: ['first'] },
      last: { executor: 'leaf', after: ['second', 'third'] },
    },
  },
]

/** Lets engines work under faults; what is wrong in the end. */
async function complaintsUnderFaults(
  engines: number,
  { forMs = chaosMs, executeFirst = false }: { forMs?: number; executeFirst?: boolean } = {},
): Promise<string[]> {
  const chaos = await Chaos.open(drawSeed(`chaos with ${engines} engines`), executeFirst)
  const client = await createEngine({
    ledger: chaos.url,
    work: false,
    executors: crashExecutors({ effects: chaos.place.effects }),
    onError: () => {},
  })
  onTestFinished(() => client.close())
  await client.setSharedLimits({ limits: { documents: limitOfDocuments } })
  for (let at = 0; at < engines; at++) chaos.start(at)
  const end = Date.now() + forMs

  const followed: TaskEvent[] = []
  const ended = new AbortController()
  const following = (async () => {
    for await (const event of client.events({ after: 0, signal: ended.signal } as never)) followed.push(event)
  })().catch(() => {})
  const sampling = chaos.sampleLimit(ended.signal)
  sampling.catch(() => {})

  const created: string[] = []
  const creating = (async () => {
    for (let n = 0; Date.now() < end; n++) {
      const definition = { ...definitions[n % definitions.length], key: `task-${n}`, name: `task ${n}` }
      // A creation may be refused while its connection is cut; the key makes its repetition safe.
      for (;;) {
        const task = await client.create(definition as never).catch(async (error: { code: string }) => {
          if (!error.code.startsWith('LEDGER_')) throw error
          await rest(50)
        })
        if (task === undefined) continue
        created.push((task as { id: string }).id)
        break
      }
      await rest(60)
      // Else a slow machine is left with more than it can do after the faults.
      while (n % 10 === 0 && Date.now() < end && (await chaos.openTasks()) > maxOpenTasks) await rest(100)
    }
  })()
  await Promise.all([creating, chaos.faultsUntil(end)])
  const settled = await Promise.all(created.map((id) => client.settled(id)))
  for (const worker of chaos.workers) await worker.kill()
  await expect.poll(() => followed.length, { interval: 50 }).toBeGreaterThanOrEqual((await chaos.storedEvents()).length)
  ended.abort()
  const { samples, over } = await sampling
  await following
  console.log(
    `${engines} engines: ${created.length} tasks, ${followed.length} events, ${samples} samples, faults ${JSON.stringify(chaos.counts)}`,
  )
  const stored = await chaos.storedEvents()
  const isSame = followed.length === stored.length && followed.every(({ seq }, at) => seq === stored[at])
  await copyLedger(chaos.url, chaos.place.ledger)
  return [
    ...settled.filter(({ status }) => status !== 'completed').map((outcome) => `a task: ${JSON.stringify(outcome)}`),
    ...(isSame ? [] : [`a follower has seen ${followed.length} events of ${stored.length}, or in another order`]),
    ...(over === 0 ? [] : [`${over} samples are over the limit`]),
    ...(await violationsIn(chaos.url)),
    ...(await violations(chaos.place, { gapless: false })),
  ]
}

describe.skipIf(server === undefined)('engines in processes of their own on one PostgreSQL server', () => {
  it.each([2, maxEngines])(
    '%i engines that are killed, stopped and cut off settle every task once',
    { timeout: chaosMs + 300_000 },
    async (engines) => {
      expect(await complaintsUnderFaults(engines)).toEqual([])
    },
  )

  it('the checks find engines that make effects before they record them', { timeout: 300_000 }, async () => {
    const complaints = await complaintsUnderFaults(2, { forMs: 30_000, executeFirst: true })
    expect(complaints.join('\n')).toMatch(/without a record|effects/)
  })
})
