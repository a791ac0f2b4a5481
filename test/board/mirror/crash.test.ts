// A mirror that dies before any of its file operations leaves old or new files or none, never torn ones; the next one repairs the rest, and
// no edit is lost. Of two mirrors of one folder in two processes one writes.
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isLong } from '../../tier.ts'
import type { MirrorOrders } from './mirror-process.ts'
import { startProcess } from './processes.ts'
import { createFolder, filesIn, openWorld } from './world.ts'

const startMirror = (orders: MirrorOrders) => startProcess('mirror-process.ts', orders)

/** A board and a folder in step; after `disturb` one pass has every kind of work to do. */
async function createPlace() {
  const folder = createFolder()
  const [ledger, dir] = [join(folder, 'ledger.db'), join(folder, '.tasks')]
  const world = await openWorld(ledger, dir)
  for (const subject of ['changed', 'deleted', 'edited', 'refused', 'untouched']) await world.add(subject)
  const mirror = await world.open()
  await mirror.sync()
  await mirror.close()
  const refused = JSON.stringify({ ...world.read(4), status: 'no such state' })
  const disturb = async (put: (name: string, text: string) => void) => {
    await world.call('board:update', { id: 1, description: 'by the board' })
    await world.call('board:delete', { id: 2 })
    await world.add('fresh', { blockedBy: [1] })
    put('task_3.json', JSON.stringify({ ...world.read(3), subject: 'edited in the file' }))
    put('task_4.json', refused)
    put('task_9.json', '{"subject": "new in the file"}')
  }
  const replace = (name: string, text: string) => {
    writeFileSync(join(dir, '.fresh'), text)
    renameSync(join(dir, '.fresh'), join(dir, name))
  }
  return { ledger, dir, world, refused, disturb, inPlace: world.write as (name: string, text: string) => void, replace }
}

/** Checks that each file is whole, with the old or the new text. One may be missing: the mirror has just moved it aside. */
function requireWhole({ dir }: { dir: string }): void {
  const files = filesIn(dir)
  for (const name of files.names()) expect(() => files.read(name), `${name}: ${files.text(name)}`).not.toThrow()
  const missing = [1, 3, 4, 5, 9].filter((number) => !files.exists(number))
  expect(missing.length, `missing: ${missing.join(', ')}`).toBeLessThan(2)
  for (const number of missing)
    expect(readdirSync(files.at('.errand')).some((name) => name.startsWith(`${number}-`))).toBe(true)
}

async function requireRepaired({ dir, world, refused }: Awaited<ReturnType<typeof createPlace>>): Promise<void> {
  const mirror = await world.open()
  await mirror.sync()
  expect(await mirror.sync()).toMatchObject({ written: [], imported: [], refused: [], skipped: [], removed: [] })
  const files = filesIn(dir)
  expect(files.read(1)).toMatchObject({ description: 'by the board', blocks: [6] })
  expect(files.exists(2)).toBe(false)
  expect(files.read(3)).toMatchObject({ subject: 'edited in the file' })
  expect(files.read(4)).toMatchObject({ status: 'pending' })
  expect(files.read(6)).toMatchObject({ subject: 'fresh', blockedBy: [1] })
  expect(files.read(9)).toMatchObject({ subject: 'new in the file', version: 1 })
  const copies = readdirSync(files.at('refused'))
  expect(copies.map((name) => files.text(join('refused', name)))).toEqual([refused])
  await mirror.close()
  expect(readdirSync(files.at('.errand')).sort()).toEqual(['.gitignore', 'folder.json'])
}

/** Dies before every operation (or every n-th: ERRAND_CRASH_EVERY), two at a time. */
async function killedAt(first: number, last: number, die: (dieAt: number) => Promise<void>): Promise<void> {
  const every = Number(process.env['ERRAND_CRASH_EVERY'] ?? (isLong ? 4 : 40))
  const deaths: number[] = []
  for (let dieAt = first + (process.pid % every); dieAt <= last; dieAt += every) deaths.push(dieAt)
  console.log(`killed before ${deaths.length} of ${last - first + 1} operations on files`)
  const worker = async () => {
    for (let dieAt = deaths.shift(); dieAt !== undefined; dieAt = deaths.shift()) await die(dieAt)
  }
  await Promise.all([worker(), worker()])
}

