// Commits on SQLite: the connection is the real one, observed, and it fails where a disk would.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Ledger, Step } from '../../../src/ledger/ledger.ts'
import * as connections from '../../../src/ledger/sqlite/connection.ts'
import { openLedger, SimulatedClock } from '../../../src/testing/index.ts'
import { eventRow, messageRow, taskRow } from '../factories.ts'
import { startChild } from './child-process.ts'
import { openSecondConnection } from './second-connection.ts'

interface Watched {
  connection: connections.Connection
  executed: string[]
  /** Called before and after a text is executed; throws to simulate a failing disk. */
  before: ((sql: string) => void) | undefined
  after: ((sql: string) => void) | undefined
}

const watched: Watched[] = []
const connect = connections.connect

/** Spies on one function instead of replacing the module, because test files in the same process share it. */
beforeEach(() => {
  const watching = vi.spyOn(connections, 'connect').mockImplementation((...parameters) => {
    const connection = connect(...parameters)
    const each: Watched = { connection, executed: [], before: undefined, after: undefined }
    const execute = connection.execute
    connection.execute = (sql) => {
      each.executed.push(sql)
      each.before?.(sql)
      execute(sql)
      each.after?.(sql)
    }
    watched.push(each)
    return connection
  })
  return () => watching.mockRestore()
})

async function setup(clock?: SimulatedClock) {
  const folder = mkdtempSync(join(tmpdir(), 'errand-commits-'))
  const file = join(folder, 'ledger.db')
  const ledger = await openLedger(file, clock)
  const disk = watched.at(-1) as Watched
  disk.executed.length = 0
  onTestFinished(async () => {
    disk.before = undefined
    disk.after = undefined
    await ledger.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { file, ledger, disk }
}

const add = (id: string): Step => ({
  name: 'add',
  *decide(tx) {
    yield* tx.task.insert(taskRow({ id }))
    yield* tx.event.append(eventRow({ taskId: id }))
  },
})
const failing = (id: string): Step => ({
  name: 'fail',
  *decide(tx) {
    yield* tx.task.insert(taskRow({ id }))
    // Reading a set writes the draft first.
    yield* tx.task.list({}, 1)
    throw new Error('half way')
  },
})
/** Commits a task through another connection, at once. */
function secondConnection(file: string) {
  const commit = openSecondConnection(file)
  return (id: string) =>
    commit(function* (tx) {
      yield* tx.task.insert(taskRow({ id }))
      yield* tx.event.append(eventRow({ taskId: id }))
    })
}
const idsIn = async (ledger: Ledger) => (await ledger.read((tx) => tx.task.list({}, 99))).map((task) => task.id)
const ioError = () => Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' })

describe('steps that arrive together', () => {
  it('steps that arrive together share one commit, which another connection sees as one change', async () => {
    const { file, ledger, disk } = await setup()
    const other = connect(file, { busyTimeoutMs: 0, readonly: true })
    const versions = new Set([other.dataVersion()])
    await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (id) => {
        await ledger.step(add(id))
        versions.add(other.dataVersion())
      }),
    )
    expect(disk.executed).toEqual(['begin immediate', 'commit'])
    expect(versions.size).toBe(2)
    await ledger.step(add('e'))
    versions.add(other.dataVersion())
    expect(versions.size).toBe(3)
    other.close()
  })

  it('a group uses savepoints only when a step fails after its draft was written, and then the other steps are committed', async () => {
    const { ledger, disk } = await setup()
    const outcomes = await Promise.allSettled([ledger.step(add('a')), ledger.step(failing('b')), ledger.step(add('c'))])
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(disk.executed.join(', ')).toBe(
      'begin immediate, rollback, begin immediate, savepoint step, release step, ' +
        'savepoint step, rollback to step, release step, savepoint step, release step, commit',
    )
    expect(await idsIn(ledger)).toEqual(['a', 'c'])
  })

  it('a group needs neither rollback nor savepoint when a step is refused before its draft is written', async () => {
    const { ledger, disk } = await setup()
    const refused: Step = {
      name: 'refused',
      *decide(tx) {
        yield* tx.task.insert(taskRow({ id: 'drafted' }))
        throw new Error('no')
      },
    }
    await Promise.allSettled([ledger.step(add('a')), ledger.step(refused), ledger.step(add('b'))])
    expect(disk.executed).toEqual(['begin immediate', 'commit'])
    expect(await idsIn(ledger)).toEqual(['a', 'b'])
  })
})

