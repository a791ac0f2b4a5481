// The mirror between a board and a folder: contents of files, effects of edits, and refusals.
import { linkSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ErrandError } from '../../../src/index.ts'
import { createFolder, openWorld } from './world.ts'

const nothing = { written: [], imported: [], refused: [], skipped: [], removed: [], unheld: [], standingBy: false }

describe('What the files say', () => {
  it('S4-001 S4-002 S4-003 S4-004 a mirror creates its folder and writes each task as two-space JSON with the seven keys first', async () => {
    const world = await openWorld(':memory:', join(createFolder(), 'deep', '.tasks'))
    await world.add('Setup')
    await world.add('Write code', { description: 'all of it', blockedBy: [1], priority: 3 })
    const mirror = await world.open()
    expect((await mirror.sync()).written).toEqual(['task_1.json', 'task_2.json'])
    const { taskId } = await world.task(2)
    expect(world.text(2)).toBe(`{
  "id": 2,
  "subject": "Write code",
  "description": "all of it",
  "status": "pending",
  "blockedBy": [
    1
  ],
  "blocks": [],
  "owner": "",
  "priority": 3,
  "canonicalStatus": "submitted",
  "statusReason": null,
  "taskId": "${taskId}",
  "version": 1
}`)
    expect(world.read(1)).toMatchObject({ id: 1, subject: 'Setup', blocks: [2] })
    expect(await mirror.sync()).toEqual(nothing)
  })

  it('mirrored files and created folders are private to their user, whatever the umask is', async () => {
    const world = await openWorld(':memory:', join(createFolder(), 'deep', '.tasks'))
    await world.add('Setup')
    const mirror = await world.open()
    await mirror.sync()
    world.edit(1, { status: 'nonsense' })
    expect((await mirror.sync()).refused).toHaveLength(1)
    const modeOf = (name: string) => (statSync(world.at(name)).mode & 0o777).toString(8)
    expect(['task_1.json', '.errand/folder.json'].map(modeOf)).toEqual(['600', '600'])
    expect(['', '..', '.errand', 'refused'].map(modeOf)).toEqual(['700', '700', '700', '700'])
  })

  it('S4-011 mirrored files contain subjects unescaped, in UTF-8', async () => {
    const world = await openWorld()
    await world.add('Größe messen 测量 🚀')
    await (await world.open()).sync()
    expect(world.text(1)).toContain('"subject": "Größe messen 测量 🚀"')
  })

  it('a completed task disappears from blockedBy of its dependents in their files', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('first')
    await world.add('second', { blockedBy: [1] })
    await mirror.sync()
    await world.call('board:update', { id: 1, status: 'completed' })
    expect((await mirror.sync()).written).toEqual(['task_1.json', 'task_2.json'])
    expect(world.read(2)).toMatchObject({ blockedBy: [], version: 2 })
    expect(world.read(1)).toMatchObject({ status: 'completed', canonicalStatus: 'completed', blocks: [2] })
  })

  it('S4-008 mirrored files and numbers continue after a restart', async () => {
    const folder = createFolder()
    const ledger = join(folder, 'ledger.db')
    const dir = join(folder, '.tasks')
    const first = await openWorld(ledger, dir)
    await first.add('before')
    const mirror = await first.open()
    await mirror.sync()
    await mirror.close()
    await first.engine.close()
    const second = await openWorld(ledger, dir)
    second.edit(1, { subject: 'edited while no mirror ran' })
    await second.add('after')
    expect(await (await second.open()).sync()).toMatchObject({ imported: ['task_1.json'], refused: [] })
    expect(second.read(1)).toMatchObject({ subject: 'edited while no mirror ran', version: 2 })
    expect(second.read(2)).toMatchObject({ subject: 'after' })
  })

  it('the file of a deleted task is removed, and foreign files stay', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await world.add('two', { blockedBy: [1] })
    await mirror.sync()
    const before = world.text(1)
    await world.call('board:delete', { id: 1 })
    expect(await mirror.sync()).toMatchObject({ removed: ['task_1.json'], written: ['task_2.json'], refused: [] })
    expect(world.names()).toEqual(['task_2.json'])
    // A restored file is neither a new task nor an edit.
    world.write(1, before)
    expect(await mirror.sync()).toMatchObject({ removed: ['task_1.json'], refused: [], imported: [] })
    world.write(1, before.replace('one', 'changed'))
    const report = await mirror.sync()
    expect(report.refused).toMatchObject([{ file: 'task_1.json', copy: 'refused/task_1.refused-1.json' }])
    expect(world.text('refused/task_1.refused-1.json')).toContain('changed')
    expect(world.exists(1)).toBe(false)
  })

  it('a file that was imported with a final line break keeps it', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    world.write(1, '{ "subject": "one" }\n')
    await mirror.sync()
    await world.call('board:update', { id: 1, subject: 'uno' })
    await mirror.sync()
    expect(world.text(1)).toMatch(/\n}\n$/)
    expect(world.read(1)).toMatchObject({ subject: 'uno' })
  })
})

