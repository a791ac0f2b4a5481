// Several engines' ledgers on one PostgreSQL server write beside each other: nothing is lost, missed, or reported wrongly. For each check, a fault
// in the statements that the server receives shows that it finds one.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { numberRemaining } from '../../../src/board/numbering.ts'
import { readInbox } from '../../../src/board/team/mail.ts'
import { steadyClock } from '../../../src/core/clock.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { TaskRecord } from '../../../src/entities/task.ts'
import type { Ledger, Step } from '../../../src/ledger/ledger.ts'
import { ServerConnection } from '../../../src/ledger/postgres/server-connection.ts'
import { currentTimeline } from '../../../src/ledger/postgres/server-history.ts'
import { openServerLedger } from '../../../src/ledger/postgres/server-ledger.ts'
import { openTeam } from '../../../src/memory/team/team.ts'
import { claim } from '../../../src/operations/steps/claim.ts'
import { fireTimers } from '../../../src/operations/steps/timers.ts'
import { openLedger, SimulatedClock } from '../../../src/testing/index.ts'
import { refusalOf } from '../../engine/world.ts'
import { callRow, eventRow, mailRow, taskRow } from '../../ledger/factories.ts'
import { whole } from '../../operations/steps/whole-row.ts'
import { createLedger, query, type TestServer, testServer } from '../../postgres/server.ts'
import { isFull } from '../full.ts'

const server = (await testServer()) as TestServer

async function openSeveral(count: number): Promise<{ url: string; ledgers: Ledger[]; close: () => Promise<unknown> }> {
  const url = await createLedger(server)
  const ledgers: Ledger[] = []
  for (let n = 0; n < count; n++) ledgers.push(await openLedger(url))
  return { url, ledgers, close: () => Promise.all(ledgers.map((ledger) => ledger.close())) }
}

/** The process ids of the connections of ledgers in a database. */
async function sessionsOf(url: string, ...titles: readonly string[]): Promise<number[]> {
  const found = await query(
    { url },
    `select pid from pg_stat_activity where datname = current_database()
      and application_name in (${titles.map((title) => `'errand ${title}'`).join()})`,
  )
  return (found as Array<{ pid: number }>).map(({ pid }) => pid)
}

type CutAt = 'before it is sent' | 'before it is answered'

interface Relay {
  readonly url: string
  /** The number of commits at which a connection was cut. */
  readonly cuts: number
  /** Cuts the connection of the next commit. */
  cutAtCommit(at: CutAt): void
  /** Connections that are open are neither forwarded any more nor closed. */
  silence(): void
  /** Closes all connections; new ones are accepted, and nothing of them is forwarded. */
  vanish(): void
  /** The next connection that sends this text is neither forwarded from then on nor closed. */
  silenceAt(text: string): void
  /** Closes all connections, and new ones at once, as long as it is refused. */
  refuse(isRefused: boolean): void
  /** The number of new connections that were closed at once. */
  readonly refusals: number
  close(): void
}

