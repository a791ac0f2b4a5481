// Commits on SQLite, seen from beside them: the connection is the real one, watched, and made to fail where a disk would.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import * as connections from '../../../src/ledger/dialects/sqlite/connection.ts'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { eventRow, messageRow, openLedger, taskRow, writing } from '../../../src/testing/index.ts'
import { startChild } from './child-process.ts'

interface Watched {
  connection: connections.Connection
  executed: string[]
  /** Called before a text is executed and after it; throwing is the disk's fault. */
  before: ((sql: string) => void) | undefined
  after: ((sql: string) => void) | undefined
}

const watched: Watched[] = []
const connect = connections.connect

/** The module stays what it is, with one function watched: files that run in the same process share it. */
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

async function setup(path?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'errand-commits-'))
  const file = path ?? join(folder, 'ledger.db')
  const ledger = await openLedger(file)
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

const add = (id: string) =>
  writing('add', function* (tx) {
    yield* tx.task.insert(taskRow({ id }))
    yield* tx.event.append(eventRow({ taskId: id }))
  })
const failing = (id: string) =>
  writing('fail', function* (tx) {
    yield* tx.task.insert(taskRow({ id }))
    throw new Error('half way')
  })
const idsIn = async (ledger: Ledger) => (await ledger.read((tx) => tx.task.list({}, 99))).map((task) => task.id)
const ioError = () => Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' })

describe('steps that arrive together', () => {
  it('share one commit, which another connection sees as one change', async () => {
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

  it('pay for savepoints only when a write fails, and then the others stand', async () => {
    const { ledger, disk } = await setup()
    const outcomes = await Promise.allSettled([ledger.step(add('a')), ledger.step(failing('b')), ledger.step(add('c'))])
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(disk.executed.join(', ')).toBe(
      'begin immediate, rollback, begin immediate, savepoint step, release step, ' +
        'savepoint step, rollback to step, release step, savepoint step, release step, commit',
    )
    expect(await idsIn(ledger)).toEqual(['a', 'c'])
  })

  it('need neither rollback nor savepoint when one is refused by its judge', async () => {
    const { ledger, disk } = await setup()
    const refused = {
      ...add('x'),
      judge() {
        throw new Error('no')
      },
    }
    await Promise.allSettled([ledger.step(add('a')), ledger.step(refused), ledger.step(add('b'))])
    expect(disk.executed).toEqual(['begin immediate', 'commit'])
    expect(await idsIn(ledger)).toEqual(['a', 'b'])
  })
})

describe('a commit that fails', () => {
  it('is OUTCOME_UNKNOWN to every step of its group, whether it had been kept or not', async () => {
    for (const kept of [false, true]) {
      const { ledger, disk } = await setup()
      let stirred = 0
      const heard: string[] = []
      ledger.observe(
        {
          committed: (events) => heard.push(...events.map((event) => event.taskId)),
          stirred: () => (stirred += 1),
          failed() {},
        },
        { watchOthers: false },
      )
      disk[kept ? 'after' : 'before'] = (sql) => {
        if (sql === 'commit') throw ioError()
      }
      const outcomes = await Promise.allSettled([ledger.step(add('a')), ledger.step(add('b'))])
      const unknown = { status: 'rejected', reason: { code: 'OUTCOME_UNKNOWN' } }
      expect(outcomes).toMatchObject([unknown, unknown])
      disk.before = undefined
      disk.after = undefined
      expect(await idsIn(ledger)).toEqual(kept ? ['a', 'b'] : [])
      // Nothing is published as certain; whoever follows is told to look.
      expect([heard, stirred]).toEqual([[], 1])
      await ledger.step(add('c'))
      expect(heard).toEqual(['c'])
    }
  })
})

describe('a full disk', () => {
  it('refuses with LEDGER_WRITE_FAILED and keeps nothing; reads go on, and so does everything once there is space', async () => {
    const { ledger, disk } = await setup()
    await ledger.step(add('a'))
    const large = writing('large', function* (tx) {
      yield* tx.task.insert(taskRow({ id: 'large' }))
      yield* tx.message.append(messageRow({ id: 'm', taskId: 'large', content: 'x'.repeat(500_000) }))
    })
    disk.connection.pragma(`max_page_count = ${Number(disk.connection.pragma('page_count')) + 10}`)
    const outcomes = await Promise.allSettled([ledger.step(add('b')), ledger.step(large)])
    // SQLite takes the whole transaction back by itself, so the small step beside the large one falls too.
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

describe('a ledger that another process is writing to', () => {
  it('is waited for without blocking the event loop, and then written', async () => {
    const { file, ledger, disk } = await setup()
    const child = startChild('lock', file)
    expect(await child.nextLine()).toBe('locked')
    let longestStall = 0
    let last = performance.now()
    let watching = true
    const watch = (): void => {
      const now = performance.now()
      longestStall = Math.max(longestStall, now - last)
      last = now
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
    child.say('go')
    await waiting
    expect(await child.ended()).toBe(0)
    // An attempt blocks for the busy timeout of 50 ms; the rest is what a busy machine may add (the default would be 5,000).
    expect(longestStall).toBeGreaterThan(30)
    expect(longestStall).toBeLessThan(500)
    expect(await idsIn(ledger)).toEqual(['a'])
  })

  it('tells who watches others of their commits, and nobody else', async () => {
    const { file, ledger } = await setup()
    let unwatching = 0
    const stirred = new Promise<void>((resolve) => {
      ledger.observe({ committed() {}, stirred: resolve, failed() {} }, { watchOthers: true })
    })
    ledger.observe({ committed() {}, stirred: () => (unwatching += 1), failed() {} }, { watchOthers: false })
    const child = startChild('open', file, 'theirs')
    await child.nextLine()
    child.say('go')
    await stirred
    expect(await child.ended()).toBe(0)
    expect(await idsIn(ledger)).toEqual(['theirs'])
    expect(unwatching).toBe(0)
  })
})
