// Components that follow the feed: what they do when they are behind and the events are purged, when reads fail, and when reads take long.
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import type { EngineOptions } from '../../src/engine/engine-api.ts'
import { mirrorBoard } from '../../src/index.ts'
import type { Reads } from '../../src/ledger/ledger.ts'
import { createFaultyLedger, openLedger, SimulatedClock } from '../../src/testing/index.ts'
import { tool } from '../agents/world.ts'
import { createFolder } from '../board/mirror/world.ts'
import { deferred, openEngine, turns } from './world.ts'

/** An engine on a ledger whose reads fail on request; `reported` resolves when an error is reported that occurred during `doing`. */
async function setup(options: EngineOptions = {}) {
  const clock = new SimulatedClock()
  const ledger = createFaultyLedger(await openLedger(':memory:', clock))
  onTestFinished(() => ledger.close())
  const reports: unknown[] = []
  let next = deferred()
  const onError = (_error: unknown, { doing }: Record<string, unknown>) => {
    reports.push(doing)
    next.resolve()
    next = deferred()
  }
  const engine = await openEngine({ ...options, ledger, clock, onError })
  const reported = async (doing: string) => {
    while (!reports.includes(doing)) await next.promise
  }
  return { clock, ledger, engine, reports, reported }
}

const refuse = (): never => {
  throw new Error('a planted fault of a read')
}

describe('events that were purged', () => {
  it('a subscriber that is behind when the missed events are purged goes on with the next event, and the process stays responsive', async () => {
    const { clock, engine } = await setup({ work: false })
    const [began, held, last] = [deferred(), deferred(), deferred()]
    const received: string[] = []
    engine.subscribe('*', async ({ taskId, data }) => {
      received.push((data['name'] as string | undefined) ?? taskId)
      began.resolve()
      await held.promise
      if (received.at(-1) === 'last') last.resolve()
    })
    await engine.create({ name: 'first' })
    await began.promise
    // More events than a follower keeps.
    const tasks = await engine.create(Array.from({ length: 600 }, () => ({ name: 'old' })))
    await Promise.all(tasks.map(({ id }) => engine.cancel(id)))
    expect((await engine.purge({ before: clock.now() + 1 })).tasks).toBe(600)
    held.resolve()
    await turns()
    await engine.create({ name: 'last' })
    await last.promise
    expect([received.at(0), received.at(-1), received.length < 1_200]).toEqual(['first', 'last', true])
  })
})

describe('events that are long', () => {
  it('a subscriber that is behind keeps a few megabytes of them in memory, and reads the others page by page', async () => {
    const { engine, ledger } = await setup({ work: false })
    const [began, held] = [deferred(), deferred()]
    const received: number[] = []
    engine.subscribe('task.canceled', async ({ data }) => {
      received.push((data['reason'] as string).length)
      began.resolve()
      await held.promise
    })
    const reason = 'x'.repeat(1_000_000)
    const cancel = async (number: number) => {
      const tasks = await engine.create(Array.from({ length: number }, () => ({ name: 'long' })))
      for (const { id } of tasks) await engine.cancel(id, reason)
    }
    await cancel(1)
    await began.promise
    await cancel(6)
    // What is in memory needs no read.
    const pages: number[] = []
    const read = ledger.read.bind(ledger)
    ledger.read = async (query, reader) => {
      const found: unknown = await read(query, reader)
      if (Array.isArray(found)) pages.push(JSON.stringify(found).length)
      return found as never
    }
    held.resolve()
    while (received.length < 7) await turns()
    expect(received).toEqual(Array.from({ length: 7 }, () => reason.length))
    expect(pages.filter((length) => length > reason.length).length).toBeGreaterThan(1)
    expect(Math.max(...pages)).toBeLessThan(5_000_000)
  })
})