describe('An edit of a file', () => {
  it('an edit of a file changes texts, edges and state of the task like any command', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await world.add('two')
    await world.add('three')
    await mirror.sync()
    world.edit(2, {
      subject: 'zwei',
      description: 'neu',
      priority: 5,
      tags: ['a'],
      metadata: { k: 1 },
      blockedBy: ['1'],
      blocks: [3],
    })
    world.edit(1, { status: 'in_progress', owner: 'alice' })
    expect((await mirror.sync()).imported).toEqual(['task_1.json', 'task_2.json'])
    expect(await world.task(2)).toMatchObject({
      subject: 'zwei',
      description: 'neu',
      priority: 5,
      tags: ['a'],
      metadata: { k: 1 },
      blockedBy: [1],
      blocks: [3],
    })
    expect(await world.task(1)).toMatchObject({ status: 'in_progress', owner: 'alice', fence: 1 })
    world.edit(1, { status: 'completed' })
    await mirror.sync()
    expect(await world.task(1)).toMatchObject({ status: 'completed', owner: 'alice' })
    expect(world.read(2)).toMatchObject({ blockedBy: [], version: 3 })
  })

  it('an edit is compared with the version it was made from, so that concurrent changes are kept', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await mirror.sync()
    const old = world.read(1)
    await world.call('board:update', { id: 1, priority: 7, metadata: { by: 'board' } })
    await mirror.sync()
    expect(world.read(1)['version']).toBe(2)
    world.write(1, { ...old, description: 'from an old file' })
    expect((await mirror.sync()).imported).toEqual(['task_1.json'])
    expect(await world.task(1)).toMatchObject({
      priority: 7,
      metadata: { by: 'board' },
      description: 'from an old file',
    })
  })

  it('an edit of a key that the board has changed since is refused and kept as a copy', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await mirror.sync()
    const old = world.read(1)
    await world.call('board:update', { id: 1, subject: 'by the board' })
    await mirror.sync()
    const current = world.text(1)
    world.write(1, { ...old, subject: 'by the file' })
    const report = await mirror.sync()
    expect(report.refused).toMatchObject([{ file: 'task_1.json', copy: 'refused/task_1.refused-1.json' }])
    expect(report.refused[0]?.why).toContain('the board has changed it to "by the board" since')
    expect(world.text(1)).toBe(current)
    expect(world.read('refused/task_1.refused-1.json')).toMatchObject({ subject: 'by the file' })
  })

  it('a file restored to an older text by git is not an edit', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await mirror.sync()
    const old = world.text(1)
    await world.call('board:update', { id: 1, status: 'completed' })
    await mirror.sync()
    world.write(1, old)
    expect(await mirror.sync()).toEqual({ ...nothing, written: ['task_1.json'] })
    expect(world.read(1)).toMatchObject({ status: 'completed' })
  })

  it('an edit whose base version is no longer kept is refused', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await mirror.sync()
    const old = world.read(1)
    for (let round = 0; round < 40; round++) {
      await world.call('board:update', { id: 1, priority: round + 1 })
      await mirror.sync()
    }
    world.write(1, { ...old, subject: 'much too late' })
    expect((await mirror.sync()).refused[0]?.why).toContain('version 1, is not kept')
    expect(world.read(1)).toMatchObject({ subject: 'one', priority: 40 })
  })

  it('a program that writes only the seven keys changes only those', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one', { priority: 4, tags: ['x'], metadata: { a: 1 } })
    await mirror.sync()
    world.write(1, {
      id: '1',
      subject: 'uno',
      description: '',
      status: 'pending',
      blockedBy: [],
      blocks: [],
      owner: '',
    })
    expect(await mirror.sync()).toMatchObject({ imported: ['task_1.json'], refused: [] })
    expect(await world.task(1)).toMatchObject({ subject: 'uno', priority: 4, tags: ['x'], metadata: { a: 1 } })
  })

  it('unknown keys of a file are kept, and removed keys are removed', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one', { priority: 2, activeForm: 'Doing' })
    await mirror.sync()
    world.edit(1, { estimate: { hours: 3 }, color: 'red', priority: undefined, activeForm: undefined })
    await mirror.sync()
    expect(world.read(1)).toMatchObject({ estimate: { hours: 3 }, color: 'red' })
    expect(await world.task(1)).toMatchObject({ priority: 0, extra: { estimate: { hours: 3 }, color: 'red' } })
    world.edit(1, { color: undefined })
    await mirror.sync()
    expect(await world.task(1)).toMatchObject({ extra: { estimate: { hours: 3 } } })
    expect(world.read(1)).not.toHaveProperty('color')
    expect(world.read(1)).not.toHaveProperty('activeForm')
  })

  it('two edits made before the mirror has answered are both applied', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await mirror.sync()
    const first = world.read(1)
    world.write(1, { ...first, description: 'a' })
    await mirror.sync()
    // The same author, who has not read the answer.
    world.write(1, { ...first, description: 'b' })
    expect(await mirror.sync()).toMatchObject({ imported: ['task_1.json'], refused: [] })
    expect(await world.task(1)).toMatchObject({ description: 'b' })
  })

  it.each([
    ['a lower number', [1, 2, 3]],
    ['a higher number', [3, 2, 1]],
  ] as const)(
    'edits of several files at once hold together when the completed blocker has %s than the task that starts',
    async (_which, [first, second, third]) => {
      const world = await openWorld()
      for (const subject of ['a', 'b', 'c']) await world.add(subject)
      await world.call('board:update', { id: second, addBlockedBy: [first] })
      await world.call('board:update', { id: third, addBlockedBy: [second] })
      const mirror = await world.open()
      await mirror.sync()
      world.edit(first, { status: 'completed' })
      world.edit(second, { status: 'completed' })
      world.edit(third, { status: 'in_progress', owner: 'alice' })
      const report = await mirror.sync()
      expect(report.refused).toEqual([])
      expect([...report.imported].sort()).toEqual(['task_1.json', 'task_2.json', 'task_3.json'])
      expect(await world.task(first)).toMatchObject({ status: 'completed' })
      expect(await world.task(third)).toMatchObject({ status: 'in_progress', owner: 'alice' })
      expect(world.read(third)).toMatchObject({ status: 'in_progress', blockedBy: [] })
      expect(await mirror.sync()).toEqual(nothing)
    },
  )

  it('an edit that still does not fit after the others of its pass is refused, and its file shows the board again', async () => {
    const world = await openWorld()
    for (const subject of ['a', 'b', 'c']) await world.add(subject)
    await world.call('board:update', { id: 1, addBlockedBy: [2, 3] })
    const mirror = await world.open()
    await mirror.sync()
    world.edit(1, { status: 'in_progress', owner: 'alice' })
    world.edit(3, { status: 'completed' })
    const report = await mirror.sync()
    expect(report.imported).toEqual(['task_3.json'])
    expect(report.refused).toEqual([
      expect.objectContaining({
        file: 'task_1.json',
        why: expect.stringContaining('blocked by [2]'),
        copy: expect.any(String),
      }),
    ])
    expect(world.read(1)).toMatchObject({ status: 'pending', blockedBy: [2] })
  })

  it('changes of key order or spacing alone are ignored', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await mirror.sync()
    const before = world.text(1)
    world.write(1, JSON.stringify(Object.fromEntries(Object.entries(world.read(1)).reverse())))
    expect(await mirror.sync()).toEqual({ ...nothing, written: ['task_1.json'] })
    expect(world.text(1)).toBe(before)
  })
})

