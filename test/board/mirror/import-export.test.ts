// Folders of other boards, imported and exported unchanged.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planImport } from '../../../src/board/mirror/import-plan.ts'
import { boardTools, createEngine, importBoard } from '../../../src/index.ts'
import { openLedger } from '../../../src/testing/index.ts'
import { failingLedger } from '../../memory/team/failing-ledger.ts'
import { runs } from '../../tier.ts'
import { createFolder, type FileJson, filesIn, openWorld } from './world.ts'

const seven = (id: number, subject: string, more: FileJson = {}): FileJson => ({
  id,
  subject,
  description: '',
  status: 'pending',
  blockedBy: [],
  blocks: [],
  owner: '',
  ...more,
})

describe('Import', () => {
  it('S4-012 importing a folder keeps numbers, edges, states and owners, and new tasks get higher numbers', async () => {
    const world = await openWorld()
    world.write(1, seven(1, 'Setup', { status: 'completed', blocks: [2, 3] }))
    world.write(2, seven(2, 'Write code', { status: 'in_progress', owner: 'alice' }))
    world.write(3, seven(3, 'Write tests', { blockedBy: [2], owner: 'bob' }))
    world.write(12, seven(12, 'Ship', { blockedBy: [2, 3], description: 'all of it' }))
    world.write(13, seven(13, 'Broken', { status: 'failed', owner: 'eve' }))
    world.write(14, seven(14, 'Dropped', { status: 'deleted' }))
    world.write(15, seven(15, 'By hand', { status: 'in_progress' }))
    const report = await world.import()
    expect(report).toMatchObject({ refused: [], skipped: [], unheld: [] })
    expect(report.imported).toHaveLength(7)
    expect(await world.task(1)).toMatchObject({ status: 'completed', blocks: [2, 3], owner: '' })
    expect(await world.task(2)).toMatchObject({
      status: 'in_progress',
      owner: 'alice',
      dependencies: [1],
      blocks: [3, 12],
    })
    expect(await world.task(3)).toMatchObject({ status: 'pending', owner: 'bob', blockedBy: [2], dependencies: [2, 1] })
    expect(await world.task(12)).toMatchObject({ blockedBy: [2, 3], description: 'all of it' })
    expect(await world.task(13)).toMatchObject({ status: 'failed', owner: 'eve' })
    expect(await world.task(14)).toMatchObject({ status: 'deleted', canonicalStatus: 'canceled' })
    expect(await world.task(15)).toMatchObject({ status: 'in_progress', owner: '', canonicalStatus: 'working' })
    expect(await world.add('next')).toBe(16)
  })

  it('S4-007 another process sees an imported folder', async () => {
    const one = await openWorld()
    const tools = boardTools(one.engine, { as: 'alice' })
    await tools.dispatch('task_create', { subject: 'seen' })
    tools.close()
    await (await one.open()).sync()
    const two = await openWorld()
    expect(await two.import(one.dir)).toMatchObject({ imported: ['task_1.json'] })
    expect(await two.task(1)).toMatchObject({ subject: 'seen' })
  })

  it('importBoard reads files named by their number alone, as Claude Code writes them', async () => {
    const world = await openWorld()
    writeFileSync(join(world.dir, '1.json'), JSON.stringify({ id: '1', subject: 'bare', status: 'pending' }))
    writeFileSync(join(world.dir, '2.json'), JSON.stringify({ id: '2', subject: 'twice' }))
    world.write(2, seven(2, 'its own name'))
    writeFileSync(join(world.dir, '.highwatermark'), '2')
    expect(await world.import()).toMatchObject({
      imported: ['task_1.json', 'task_2.json'],
      skipped: [{ file: '2.json', why: 'task_2.json has the same number' }],
    })
    expect([(await world.task(1)).subject, (await world.task(2)).subject]).toEqual(['bare', 'its own name'])
  })

  it('importBoard reads files with missing keys, ids as text, and the keys of Claude Code', async () => {
    const world = await openWorld()
    world.write(1, { subject: 'bare' })
    world.write(2, {
      id: '2',
      subject: 'like Claude Code',
      description: 'x',
      activeForm: 'Doing it',
      status: 'in_progress',
      owner: null,
      blocks: ['3'],
      blockedBy: [],
      metadata: { a: 1 },
    })
    world.write(3, { id: '3', subject: 'after', status: 'pending', blocks: [], blockedBy: ['2'] })
    expect(await world.import()).toMatchObject({ refused: [], skipped: [], unheld: [] })
    expect(await world.task(2)).toMatchObject({ activeForm: 'Doing it', metadata: { a: 1 }, blocks: [3] })
    const out = filesIn(createFolder())
    await world.export(join(out.at('.')))
    for (const number of [1, 2, 3]) expect(out.read(number)).toEqual(world.read(number))
  })

  it('S4-010 S4-013 an import reports unreadable files and continues', async () => {
    const world = await openWorld()
    world.write(1, seven(1, 'good'))
    world.write(2, '{"id": 2,')
    world.write(3, seven(4, 'another’s id'))
    world.write(4, seven(4, ''))
    world.write(5, seven(5, 'odd state', { status: 'sleeping' }))
    world.write(6, '{"subject": "big", "n": 12345678901234567890}')
    world.write('task_7', seven(7, 'no extension'))
    world.write('task_..%2f8.json', seven(8, 'a path'))
    world.write('task_-9.json', seven(9, 'negative'))
    const outside = join(createFolder(), 'x.json')
    writeFileSync(outside, JSON.stringify(seven(10, 'outside')))
    symlinkSync(outside, world.at(10))
    mkdirSync(world.at(11))
    const report = await world.import()
    expect(report.imported).toEqual(['task_1.json'])
    expect(report.skipped.map(({ file }) => file).sort()).toEqual(
      [
        'task_-9.json',
        'task_..%2f8.json',
        'task_2.json',
        'task_3.json',
        'task_6.json',
        'task_10.json',
        'task_11.json',
      ].sort(),
    )
    expect(report.refused.map(({ file }) => file)).toEqual(['task_4.json', 'task_5.json'])
  })

  it('S4-012 an import names values that the board cannot store, and an export restores them', async () => {
    const world = await openWorld()
    const files: Record<number, FileJson> = {
      1: seven(1, 'dangling', { blockedBy: [99] }),
      2: seven(2, 'cycle a', { blockedBy: [3] }),
      3: seven(3, 'cycle b', { blockedBy: [2] }),
      4: seven(4, 'itself', { blockedBy: [4] }),
      5: seven(5, 'too early', { status: 'in_progress', owner: 'x', blockedBy: [1] }),
      6: seven(6, 'done early', { status: 'completed', blockedBy: [1] }),
      7: seven(7, 'other words', { priority: 'high', tags: 'a,b', metadata: [1] }),
      8: seven(8, '  spaced  ', { owner: ' y ' }),
      9: seven(9, 'one-sided', { blocks: [10] }),
      10: seven(10, 'one-sided too'),
    }
    for (const [number, value] of Object.entries(files)) world.write(Number(number), value)
    const report = await world.import()
    expect(report.imported).toHaveLength(10)
    expect(report.unheld.map(({ file, key }) => `${file} ${key}`)).toEqual([
      'task_1.json blockedBy',
      'task_3.json blockedBy',
      'task_4.json blockedBy',
      'task_5.json status',
      'task_6.json blockedBy',
      'task_7.json priority',
      'task_7.json metadata',
      'task_7.json tags',
    ])
    const out = filesIn(createFolder())
    await world.export(out.at('.'))
    for (const [number, value] of Object.entries(files))
      expect(out.text(Number(number))).toBe(JSON.stringify(value, null, 2))
    // What has changed since is exported as it is now.
    await world.call('board:update', { id: 5, subject: 'renamed' })
    await world.call('board:update', { id: 7, priority: 3 })
    await world.export(out.at('.'))
    expect(out.read(5)).toEqual({ ...files[5], subject: 'renamed' })
    expect(out.read(7)).toEqual({ ...files[7], priority: 3 })
  })

  it('a second import of the same folder does nothing, and a taken number is refused', async () => {
    const world = await openWorld()
    world.write(1, seven(1, 'one'))
    world.write(2, seven(2, 'two'))
    await world.import()
    world.write(2, seven(2, 'changed'))
    expect(await world.import()).toMatchObject({
      imported: [],
      skipped: [{ file: 'task_1.json' }],
      refused: [{ file: 'task_2.json', why: expect.stringContaining('never assigns a number twice') }],
    })
  })

  it('a mirror of an imported folder recognizes its files and applies later edits', async () => {
    const world = await openWorld()
    world.write(1, seven(1, 'one'))
    world.write(2, seven(2, 'two', { priority: 'high' }))
    await world.import()
    world.edit(1, { subject: 'uno' })
    const mirror = await world.open()
    expect(await mirror.sync()).toMatchObject({ imported: ['task_1.json'], refused: [], skipped: [] })
    expect(world.read(1)).toMatchObject({ subject: 'uno', version: 1 })
    expect(world.read(2)).toMatchObject({ priority: 'high', version: 1 })
    world.edit(2, { priority: 4 })
    await mirror.sync()
    expect(await world.task(2)).toMatchObject({ priority: 4 })
  })

  it('an imported parent may follow its children, and none may be its own ancestor', () => {
    const task = (number: number, parent?: number) => ({
      number,
      status: 'pending' as const,
      blockedBy: [],
      blocks: [],
      parent,
    })
    const plan = planImport([task(1, 3), task(2, 1), task(3), task(4, 5), task(5, 4)], new Map())
    expect(plan.creation).toEqual([3, 1, 2, 5, 4])
    expect(plan.unheld).toEqual([{ number: 5, key: 'parent', why: expect.stringContaining('its own ancestor') }])
  })
})