/** Forwards connections to the server. */
async function openRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let cutAt: CutAt | undefined
  let cuts = 0
  let silentAt: string | undefined
  let hasVanished = false
  let isRefused = false
  let refusals = 0
  const relay = createServer((client) => {
    if (isRefused) {
      refusals++
      client.on('error', () => {})
      client.destroy()
      return
    }
    if (hasVanished) {
      sockets.add(client)
      client.on('error', () => {})
      return
    }
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('data', (chunk) => {
      if (silentAt !== undefined && chunk.includes(silentAt)) {
        silentAt = undefined
        return client.pause()
      }
      if (cutAt === undefined || !chunk.includes('commit\0')) return upstream.write(chunk)
      cuts++
      const isSent = cutAt === 'before it is answered'
      cutAt = undefined
      // The server gets the whole flight, and then the end of the connection.
      if (isSent) upstream.write(chunk)
      upstream.end()
      client.destroy()
      return false
    })
    upstream.on('data', (chunk) => client.writable && client.write(chunk))
    client.on('close', () => upstream.end())
    upstream.on('close', () => client.destroy())
  }).listen(0, '127.0.0.1')
  await once(relay, 'listening')
  const url = new URL(target)
  url.port = String((relay.address() as AddressInfo).port)
  return {
    url: url.href,
    get cuts() {
      return cuts
    },
    cutAtCommit(at) {
      cutAt = at
    },
    silence() {
      for (const socket of sockets) socket.pause()
    },
    vanish() {
      hasVanished = true
      for (const socket of sockets) socket.destroy()
    },
    silenceAt(text) {
      silentAt = text
    },
    refuse(isFromNow) {
      isRefused = isFromNow
      if (isRefused) for (const socket of sockets) socket.destroy()
    },
    get refusals() {
      return refusals
    },
    close() {
      relay.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

type Change = (sql: string, parameters: readonly unknown[] | undefined, sender: ServerConnection) => string

/**
 * Changes what all connections of this process send, until the test ends. `look`: receives the statements and their rows; `failed`: what the
 * server refuses.
 */
function changeStatements(
  change: Change,
  look: (sql: string, rows: readonly unknown[]) => unknown = () => {},
  failed: (error: { code?: string }) => unknown = () => {},
): void {
  const send = ServerConnection.prototype.query
  const spy = vi.spyOn(ServerConnection.prototype, 'query').mockImplementation(function (
    this: ServerConnection,
    sql,
    parameters,
  ) {
    const reply = send.call(this, change(sql, parameters, this), parameters)
    reply.then(
      ({ rows }) => look(sql, rows),
      (error: { code?: string }) => failed(error),
    )
    return reply
  })
  onTestFinished(() => spy.mockRestore())
}

/** Inserts a task and appends its event, as a step beside others does. */
const add = (id: string): Step<void> => ({
  name: 'add',
  *decide(tx) {
    yield* tx.task.insert(taskRow({ id }))
    yield* tx.event.append(eventRow({ taskId: id }))
  },
})

/** Reads a task, and writes what depends on what was read. */
const raise = (id: string): Step<number> => ({
  name: 'raise',
  *decide(tx) {
    const task = (yield* tx.task.get(id)) as TaskRecord
    yield* tx.task.save({ ...task, attempt: task.attempt + 1 })
    yield* tx.event.append(eventRow({ taskId: id }))
    return task.attempt + 1
  },
})

describe.skipIf(server === undefined)('ledgers on one PostgreSQL server', () => {
  // Between the numbering of an event and its commit, so that writers overtake each other if they can.
  const slowedBy = (seconds: number) => (sql: string) =>
    sql.replace('returning seq', `returning seq, pg_sleep(random() * ${seconds})`)
  const slowed = slowedBy(0.01)
  const unordered = (sql: string) =>
    sql.replace('select pg_advisory_xact_lock($2::int4, $3::int4)', 'select $2::int4, $3::int4')

  it('a follower misses no event of four writers', { timeout: 600_000 }, async () => {
    // The delays add up, because one writer at a time is in this statement.
    changeStatements(isFull ? slowedBy(0.001) : slowed)
    const { seen, written } = await (isFull ? followed(25_000, 50) : followed(120, 3))
    expect(seen).toBe(written)
  })

  it('a follower misses events if the lock of their sequence is not taken', async () => {
    changeStatements((sql) => slowed(unordered(sql)))
    const { seen, written } = await followed(120, 3)
    expect(seen).toBeLessThan(written)
  })

  /** Events that four writers append and a fifth ledger reads meanwhile. */
  async function followed(perWriter: number, atOnce: number): Promise<{ seen: number; written: number }> {
    const { ledgers, close } = await openSeveral(5)
    const [follower, ...writers] = ledgers as [Ledger, ...Ledger[]]
    let isWritten = false
    const writing = Promise.all(
      writers.map(async (ledger, writer) => {
        for (let n = 0; n < perWriter; n += atOnce) {
          const ids = Array.from({ length: atOnce }, (_, each) => `task-${writer}-${n + each}`)
          await Promise.all(ids.map((id) => ledger.step(add(id))))
        }
      }),
    ).then(() => {
      isWritten = true
    })
    const seen = new Set<string>()
    for (let cursor = 0, isLast = false; ; ) {
      const page = await follower.read((tx) => tx.event.after(cursor, 500))
      for (const { taskId } of page) seen.add(taskId)
      cursor = page.at(-1)?.seq ?? cursor
      if (page.length > 0) continue
      if (isLast) break
      isLast = isWritten
    }
    await writing
    await close()
    return { seen: seen.size, written: writers.length * perWriter }
  }

  it('a limit that engines share is never exceeded', async () => {
    expect(await maxOpenRuns(() => false)).toBeLessThanOrEqual(2)
  })

  it('a limit that engines share is exceeded if the lock of the limits is not taken', async () => {
    const isUnlocked = (sql: string, lock: unknown, limits: number) =>
      lock === limits && sql.startsWith('select pg_advisory_xact_lock(')
    expect(await maxOpenRuns(isUnlocked)).toBeGreaterThan(2)
  })

  /** The most open runs that an admission counts of an executor for which four engines share a limit of two. */
  async function maxOpenRuns(isUnlocked: (sql: string, lock: unknown, limits: number) => boolean): Promise<number> {
    const url = await createLedger(server)
    const key = await keyOf('limits')
    let most = 0
    changeStatements(
      (sql, parameters) => (isUnlocked(sql, parameters?.[1], key) ? 'select $1::int4, $2::int4' : slowed(sql)),
      (sql, found) => {
        if (!sql.includes('as "counted" from "run"')) return
        for (const { counted } of found as Array<{ counted: number }>) most = Math.max(most, Number(counted))
      },
    )
    const open = () => createEngine({ ledger: url, executors: { brief: async () => 1 }, maxConcurrent: 8 })
    const engines: Array<Awaited<ReturnType<typeof open>>> = []
    for (let n = 0; n < 4; n++) engines.push(await open())
    const engineOf = (n: number) => engines[n % engines.length] as (typeof engines)[0]
    await engineOf(0).setSharedLimits({ limits: { brief: 2 } })
    const tasks = await Promise.all(Array.from({ length: 60 }, (_, n) => engineOf(n).create({ executor: 'brief' })))
    await Promise.all(tasks.map((task) => engineOf(0).settled(task)))
    for (const engine of engines) await engine.close()
    return most
  }

  /** The statement that takes a lock of the whole ledger, by its name. */
  const withoutLock = (key: number) => (sql: string, parameters: readonly unknown[] | undefined) =>
    sql.startsWith('select pg_advisory_xact_lock') && parameters?.[1] === key
      ? 'select $1::int4, $2::int4'
      : slowed(sql)

  it('a board passes over no task that another engine creates while it is numbered', async () => {
    changeStatements(slowed)
    expect(await passedOver()).toEqual([])
  })

  it('a board passes over tasks if the lock of their numbers is not taken', async () => {
    changeStatements(withoutLock(await keyOf('numbers')))
    // It takes two commits in an order that chance decides.
    let missed: string[] = []
    for (let attempt = 0; attempt < 20 && missed.length === 0; attempt++) missed = await passedOver()
    expect(missed).not.toEqual([])
  })

  const keyOf = async (lock: string): Promise<number> => {
    const [{ key }] = (await query(server, `select hashtext(current_schema() || '/${lock}') as key`)) as [
      { key: number },
    ]
    return key
  }

  /** Tasks without a number after three engines have created them, and one has numbered them meanwhile. */
  async function passedOver(): Promise<string[]> {
    const { ledgers, close } = await openSeveral(4)
    const [numbering, ...creating] = ledgers as [Ledger, ...Ledger[]]
    const number: Step<void> = { name: 'number', decide: (tx) => numberRemaining(tx, 'main', 1) }
    let isCreated = false
    const ids: string[] = []
    const creation = Promise.all(
      creating.map(async (ledger, at) => {
        for (let n = 0; n < 40; n++) {
          ids.push(`task-${at}-${n}`)
          await ledger.step(add(ids.at(-1) as string))
        }
      }),
    ).then(() => {
      isCreated = true
    })
    while (!isCreated) await numbering.step(number)
    await creation
    await numbering.step(number)
    const found = await numbering.read((tx) => tx.board.page('main', 0, 1_000))
    const numbers = found.map(({ entry }) => entry.number)
    expect(numbers).toEqual(numbers.map((_, at) => at + 1))
    await close()
    const numbered = new Set(found.map(({ task }) => task.id))
    return ids.filter((id) => !numbered.has(id))
  }

  const unlocked = (sql: string) => sql.replace(/ for no key update( nowait)?$/, '')

  it('each task is claimed once, the best first, and no claim finds nothing while one is left', async () => {
    changeStatements(slowed)
    const { claimed, expected } = await claimedByFour()
    expect(claimed).toEqual(expected)
  })

  it('tasks are claimed twice if their rows are not locked', async () => {
    const key = await keyOf('claims')
    changeStatements((sql, parameters) => unlocked(withoutLock(key)(sql, parameters)))
    const { claimed, expected } = await claimedByFour()
    expect(claimed.length).toBeGreaterThan(expected.length)
  })

  /** The claims of four engines, in the order of their commits, until each finds nothing; and the tasks, the best first. */
  async function claimedByFour(): Promise<{ claimed: string[]; expected: string[] }> {
    const { ledgers, close } = await openSeveral(4)
    const expected = Array.from({ length: 40 }, (_, n) => `task-${String(n).padStart(2, '0')}`)
    const first = ledgers[0] as Ledger
    for (const id of expected) await first.step({ name: 'free', decide: (tx) => tx.task.insert(whole({ id })) })
    await Promise.all(
      ledgers.map(async (ledger, at) => {
        for (;;) {
          const ctx = { at: 1_000, instanceId: 'engine-1' }
          const order = { ...ctx, taskId: null, owner: `owner-${at}`, leaseMs: undefined, source: 'test' }
          if ((await ledger.step(claim(order))) === null) return
        }
      }),
    )
    const events = await first.read((tx) => tx.event.after(0, 1_000))
    const claimed = events.filter(({ type }) => type === 'task.claimed').map(({ taskId }) => taskId)
    await close()
    return { claimed, expected }
  }

  // Between the read of a list and the locks of its rows, so that another engine changes them if it can.
  const lingering = (sql: string) =>
    slowed(sql).replace(
      / from "(?:task|call)" where "(?:due_at|not_before|lease_until)"/,
      ', pg_sleep(random() * 0.02)$&',
    )

  it('each timer fires once, though several engines find it', async () => {
    changeStatements(lingering)
    expect(await firedByThree()).toEqual({ fired: 60, released: 30 })
  })

  it('timers fire more than once if the rows of tasks are not locked', async () => {
    changeStatements((sql) => unlocked(lingering(sql)))
    const { fired, released } = await firedByThree()
    expect(fired + released).toBeGreaterThan(90)
  })

  /** Events of the timers of thirty tasks that rest, thirty that sleep and thirty whose leases have ended. */
  async function firedByThree(): Promise<{ fired: number; released: number }> {
    const { ledgers, close } = await openSeveral(3)
    const first = ledgers[0] as Ledger
    for (let n = 0; n < 30; n++) {
      await first.step({
        name: 'due',
        *decide(tx) {
          const claimed = { status: 'working', owner: 'ada', fence: 1, leaseMs: 5 } as const
          yield* tx.task.insert(whole({ id: `resting-${n}`, notBefore: 5 }))
          yield* tx.task.insert(whole({ id: `leased-${n}`, ...claimed, leaseUntil: 5 }))
          yield* tx.task.insert(whole({ id: `sleeping-${n}`, executor: 'x', status: 'waiting' }))
          const sleep = { kind: 'sleep', status: 'pending', dueAt: 5 } as const
          yield* tx.call.insert(callRow({ id: `call-${n}`, taskId: `sleeping-${n}`, ...sleep }))
        },
      })
      const ctx = {
        at: 10,
        instanceId: 'engine-1',
        chance: 0,
        executors: [],
        timeoutOf: () => undefined,
        retryOf: () => ({}) as never,
      }
      const fire = async (ledger: Ledger) => {
        while ((await ledger.step(fireTimers(ctx))) > 0);
      }
      await Promise.all(ledgers.map(fire))
    }
    const events = await first.read((tx) => tx.event.after(0, 1_000))
    await close()
    const count = (type: string) => events.filter((event) => event.type === type).length
    return { fired: count('timer.fired'), released: count('task.released') }
  }

  const withoutKeys = (sql: string) =>
    sql
      .replace('select pg_advisory_xact_lock($1::int4, h)', 'select $1::int4')
      .replace('pg_try_advisory_xact_lock($1::int4, h)', '$1::int4 is not null')

  // Between the search for a name, or mail, and what is written, so that another engine does the same if it can.
  const atLeisure = (sql: string) =>
    sql
      .replace(/^insert into "branch" .* returning "seq"/, '$&, pg_sleep(0.01)')
      .replace(/ from "mail" where "board"/, ', pg_sleep(random() * 0.01)$&')

  it('teams of tasks with one name have branches of different names, and no engine is refused one', async () => {
    const { names, refusals } = await namedByFour(atLeisure)
    expect(names).toEqual(expectedNames)
    expect(refusals).toBe(0)
  })

  it('an engine is refused a name if names are not locked, and takes another one', async () => {
    const { names, refusals } = await namedByFour((sql) => withoutKeys(atLeisure(sql)))
    expect(new Set(names).size).toBe(names.length)
    expect(refusals).toBeGreaterThan(0)
  })

  const rounds = Array.from({ length: 5 }, (_, n) => `round ${n}`)
  const numbered = ['', '-2', '-3', '-4', '-5', '-6', '-7', '-8']
  const expectedNames = rounds.flatMap((round) => numbered.map((ending) => `task/${round.replace(' ', '-')}${ending}`))

  /** The branches of tasks of which four engines create two at once, with one name in each round. */
  async function namedByFour(change: Change): Promise<{ names: string[]; refusals: number }> {
    const { ledgers, close } = await openSeveral(4)
    let refusals = 0
    const isViolation = ({ code }: { code?: string }) => void (code === '23505' && refusals++)
    changeStatements(change, () => {}, isViolation)
    const spec = { type: null, objectives: [], parentBranch: null, durableThreshold: null, durableCategories: null }
    const form = (ledger: Ledger, id: string, name: string) =>
      ledger.step({
        name: 'form a team',
        *decide(tx) {
          yield* tx.task.insert(taskRow({ id, name }))
          yield* openTeam(tx, taskRow({ id, name }), spec, { at: 1, instanceId: 'engine-1' })
        },
      })
    for (const name of rounds) {
      await Promise.all(
        ledgers.flatMap((ledger, at) => ['a', 'b'].map((each) => form(ledger, `${name}-${at}-${each}`, name))),
      )
    }
    const found = await (ledgers[0] as Ledger).read((tx) => tx.branch.list({ parent: 'main' }, 99, 0))
    await close()
    return { names: found.map(({ name }) => name).sort(), refusals }
  }

  it('each mail is taken once, by one of several readers of an inbox', async () => {
    changeStatements(atLeisure)
    const { taken, sent } = await takenByThree()
    expect(taken.sort()).toEqual(sent)
  })

  it('mail is taken more than once if the inbox is not locked', async () => {
    changeStatements((sql) => withoutKeys(atLeisure(sql)))
    const { taken, sent } = await takenByThree()
    expect(taken.length).toBeGreaterThan(sent.length)
  })

  /** Mail that three engines take out of one inbox until they find none. */
  async function takenByThree(): Promise<{ taken: string[]; sent: string[] }> {
    const { ledgers, close } = await openSeveral(3)
    const sent = Array.from({ length: 40 }, (_, n) => `mail-${String(n).padStart(2, '0')}`)
    for (const id of sent) {
      await (ledgers[0] as Ledger).step({ name: 'send', decide: (tx) => tx.mail.insert(mailRow(id)) })
    }
    const taken: string[] = []
    await Promise.all(
      ledgers.map(async (ledger) => {
        const host = { stepContext: async () => ({ at: 1 }), step: (step: Step) => ledger.step(step) } as never
        for (;;) {
          const { mail } = await readInbox(host, 'main', 'bob', { limit: 3, keep: false })
          if (mail.length === 0) return
          taken.push(...mail.map(({ id }) => id))
        }
      }),
    )
    await close()
    return { taken, sent }
  }

  it('each step is judged on the writes of all steps before it, of its own group and of other processes', async () => {
    const { ledgers, close } = await openSeveral(4)
    await (ledgers[0] as Ledger).step(add('a'))
    await (ledgers[0] as Ledger).step(add('b'))
    const raised = await Promise.all(
      ledgers.flatMap((ledger) => Array.from({ length: 40 }, (_, n) => ledger.step(raise(n % 2 === 0 ? 'a' : 'b')))),
    )
    const before = taskRow({ id: 'a' }).attempt
    const expected = Array.from({ length: 80 }, (_, n) => before + 1 + n).flatMap((each) => [each, each])
    expect(raised.sort((a, b) => a - b)).toEqual(expected)
    await close()
  })

  it('steps that lock the same rows in another order all succeed', async () => {
    const { ledgers, close } = await openSeveral(3)
    const ids = ['a', 'b', 'c', 'd']
    for (const id of ids) await (ledgers[0] as Ledger).step(add(id))
    const inOrder = (order: readonly string[]): Step<void> => ({
      name: 'raise several',
      *decide(tx) {
        for (const id of order) {
          const task = (yield* tx.task.get(id)) as TaskRecord
          yield* tx.task.save({ ...task, attempt: task.attempt + 1 })
        }
      },
    })
    const orders = [ids, ids.toReversed(), ['c', 'a', 'd', 'b']]
    await Promise.all(
      ledgers.map(async (ledger, at) => {
        for (let n = 0; n < 15; n++) await ledger.step(inOrder(orders[at] as string[]))
      }),
    )
    const tasks = await (ledgers[0] as Ledger).read((tx) => tx.task.list({}, 9))
    expect(new Set(tasks.map(({ attempt }) => attempt))).toEqual(new Set([taskRow({ id: 'a' }).attempt + 45]))
    await close()
  })

  it('steps that look for the same keys in another order all succeed', async () => {
    const { ledgers, close } = await openSeveral(3)
    const createAll = (ledger: Ledger, n: number, order: readonly string[]) =>
      ledger.step({
        name: 'create all',
        *decide(tx) {
          for (const key of order) {
            if ((yield* tx.task.getByKey(key)) === undefined) yield* tx.task.insert(taskRow({ id: `${key}-${n}`, key }))
          }
        },
      })
    const keys = (n: number) => ['a', 'b', 'c'].map((key) => `${key}-${n}`)
    for (let n = 0; n < 10; n++) {
      const order = keys(n)
      const orders = [order, order.toReversed(), [...order.slice(1), ...order.slice(0, 1)]]
      await Promise.all(ledgers.map((ledger, at) => createAll(ledger, at, orders[at] as string[])))
    }
    const tasks = await (ledgers[0] as Ledger).read((tx) => tx.task.list({}, 99))
    const found = new Set(tasks.map(({ key }) => key))
    expect([tasks.length, found]).toEqual([30, new Set(Array.from({ length: 10 }, (_, n) => keys(n)).flat())])
    await close()
  })

  it('the outcome of a step is reported as it is in the ledger when connections are cut around its commit', async () => {
    const times = isFull ? 200 : 20
    const { wrong, steps, cuts } = await cutAroundCommits(times)
    expect({ wrong, steps, cuts }).toEqual({ wrong: [], steps: 3 * times, cuts: times })
  })

  it('the outcome of a step is reported wrongly if the server is not asked what became of a commit', async () => {
    changeStatements((sql) => sql.replace('pg_xact_status($1::xid8)', `coalesce('aborted', pg_xact_status($1::xid8))`))
    const { wrong } = await cutAroundCommits(12)
    expect(wrong.length).toBeGreaterThan(0)
  })

  async function cutAroundCommits(times: number): Promise<{ wrong: string[]; steps: number; cuts: number }> {
    const relay = await openRelay(await createLedger(server))
    const ledger = await openLedger(relay.url)
    const stored = new Map<string, boolean>()
    for (let n = 0; n < times; n++) {
      relay.cutAtCommit(n % 2 === 0 ? 'before it is sent' : 'before it is answered')
      const steps = [0, 1, 2].map((each) => {
        const id = `task-${n}-${each}`
        return ledger.step(add(id)).then(
          () => stored.set(id, true),
          (error: { code: string }) => {
            expect(error.code).not.toBe('OUTCOME_UNKNOWN')
            stored.set(id, false)
          },
        )
      })
      await Promise.all(steps)
    }
    const found = new Set((await ledger.read((tx) => tx.task.list({}, stored.size))).map(({ id }) => id))
    await ledger.close()
    relay.close()
    const wrong = [...stored].filter(([id, isStored]) => found.has(id) !== isStored).map(([id]) => id)
    return { wrong, steps: stored.size, cuts: relay.cuts }
  }

  it.runIf(isFull).concurrent('a connection on which the server is silent is given up and made anew', async () => {
    const relay = await openRelay(await createLedger(server))
    const ledger = await openLedger(relay.url)
    await ledger.step(add('before'))
    relay.silence()
    await ledger.step(add('after'))
    expect((await ledger.read((tx) => tx.task.list({}, 9))).map(({ id }) => id).sort()).toEqual(['after', 'before'])
    await ledger.close()
    relay.close()
  })

  it.runIf(isFull).concurrent.each([
    // The connection of the watch sends it before it is used.
    { connection: 'a new connection', text: 'pg_is_in_recovery' },
    { connection: 'the connection of the writer alone', text: 'begin isolation level read committed' },
  ])('$connection on which the server is silent is given up and made anew', async ({ text }) => {
    const relay = await openRelay(await createLedger(server))
    const ledger = await openLedger(relay.url)
    relay.silenceAt(text)
    relay.refuse(true)
    relay.refuse(false)
    const added = () =>
      ledger.step(add('after')).then(
        () => true,
        () => false,
      )
    await expect.poll(added, { timeout: 20_000 }).toBe(true)
    await ledger.close()
    relay.close()
  })

  it.runIf(isFull).concurrent(
    'the watch uses the last host of the URL when the others accept connections and say nothing',
    async () => {
      const direct = await createLedger(server)
      const relays = [await openRelay(direct), await openRelay(direct)]
      const [last, ...others] = [direct, ...relays.map(({ url }) => url)].map((url) => new URL(url).host)
      const ledger = await openLedger(direct.replace(`${last}`, `${others.join()},${last}`))
      const before = await sessionsOf(direct, 'watch')
      for (const relay of relays) relay.vanish()
      const renewed = () => sessionsOf(direct, 'watch').then((found) => found.some((pid) => !before.includes(pid)))
      await expect.poll(renewed, { timeout: 40_000, interval: 100 }).toBe(true)
      await ledger.step(add('after'))
      await ledger.close()
      for (const relay of relays) relay.close()
    },
  )

  it('a connection that is lost is made anew to the server that the watch uses, and not to the one before', async () => {
    const direct = await createLedger(server)
    const relay = await openRelay(direct)
    const [first, last] = [relay.url, direct].map((url) => new URL(url).host)
    const ledger = await openLedger(direct.replace(`${last}`, `${first},${last}`))
    const renewed = Promise.withResolvers<void>()
    changeStatements(
      (sql) => sql,
      (sql) => sql.startsWith('listen') && renewed.resolve(),
    )
    relay.refuse(true)
    await renewed.promise
    const before = relay.refusals
    await ledger.step(add('after'))
    expect(await ledger.read((tx) => tx.task.list({}, 9))).toHaveLength(1)
    expect(relay.refusals).toBe(before)
    await ledger.close()
    relay.close()
  })

  it('nothing is read from or committed on a server that is not the one in use, though it answers: new connections are made', async () => {
    const url = await createLedger(server)
    const ledger = await openLedger(url)
    const previous = await sessionsOf(url, 'writer', 'reader')
    expect(previous).toHaveLength(2)
    changeStatements((sql, _parameters, { processId }) =>
      previous.includes(processId as number) ? sql.replace(currentTimeline, `'another'`) : sql,
    )
    await ledger.step(add('after'))
    expect(await ledger.read((tx) => tx.task.list({}, 9))).toHaveLength(1)
    const remaining = () =>
      sessionsOf(url, 'writer', 'reader').then((found) => previous.filter((pid) => found.includes(pid)))
    await expect.poll(remaining).toEqual([])
    await ledger.close()
  })

  it('reads are repeated while no server can be reached, and refused after ten seconds', async () => {
    const relay = await openRelay(await createLedger(server))
    let skippedMs = 0
    const ledger = await openLedger(relay.url, { ...steadyClock, now: () => steadyClock.now() + skippedMs })
    const read = () => ledger.read((tx) => tx.task.list({}, 9))
    await ledger.step(add('stored'))
    relay.refuse(true)
    const refused = async () => {
      const before = relay.refusals
      await expect.poll(() => relay.refusals, { interval: 5 }).toBeGreaterThan(before + 10)
    }
    const [one, other] = [read(), read()]
    await refused()
    relay.refuse(false)
    expect((await one).map(({ id }) => id)).toEqual(['stored'])
    expect(await other).toEqual(await one)
    relay.refuse(true)
    const late = expect(read()).rejects.toMatchObject({
      code: 'LEDGER_BUSY',
      details: { waitedMs: expect.any(Number) },
    })
    await refused()
    skippedMs = 10_000
    await late
    relay.refuse(false)
    expect(await read()).toHaveLength(1)
    await ledger.close()
    relay.close()
  })

  it('a read that is under way when the ledger stops is refused with the reason, and so are all later ones', async () => {
    const url = await createLedger(server)
    const relay = await openRelay(url)
    const ledger = await openLedger(relay.url)
    const read = () => ledger.read((tx) => tx.task.list({}, 9))
    await read()
    relay.silenceAt('repeatable read')
    const underWay = refusalOf(read(), 'LEDGER_VERSION')
    await query({ url }, 'update ledger_version set version = version + 1, usable_from = version + 1')
    const reason = await refusalOf(ledger.step(add('late')), 'LEDGER_VERSION')
    expect(await underWay).toBe(reason)
    expect(await refusalOf(read(), 'LEDGER_VERSION')).toBe(reason)
    await ledger.close()
    relay.close()
  })

  it('an observer is notified of the commit of another process without waiting for a poll', async () => {
    const { url, ledgers, close } = await openSeveral(1)
    const [other] = ledgers as [Ledger]
    // Its polls wait for a time that does not come.
    const one = await openServerLedger(url, new SimulatedClock())
    const changed = vi.fn()
    const stop = one.observe({ committed() {}, changed, failed() {} }, { watchOthers: true })
    for (let n = 0; n < 10; n++) {
      changed.mockClear()
      await other.step(add(`task-${n}`))
      await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { interval: 1 })
    }
    stop()
    await one.close()
    await close()
  })

  it('an instance whose session was cut is not dead within its grace, and takes its lock back', async () => {
    const { url, ledgers, close } = await openSeveral(2)
    const [one, other] = ledgers as [Ledger, Ledger]
    await one.register('instance-1')
    expect(await other.isAlive('instance-1')).toBe('alive')
    await query(
      { url },
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())`,
    )
    const seen: string[] = []
    await expect
      .poll(
        async () => {
          seen.push(await other.isAlive('instance-1'))
          return seen.at(-1)
        },
        { interval: 20 },
      )
      .toBe('alive')
    expect(seen).not.toContain('dead')
    one.unregister('instance-1')
    await expect.poll(() => other.isAlive('instance-1'), { interval: 100 }).toBe('dead')
    await close()
  })
})