describe('A forbidden edit is refused as a whole, reported, kept as a copy, and the file is restored', () => {
  const cases: Array<[string, (world: Awaited<ReturnType<typeof openWorld>>) => Promise<[number, object]>, RegExp]> = [
    ['to begin what is blocked', async () => [2, { status: 'in_progress' }], /blocked by \[1\]/],
    [
      'to complete what is blocked, with other words beside',
      async () => [2, { status: 'completed', subject: 'x' }],
      /blocked by \[1\]/,
    ],
    [
      'to reopen what is completed',
      async (world) => {
        await world.call('board:update', { id: 1, status: 'completed' })
        return [1, { status: 'pending' }]
      },
      /cannot become pending/,
    ],
    ['to close a cycle', async () => [1, { blockedBy: [2] }], /each other|cannot come after/],
    ['to come after itself', async () => [1, { blockedBy: [1] }], /cannot come after/],
    ['to come after an unknown task', async () => [1, { blockedBy: [99], subject: 'x' }], /Task 99 not found/],
    ['to say a state that there is none of', async () => [1, { status: 'done' }], /status/],
    ['to have no subject', async () => [1, { subject: ' ' }], /subject/],
    ['to write the engine’s own word', async () => [1, { canonicalStatus: 'completed' }], /only the engine writes it/],
    ['to move below another', async () => [1, { parent: 2 }], /cannot move a task/],
    [
      'to complete what another holds under a lease',
      async (world) => {
        await world.call('board:claim', { id: 1, as: 'alice', leaseMs: 60_000 })
        return [1, { status: 'completed' }]
      },
      /lease|fence/,
    ],
    [
      'to complete in another’s name',
      async (world) => {
        await world.call('board:claim', { id: 1, as: 'alice' })
        return [1, { status: 'completed', owner: 'bob' }]
      },
      /alice/,
    ],
    [
      'to begin what is meant for another',
      async (world) => {
        await world.call('board:update', { id: 1, owner: 'alice' })
        return [1, { status: 'in_progress', owner: 'bob' }]
      },
      /alice/,
    ],
    ['to be of a version that is yet to come', async () => [1, { version: 99, subject: 'x' }], /version 99/],
  ]
  it.each(cases)('a mirror refuses an edit %s', async (_what, prepare, why) => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await world.add('two', { blockedBy: [1] })
    const [number, changes] = await prepare(world)
    await mirror.sync()
    const before = world.text(number)
    const was = await world.task(number)
    world.edit(number, changes as Record<string, unknown>)
    const edited = world.text(number)
    const report = await mirror.sync()
    expect(report.imported).toEqual([])
    expect(report.refused).toHaveLength(1)
    expect(report.refused[0]?.why).toMatch(why)
    expect(world.text(report.refused[0]?.copy as string)).toBe(edited)
    expect(world.text(number)).toBe(before)
    expect(await world.task(number)).toEqual(was)
  })

  it('a copy of a refused edit does not overwrite an earlier copy', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await mirror.sync()
    for (const status of ['a', 'b', 'a']) {
      world.edit(1, { status })
      await mirror.sync()
    }
    expect(readdirSync(world.at('refused')).sort()).toEqual(['task_1.refused-1.json', 'task_1.refused-2.json'])
  })

  it('a refused edit of which no copy can be kept stays in its file', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await mirror.sync()
    writeFileSync(world.at('refused'), 'in the way')
    world.edit(1, { status: 'done' })
    expect((await mirror.sync()).refused[0]?.why).toContain('No copy could be kept')
    expect(world.read(1)).toMatchObject({ status: 'done' })
    expect(world.text('refused')).toBe('in the way')
  })

  it('a file removed by hand is written again, so that a checkout deletes no task', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await mirror.sync()
    const before = world.text(1)
    rmSync(world.at(1))
    const report = await mirror.sync()
    expect(report.refused).toMatchObject([{ file: 'task_1.json', why: expect.stringContaining('board:delete') }])
    expect(world.text(1)).toBe(before)
  })
})