describe('failed reads', () => {
  it('a mirror that is behind when reads fail writes later changes to the files', async () => {
    const { clock, ledger, engine, reported } = await setup({ work: false })
    const top = await engine.create({ name: 'top', tasks: { first: {} } })
    const [task] = await engine.children(top.id)
    await engine.bus.call('board:open' as string, { board: 'mirrored', parent: top.id })
    const reports: string[] = []
    let next = deferred()
    const folder = join(createFolder(), 'tasks')
    const mirror = await mirrorBoard(engine, {
      dir: folder,
      board: 'mirrored',
      pollMs: 86_400_000,
      onReport: ({ written }) => {
        reports.push(...written)
        next.resolve()
        next = deferred()
      },
    })
    onTestFinished(() => mirror.close())
    const wrote = async (times: number) => {
      while (reports.length < times) await next.promise
    }
    await wrote(1)
    // More events in one commit than a follower keeps, so it reads.
    const many = engine.create(Array.from({ length: 1_001 }, () => ({ name: 'not on this board' })))
    ledger.failReads()
    await many.catch(() => {})
    await reported('follow the board')
    ledger.mend()
    clock.increment(20)
    await engine.update(task?.id as string, { name: 'renamed' })
    await wrote(2)
    expect(reports).toEqual(['task_1.json', 'task_1.json'])
  })

  it('the team of a completed task is closed although reads failed when its last agent ended', async () => {
    const { clock, ledger, engine, reported } = await setup({
      executors: { reader: () => 'The cache is stale.' },
    })
    let isBroken = false
    const read = ledger.read.bind(ledger)
    ledger.read = (query, reader) =>
      read((tx) => {
        if (!isBroken) return query(tx)
        const team = { ...tx.team, abandoned: refuse, unclosed: refuse, stintOfWorker: refuse }
        return query({ ...tx, team } as Reads)
      }, reader)
    const group = await engine.create({ name: 'Read', team: true, tasks: { held: { name: 'by hand' } } })
    await turns()
    isBroken = true
    const [held] = await engine.children(group.id)
    await engine.start(held?.id as string)
    await engine.complete(held?.id as string)
    await engine.settled(group.id)
    await reported('read teams')
    isBroken = false
    for (let pause = 0; pause < 3; pause++) {
      clock.increment(20)
      await turns()
    }
    expect((await ledger.read((tx) => tx.team.get(group.id)))?.closedAt).not.toBe(null)
  })

  it('an observer of all tasks sees the open ones although their first read failed', async () => {
    const { clock, ledger, engine, reported } = await setup({ work: false })
    await engine.create({ name: 'a' })
    const seen = deferred<string>()
    ledger.failReads(1)
    engine.inspect(({ actorRef }) => void (actorRef.id.startsWith('task-') && seen.resolve(actorRef.id)), {
      tasks: 'all',
    })
    await reported('watch all tasks')
    clock.increment(20)
    expect(await seen.promise).toMatch(/^task-/)
  })

  it('a completed agent task is archived although its first read failed', async () => {
    const archived = deferred<unknown>()
    const archive = tool('mem:archive', async ({ taskId }) => {
      archived.resolve(taskId)
      return null
    })
    const model = createScriptedModel([{ text: 'Done.' }])
    const { clock, ledger, engine, reported } = await setup({ model, abilities: [archive] })
    let isBroken = true
    const read = ledger.read.bind(ledger)
    ledger.read = (query, reader) =>
      String(query).includes('readTask') && isBroken ? Promise.reject(new Error('planted')) : read(query, reader)
    const task = await engine.create({ goal: 'Look' })
    await reported('archive a task')
    isBroken = false
    clock.increment(20)
    expect(await archived.promise).toBe(task.id)
  })
})

it('while a read takes long, the supervisor asks for one more look, however often it checks', async () => {
  const { clock, ledger, engine, reports, reported } = await setup()
  await engine.create({ name: 'a' })
  await turns()
  const held = deferred()
  const read = ledger.read.bind(ledger)
  ledger.read = async (query, reader) => {
    await held.promise
    return read(query, reader)
  }
  for (let check = 0; check < 10; check++) {
    clock.increment(200)
    await turns(1)
  }
  ledger.read = read
  held.reject(new Error('the server is away'))
  await reported('check for work')
  await turns()
  expect(reports.filter((doing) => doing === 'check for work')).toEqual(['check for work'])
})