describe('a commit that fails', () => {
  it('every step of a group rejects with OUTCOME_UNKNOWN when its commit fails, whether or not it was stored', async () => {
    for (const isStored of [false, true]) {
      const { ledger, disk } = await setup()
      let changed = 0
      const received: string[] = []
      ledger.observe(
        {
          committed: (events) => received.push(...events.map((event) => event.taskId)),
          changed: () => (changed += 1),
          failed() {},
        },
        { watchOthers: false },
      )
      disk[isStored ? 'after' : 'before'] = (sql) => {
        if (sql === 'commit') throw ioError()
      }
      const outcomes = await Promise.allSettled([ledger.step(add('a')), ledger.step(add('b'))])
      const unknown = { status: 'rejected', reason: { code: 'OUTCOME_UNKNOWN' } }
      expect(outcomes).toMatchObject([unknown, unknown])
      disk.before = undefined
      disk.after = undefined
      expect(await idsIn(ledger)).toEqual(isStored ? ['a', 'b'] : [])
      // Nothing is published as certain; observers are notified to read the ledger.
      expect([received, changed]).toEqual([[], 1])
      await ledger.step(add('c'))
      expect(received).toEqual(['c'])
    }
  })
})

describe('a full disk', () => {
  it('a full disk refuses steps with LEDGER_WRITE_FAILED and stores nothing; reads work, and steps work again once there is space', async () => {
    const { ledger, disk } = await setup()
    await ledger.step(add('a'))
    const large: Step = {
      name: 'large',
      *decide(tx) {
        yield* tx.task.insert(taskRow({ id: 'large' }))
        yield* tx.message.append(messageRow({ id: 'm', taskId: 'large', content: 'x'.repeat(500_000) }))
      },
    }
    disk.connection.pragma(`max_page_count = ${Number(disk.connection.pragma('page_count')) + 10}`)
    const outcomes = await Promise.allSettled([ledger.step(add('b')), ledger.step(large)])
    // SQLite rolls back the whole transaction by itself, so the small step fails with the large one.
    const refused = { status: 'rejected', reason: { code: 'LEDGER_WRITE_FAILED' } }
    expect(outcomes).toMatchObject([refused, refused])
    expect(disk.connection.inTransaction).toBe(false)
    expect(await idsIn(ledger)).toEqual(['a'])
    await ledger.step(add('b'))
    disk.connection.pragma('max_page_count = 100000')
    await ledger.step(large)
    expect(await idsIn(ledger)).toEqual(['a', 'b', 'large'])
  })
})

describe('a transaction that SQLite rolls back by itself', () => {
  const large = (id: string): Step => ({
    name: 'large',
    *decide(tx) {
      yield* tx.task.insert(taskRow({ id, description: 'x'.repeat(20_000) }))
      yield* tx.event.append(eventRow({ taskId: id }))
    },
  })

  /** A file with space for some large steps but not for a whole group; pages are spilled to the disk before the commit. */
  async function nearlyFull() {
    const world = await setup()
    const { ledger, disk } = world
    const received: string[] = []
    ledger.observe(
      {
        committed: (events) => received.push(...events.map(({ seq, taskId }) => `#${seq} ${taskId}`)),
        changed() {},
        failed() {},
      },
      { watchOthers: false },
    )
    await ledger.step(add('before'))
    disk.connection.pragma('cache_size = 10')
    disk.connection.pragma('cache_spill = on')
    disk.connection.pragma(`max_page_count = ${Number(disk.connection.pragma('page_count')) + 12}`)
    return { ...world, received, makeRoom: () => disk.connection.pragma('max_page_count = 1000000') }
  }

  it('a transaction that SQLite rolls back publishes nothing, and observers receive later commits', async () => {
    const { ledger, received, makeRoom } = await nearlyFull()
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => ledger.step(large(`large-${n}`))))
    expect(new Set(outcomes.map((each) => each.status === 'rejected' && each.reason.code))).toEqual(
      new Set(['LEDGER_WRITE_FAILED']),
    )
    expect(received).toEqual(['#1 before'])
    makeRoom()
    await ledger.step(add('after'))
    expect(received).toEqual(['#1 before', '#2 after'])
    expect((await ledger.read((tx) => tx.event.after(0, 99))).map(({ seq, taskId }) => `#${seq} ${taskId}`)).toEqual(
      received,
    )
  })

  it('a step runs no further statement after SQLite rolled back its transaction, even if it catches the error', async () => {
    const { ledger, received, makeRoom } = await nearlyFull()
    const stubborn: Step = {
      name: 'stubborn',
      *decide(tx) {
        try {
          for (let n = 0; n < 12; n++)
            yield* tx.task.insert(taskRow({ id: `large-${n}`, description: 'x'.repeat(20_000) }))
        } catch {
          yield* tx.task.insert(taskRow({ id: 'stubborn' }))
          yield* tx.event.append(eventRow({ taskId: 'stubborn' }))
        }
      },
    }
    await expect(ledger.step(stubborn)).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
    makeRoom()
    expect(await idsIn(ledger)).toEqual(['before'])
    expect(received).toEqual(['#1 before'])
  })

  it('a transaction whose rollback failed is rolled back before the next one', async () => {
    const { ledger, disk } = await setup()
    let broken = true
    disk.before = (sql) => {
      if (broken && /^(savepoint step|rollback)$/.test(sql)) throw ioError()
    }
    const refused = { status: 'rejected', reason: { code: 'LEDGER_WRITE_FAILED' } }
    expect(await Promise.allSettled([ledger.step(add('a')), ledger.step(failing('b'))])).toMatchObject([
      refused,
      refused,
    ])
    expect(disk.connection.inTransaction).toBe(true)
    broken = false
    expect(await idsIn(ledger)).toEqual([])
    await ledger.step(add('c'))
    expect(await idsIn(ledger)).toEqual(['c'])
  })
})