describe('A new file', () => {
  it('S4-005 S4-006 a new file creates the task of its number, and later numbers are higher', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    world.write(7, { subject: 'seven', status: 'in_progress', owner: 'bob', blocks: [8], mood: 'good' })
    world.write(8, { id: 8, subject: 'eight', blockedBy: [1] })
    const report = await mirror.sync()
    expect(report).toMatchObject({ imported: ['task_7.json', 'task_8.json'], refused: [], unheld: [] })
    expect(world.read(7)).toMatchObject({
      id: 7,
      status: 'in_progress',
      owner: 'bob',
      blocks: [8],
      mood: 'good',
      version: 1,
    })
    expect(world.read(8)).toMatchObject({ blockedBy: [1, 7] })
    expect(await world.add('next')).toBe(9)
    await world.call('board:delete', { id: 9 })
    expect(await world.add('next')).toBe(10)
  })

  it('S4-006 a new file with a number assigned before is refused and kept as a copy', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    await world.add('one')
    await world.call('board:delete', { id: 1 })
    world.write(1, { subject: 'again' })
    expect((await mirror.sync()).refused).toMatchObject([
      { file: 'task_1.json', copy: 'refused/task_1.refused-1.json' },
    ])
    expect(world.names()).toEqual([])
  })

  it('a new file with an excessive number is refused, because it would use up the numbers below it', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    world.write('task_999999999999999.json', { subject: 'huge' })
    expect((await mirror.sync()).refused).toHaveLength(1)
    expect(await world.add('one')).toBe(1)
  })

  it('a file of another ledger is left unchanged', async () => {
    const [one, two] = [await openWorld(), await openWorld()]
    await one.add('theirs')
    await (await one.open()).sync()
    const text = one.text(1)
    two.write(1, text)
    await two.add('ours')
    const mirror = await two.open()
    expect((await mirror.sync()).skipped).toMatchObject([
      { file: 'task_1.json', why: expect.stringContaining('another ledger') },
    ])
    expect(two.text(1)).toBe(text)
    two.write(5, text.replace('"id": 1', '"id": 5'))
    expect((await mirror.sync()).skipped).toHaveLength(2)
    expect(await two.call('board:list', {})).toMatchObject({ tasks: [{ id: 1 }] })
  })
})