describe('Export', () => {
  it("an export writes the seven keys without the engine's, and leaves equal files untouched", async () => {
    const world = await openWorld()
    await world.add('one')
    await world.add('two', { blockedBy: [1] })
    expect((await world.export()).written).toEqual(['task_1.json', 'task_2.json'])
    expect(world.text(2)).toBe(JSON.stringify(seven(2, 'two', { blockedBy: [1] }), null, 2))
    expect(await world.export()).toMatchObject({ written: [], skipped: [] })
    world.write(1, 'broken')
    expect(await world.export()).toMatchObject({ written: [], skipped: [{ file: 'task_1.json' }] })
    expect(world.text(1)).toBe('broken')
  })
})

describe('Any folder', () => {
  const word = fc.stringMatching(/^[a-zä-ö🚀 ]{1,12}$/u).filter((text) => text.trim() !== '')
  const ref = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }).map(String))
  const odd = fc.oneof(
    fc.constant('high'),
    fc.constant(null),
    fc.integer(),
    fc.array(word, { maxLength: 2 }),
    fc.dictionary(word, fc.jsonValue()),
  )
  const file = fc.record(
    {
      subject: word,
      description: fc.oneof(fc.string(), fc.constant(null)),
      status: fc.constantFrom('pending', 'in_progress', 'completed', 'failed', 'deleted'),
      blockedBy: fc.array(ref, { maxLength: 3 }),
      blocks: fc.array(ref, { maxLength: 3 }),
      owner: fc.oneof(fc.constant(''), word, fc.constant(null)),
      activeForm: fc.oneof(word, odd),
      priority: odd,
      metadata: odd,
      role: odd,
      tags: odd,
      parent: fc.oneof(ref, odd),
      workspace: fc.oneof(fc.constant('/w'), odd),
      version: fc.integer({ min: 1, max: 3 }),
      canonicalStatus: word,
      note: fc.jsonValue(),
    },
    { requiredKeys: ['subject'] },
  )
  const folder = fc.uniqueArray(
    fc.record({
      number: fc.integer({ min: 1, max: 9 }),
      file,
      newline: fc.boolean(),
      withId: fc.constantFrom('number', 'text', 'none'),
    }),
    { selector: ({ number }) => number, minLength: 1, maxLength: 7 },
  )
  const storable = (value: unknown): boolean => !/\\u0000|\\u[dD][89a-fA-F]/.test(JSON.stringify(value))

  it('S4-012 an exported folder equals the imported one, byte for byte where it was two-space JSON', async () => {
    await fc.assert(
      fc.asyncProperty(folder.filter(storable), async (files) => {
        const world = await openWorld()
        const texts = new Map<number, string>()
        for (const { number, file: value, newline, withId } of files) {
          const id = withId === 'none' ? {} : { id: withId === 'text' ? String(number) : number }
          const text = `${JSON.stringify({ ...id, ...value }, null, 2)}${newline ? '\n' : ''}`
          texts.set(number, text)
          world.write(number, text)
        }
        const report = await world.import()
        expect([...report.refused, ...report.skipped]).toEqual([])
        const out = createFolder()
        await world.export(out)
        for (const [number, text] of texts) expect(readFileSync(join(out, `task_${number}.json`), 'utf8')).toBe(text)
        // And through a mirror of the folder, which writes its own keys meanwhile.
        const mirror = await world.open()
        expect(await mirror.sync()).toMatchObject({ refused: [], skipped: [], imported: [] })
        const again = createFolder()
        await world.export(again)
        for (const [number, text] of texts) expect(readFileSync(join(again, `task_${number}.json`), 'utf8')).toBe(text)
        await world.engine.close()
      }),
      { numRuns: runs(8, 60) },
    )
  })
})

it('an import of a chain takes as many statements for each task, however long the chain is', async () => {
  const statementsFor = async (length: number, next: 1 | -1) => {
    const inner = await openLedger(':memory:')
    const { ledger, statements } = failingLedger(inner, { step: 'import files', after: null, strike: () => {} })
    const engine = await createEngine({ ledger, work: false })
    const dir = createFolder()
    for (let id = 1; id <= length; id++) {
      const blocker = id + next
      const blockedBy = blocker >= 1 && blocker <= length ? [blocker] : []
      writeFileSync(join(dir, `task_${id}.json`), JSON.stringify(seven(id, `task ${id}`, { blockedBy })))
    }
    const { imported, unheld } = await importBoard(engine, { dir })
    expect([imported.length, unheld]).toEqual([length, []])
    await engine.close()
    await inner.close()
    return statements() / length
  }
  for (const next of [-1, 1] as const) {
    expect(await statementsFor(120, next)).toBeLessThan(1.2 * (await statementsFor(30, next)))
  }
})