describe('A mirror that dies', () => {
  it('S4-009 a mirror killed before any file operation leaves whole files or a missing one, and the next one repairs the rest', async () => {
    const measuring = await createPlace()
    await measuring.disturb(measuring.inPlace)
    const measured = startMirror({ ...placeOf(measuring), once: true })
    await measured.exited
    const operations = measured.lines.find((line) => 'operations' in line)?.['operations'] as number
    expect(operations).toBeGreaterThan(40)
    await killedAt(1, operations, async (dieAt) => {
      const place = await createPlace()
      await place.disturb(place.inPlace)
      const mirror = startMirror({ ...placeOf(place), once: true, dieAt })
      expect((await mirror.exited).signal, `operation ${dieAt}`).toBe('SIGKILL')
      requireWhole(place)
      await requireRepaired(place)
      await place.world.engine.close()
    })
  }, 120_000)

  it('a mirror killed while others replace files leaves whole files or a missing one, and the next one repairs them', async () => {
    const run = async (dieAt?: number) => {
      const place = await createPlace()
      const mirror = startMirror({ ...placeOf(place), twice: true, ...(dieAt === undefined ? {} : { dieAt }) })
      const { first } = await mirror.received((line) => 'first' in line)
      await place.disturb(place.replace)
      mirror.say('again')
      const { signal } = await mirror.exited
      return { place, first, signal, operations: mirror.lines.find((line) => 'operations' in line)?.['operations'] }
    }
    const measured = await run()
    await requireRepaired(measured.place)
    let killed = 0
    await killedAt(measured.first + 1, measured.operations, async (dieAt) => {
      const { place, signal, operations } = await run(dieAt)
      // A file that has just changed is read once more, so a slow run has fewer operations.
      if (signal === null) expect(operations, `operation ${dieAt}`).toBeLessThan(dieAt)
      else killed++
      requireWhole(place)
      await requireRepaired(place)
      await place.world.engine.close()
    })
    expect(killed).toBeGreaterThan(0)
  }, 120_000)

  it('the crash test detects a planted mirror that writes in place and tears a file', async () => {
    const dies = async (dieAt?: number) => {
      const place = await createPlace()
      await place.disturb(place.inPlace)
      const orders = { ...placeOf(place), once: true, fault: 'in place' } as const
      const mirror = startMirror(dieAt === undefined ? orders : { ...orders, dieAt })
      await mirror.exited
      await place.world.engine.close()
      return { place, mirror }
    }
    const measured = (await dies()).mirror.lines.find((line) => 'halves' in line)
    const halves = measured?.['halves'] as number[]
    expect(halves.length).toBeGreaterThan(0)
    let torn = 0
    for (let dieAt = halves.shift(); dieAt !== undefined && torn === 0; dieAt = halves.shift()) {
      const { place } = await dies(dieAt)
      try {
        requireWhole(place)
      } catch {
        torn++
      }
    }
    expect(torn).toBe(1)
  })

  it('a standby mirror in another process takes over at once from a mirror that dies', async () => {
    const folder = createFolder()
    const [ledger, dir] = [join(folder, 'ledger.db'), join(folder, '.tasks')]
    const world = await openWorld(ledger, dir)
    await world.add('one')
    const first = startMirror({ ledger, dir, pollMs: 20 })
    await first.received(({ report }) => report?.written.length === 1)
    const second = startMirror({ ledger, dir, pollMs: 20 })
    await second.received(({ ready }) => ready)
    await world.add('two')
    await first.received(({ report }) => report?.written.includes('task_2.json'))
    first.signal('SIGKILL')
    await first.exited
    await world.add('three')
    const { report } = await second.received((line) => line['report']?.written.includes('task_3.json'))
    expect(report.refused).toEqual([])
    expect(second.lines.filter((line) => line['report']?.written.includes('task_2.json'))).toEqual([])
    second.end()
    expect((await second.exited).code).toBe(0)
    expect(readdirSync(folder).filter((name) => name.includes('mirror-'))).toEqual([])
  })
})

describe('A mirror that follows', () => {
  it('S4-007 a mirror imports edits and writes changes within moments', async () => {
    const folder = createFolder()
    const [ledger, dir] = [join(folder, 'ledger.db'), join(folder, '.tasks')]
    const world = await openWorld(ledger, dir)
    await world.add('one')
    const mirror = startMirror({ ledger, dir })
    await mirror.received(({ report }) => report?.written.length === 1)
    world.edit(1, { subject: 'from the editor' })
    await mirror.received(({ report }) => report?.imported.includes('task_1.json'))
    expect(await world.task(1)).toMatchObject({ subject: 'from the editor' })
    // A file that is being written is not reported.
    const whole = world.text(1)
    const before = mirror.lines.length
    writeFileSync(world.at(1), whole.slice(0, 30))
    writeFileSync(world.at(1), whole.replace('from the editor', 'in two parts'))
    await mirror.received(
      (line) => mirror.lines.indexOf(line) >= before && line['report']?.imported.includes('task_1.json'),
    )
    expect(await world.task(1)).toMatchObject({ subject: 'in two parts' })
    expect(mirror.lines.flatMap(({ report }) => report?.skipped ?? [])).toEqual([])
    // A file that stays broken is.
    writeFileSync(world.at(1), whole.slice(0, 30))
    const { report } = await mirror.received((line) => line['report']?.skipped.length > 0)
    expect(report.skipped).toMatchObject([{ file: 'task_1.json', why: expect.stringContaining('not JSON') }])
    mirror.end()
    expect((await mirror.exited).code).toBe(0)
    expect(existsSync(world.at('refused'))).toBe(false)
  })
})

function placeOf({ ledger, dir }: { ledger: string; dir: string }): { ledger: string; dir: string } {
  return { ledger, dir }
}