describe('What is not a task file', () => {
  it('S4-010 S4-013 corrupt, foreign, oversized, linked and misnamed files are reported and left unchanged', async () => {
    const world = await openWorld()
    const mirror = await world.open()
    for (let number = 1; number <= 10; number++) await world.add(`task ${number}`)
    await mirror.sync()
    const outside = join(createFolder(), 'secret.json')
    writeFileSync(outside, '{"id": 4, "subject": "secret"}')
    world.write(1, '{ "id": 1, "subject": ')
    world.write(2, '[]')
    world.write(3, { ...world.read(3), id: 30 })
    rmSync(world.at(4))
    symlinkSync(outside, world.at(4))
    rmSync(world.at(5))
    mkdirSync(world.at(5))
    world.write(6, `{"subject": "${'x'.repeat(1_100_000)}"}`)
    world.write(7, '{"id": 7, "subject": "a", "big": 12345678901234567890}')
    writeFileSync(world.at(8), Buffer.from([0x7b, 0xff, 0xfe, 0x7d]))
    linkSync(world.at(9), join(createFolder(), 'second-name'))
    world.write('task_0.json', '{}')
    world.write('task_01.json', '{}')
    world.write('task_x.json', '{}')
    world.write('notes.json', '{}')
    world.edit(10, { subject: 'still taken' })
    for (let number = 1; number <= 9; number++) await world.call('board:update', { id: number, priority: 1 })
    const report = await mirror.sync()
    expect(report.skipped.map(({ file }) => file).sort()).toEqual(
      [
        'task_0.json',
        'task_01.json',
        'task_x.json',
        ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `task_${n}.json`),
      ].sort(),
    )
    expect(report).toMatchObject({ imported: ['task_10.json'], refused: [], written: ['task_10.json'] })
    expect(world.text(1)).toBe('{ "id": 1, "subject": ')
    expect(await world.call('board:list', {})).toMatchObject({ tasks: expect.objectContaining({ length: 10 }) })
    // Reported again by each requested pass, until the file is corrected.
    expect((await mirror.sync()).skipped).toHaveLength(12)
    rmSync(world.at(4))
    world.edit(9, { description: 'x' })
    renameSync(world.at(9), world.at('copy'))
    rmSync(world.at(9), { force: true })
    writeFileSync(world.at(9), world.text('copy'))
    await mirror.sync()
    expect(world.read(4)).toMatchObject({ subject: 'task 4', priority: 1 })
    expect(world.read(9)).toMatchObject({ description: 'x', priority: 1 })
    expect({}).not.toHaveProperty('polluted')
  })

  it('a mirror resolves a linked folder once and does not follow later changes of the link', async () => {
    const [first, second, above] = [createFolder(), createFolder(), createFolder()]
    const link = join(above, 'link')
    symlinkSync(first, link)
    const world = await openWorld(':memory:', link)
    await world.add('one')
    const mirror = await world.open()
    expect(mirror.dir).toBe(first)
    rmSync(link)
    symlinkSync(second, link)
    await mirror.sync()
    expect(readdirSync(first)).toContain('task_1.json')
    expect(readdirSync(second)).toEqual([])
    renameSync(first, `${first}-moved`)
    symlinkSync(second, first)
    await expect(mirror.sync()).rejects.toThrow(/now a link to/)
    expect(readdirSync(second)).toEqual([])
    rmSync(first)
    renameSync(`${first}-moved`, first)
  })
})