describe('a read', () => {
  it('a read sees one state in all its statements, even if another connection commits between them', async () => {
    // By this clock no read is long; a long read may begin twice.
    const { file, ledger } = await setup(new SimulatedClock())
    await ledger.step(add('a'))
    const commitElsewhere = secondConnection(file)
    const seen = await ledger.read(function* (tx) {
      const before = yield* tx.task.count({})
      commitElsewhere('b')
      return [before, yield* tx.task.count({}), yield* tx.event.last()]
    })
    expect(seen).toEqual([1, 1, 1])
    expect(await ledger.read((tx) => tx.task.count({}))).toBe(2)
  })

  it('a failed read throws LEDGER_UNAVAILABLE with its cause, leaves no transaction open, and does not affect later steps', async () => {
    const { ledger, disk } = await setup()
    await ledger.step(add('a'))
    const run = disk.connection.run
    const cause = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' })
    disk.connection.run = () => {
      throw cause
    }
    await expect(idsIn(ledger)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE', cause })
    disk.connection.run = run
    disk.before = (sql) => {
      if (sql === 'begin') throw cause
    }
    await expect(idsIn(ledger)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE', cause })
    disk.before = undefined
    expect(disk.connection.inTransaction).toBe(false)
    const own = new Error('of the query itself')
    const throwing = ledger.read(function* (tx) {
      yield* tx.task.count({})
      throw own
    })
    await expect(throwing).rejects.toBe(own)
    expect(disk.connection.inTransaction).toBe(false)
    await ledger.step(add('b'))
    expect(await idsIn(ledger)).toEqual(['a', 'b'])
  })
})

describe('a failing check for commits of other processes', () => {
  it('a failing check for commits of other processes notifies observers to read, and no commit is missed', async () => {
    const clock = new SimulatedClock()
    const { file, ledger, disk } = await setup(clock)
    const commitElsewhere = secondConnection(file)
    let changed = 0
    ledger.observe({ committed() {}, changed: () => (changed += 1), failed() {} }, { watchOthers: true })
    clock.increment(20)
    changed = 0
    const dataVersion = disk.connection.dataVersion
    disk.connection.dataVersion = () => {
      throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' })
    }
    commitElsewhere('theirs')
    clock.increment(60)
    expect(changed).toBe(3)
    disk.connection.dataVersion = dataVersion
    clock.increment(20)
    expect(changed).toBe(4)
    clock.increment(200)
    expect(changed).toBe(4)
  })
})

describe('closing while another process holds the write lock', () => {
  it('close ends within its bound while another process holds the write lock, and unwritten steps are refused with LEDGER_BUSY', async () => {
    const { file, ledger } = await setup()
    const other = connect(file, { busyTimeoutMs: 0 })
    other.execute('begin immediate')
    const refused = expect(ledger.step(add('a'))).rejects.toMatchObject({ code: 'LEDGER_BUSY' })
    await ledger.close({ withinMs: 100 })
    await refused
    other.execute('rollback')
    other.close()
  })
})

describe('a ledger that another process writes', () => {
  it('a step waits without blocking the event loop while another process holds the write lock', async () => {
    const { file, ledger, disk } = await setup()
    const child = startChild('lock', file)
    expect(await child.nextLine()).toBe('locked')
    let watching = true
    let turns = 0
    const watch = (): void => {
      turns++
      if (watching) setImmediate(watch)
    }
    watch()
    const attempts = new Promise<void>((resolve) => {
      disk.before = (sql) => {
        if (sql === 'begin immediate' && disk.executed.length >= 4) resolve()
      }
    })
    const waiting = ledger.step(add('a'))
    await attempts
    watching = false
    child.send('go')
    await waiting
    expect(await child.ended()).toBe(0)
    // The event loop turns between the attempts.
    expect(turns).toBeGreaterThan(4)
    expect(await idsIn(ledger)).toEqual(['a'])
  })

  it('a ledger notifies only observers with watchOthers of commits of other processes', async () => {
    const { file, ledger } = await setup()
    let unwatching = 0
    const changed = new Promise<void>((resolve) => {
      ledger.observe({ committed() {}, changed: resolve, failed() {} }, { watchOthers: true })
    })
    ledger.observe({ committed() {}, changed: () => (unwatching += 1), failed() {} }, { watchOthers: false })
    const child = startChild('open', file, 'theirs')
    await child.nextLine()
    child.send('go')
    await changed
    expect(await child.ended()).toBe(0)
    expect(await idsIn(ledger)).toEqual(['theirs'])
    expect(unwatching).toBe(0)
  })
})