describe('Ownership of the folder', () => {
  it('boards and ledgers cannot share a folder', async () => {
    const world = await openWorld()
    const parent = await world.add('epic')
    await world.call('board:open', { board: 'small', parent })
    await world.open()
    await expect(world.open({ board: 'small' })).rejects.toMatchObject({ code: 'KEY_CONFLICT' })
    const other = await openWorld(':memory:', world.dir)
    await expect(other.open()).rejects.toMatchObject({ code: 'KEY_CONFLICT' })
  })

  it('of two mirrors one writes, and the other takes over when it closes', async () => {
    const world = await openWorld()
    const [first, second] = [await world.open(), await world.open()]
    await world.add('one')
    expect((await first.sync()).written).toEqual(['task_1.json'])
    await world.add('two')
    expect(await second.sync()).toEqual({ ...nothing, standingBy: true })
    expect(world.names()).toEqual(['task_1.json'])
    await first.close()
    expect((await second.sync()).written).toEqual(['task_2.json'])
    await expect(first.sync()).rejects.toThrow(ErrandError)
  })

  it('mirrorBoard refuses invalid options, unknown boards and values that are not an engine', async () => {
    const world = await openWorld()
    await expect(world.open({ dirr: 'x' } as object)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
    await expect(world.open({ board: 'nope' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    writeFileSync(world.at('file'), '')
    await expect(world.open({ dir: world.at('file') })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    const { mirrorBoard } = await import('../../../src/index.ts')
    await expect(mirrorBoard({}, { dir: world.dir })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('An edit without a change of status', () => {
  it.each(['in_progress', 'completed', 'failed', 'deleted'] as const)(
    'an edit without a change of status leaves a task that is %s in its status',
    async (status) => {
      const world = await openWorld()
      const mirror = await world.open()
      await world.add('one')
      await world.call('board:update', { id: 1, status, as: 'ann' })
      await mirror.sync()
      const before = await world.task(1)
      world.edit(1, { description: 'edited' })
      expect(await mirror.sync()).toMatchObject({ imported: ['task_1.json'], refused: [] })
      const { status: now, owner, fence, description } = await world.task(1)
      expect({ now, owner, fence, description }).toEqual({
        now: status,
        owner: before.owner,
        fence: before.fence,
        description: 'edited',
      })
    },
  )
})

describe('A mirror that stands by', () => {
  it('S4-007 sync of a standby mirror waits until the writing mirror has written creations and applied edits', async () => {
    const ledger = join(createFolder(), 'ledger.db')
    const writer = await openWorld(ledger)
    await writer.open({ watch: true, pollMs: 50 })
    const other = await openWorld(ledger, writer.dir)
    const mirror = await other.open()
    expect(await mirror.sync()).toMatchObject({ standingBy: true })
    for (let number = 1; number <= 10; number++) {
      expect(await other.add(`task ${number}`)).toBe(number)
      expect(await mirror.sync()).toMatchObject({ standingBy: true })
      expect(other.read(number)).toMatchObject({ id: number, subject: `task ${number}` })
    }
    for (let number = 1; number <= 10; number++) {
      other.edit(number, { description: `edited ${number}` })
      await mirror.sync()
      expect((await other.task(number)).description).toBe(`edited ${number}`)
    }
  })
})
