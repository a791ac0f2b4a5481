// Hostile input on the board: long, odd and foreign texts, keys with a meaning in JavaScript, lists of thousands.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refusalOf } from '../engine/world.ts'
import { runs } from '../tier.ts'
import { openBoard, taskOf } from './world.ts'

describe('A subject', () => {
  it.each([
    ['emoji and scripts', 'Füge 🧪 tests für 漢字 & عربي hinzu', undefined],
    ['lines', 'first\nsecond\r\n\tthird', 'first second third'],
    ['what looks like the list', '[x] #7: done (blocked by: [1])', undefined],
    ['quotes and braces', '"}],\\{"', undefined],
    ['10,000 characters', 'x'.repeat(10_000), undefined],
    ['the id of a task', 'see task-abc', undefined],
    ['a separator of lines', 'a\u2028b\u0085c', 'a b\u0085c'],
  ])(
    'S4-011 a subject with %s is returned unchanged and stays on one line of the list',
    async (_what, subject, line = subject) => {
      const { ask, say } = await openBoard()
      expect(await ask('task_create', { subject, description: subject })).toMatchObject({
        subject,
        description: subject,
      })
      expect(await ask('task_get', { task_id: 1 })).toMatchObject({ subject })
      expect(await say('task_list')).toBe(`[ ] #1: ${line}`)
      if (subject.includes('🧪')) expect(await say('task_get', { task_id: 1 })).toContain('🧪 tests für 漢字')
    },
  )

  it.each([
    ['10,001 characters', 'x'.repeat(10_001)],
    ['half a character', 'a\ud800b'],
    ['a NUL', 'a\0b'],
    ['no text', { subject: 'x' }],
  ])('S4-015 a subject with %s is refused and creates nothing', async (_what, subject) => {
    const { say } = await openBoard()
    expect(await say('task_create', { subject })).toMatch(/^Error: /)
    expect(await say('task_list')).toBe('No tasks.')
  })
})

describe('Metadata', () => {
  it('S4-037 metadata is merged key by key, null removes a key, and no key reaches a prototype: each is an own key', async () => {
    const { engine, ask, say } = await openBoard()
    await ask('task_create', { subject: 'a', metadata: { kept: 1, gone: [1], toString: 'y' } })
    const update = (metadata: unknown) => ask('task_update', { task_id: 1, metadata })
    expect(await update({ gone: null, deep: { n: [1, { m: null }] } })).toMatchObject({
      metadata: { kept: 1, toString: 'y', deep: { n: [1, { m: null }] } },
    })
    expect((await taskOf(engine, 1)).metadata).not.toHaveProperty('gone')
    expect(await update({ hasOwnProperty: 'mine', toString: null })).toMatchObject({
      metadata: { hasOwnProperty: 'mine', kept: 1 },
    })
    for (const key of ['__proto__', 'constructor', 'prototype']) {
      const odd = JSON.parse(`{"${key}": {"polluted": true}}`) as Record<string, unknown>
      await ask('task_update', { task_id: 1, metadata: odd })
      expect(Object.entries((await taskOf(engine, 1)).metadata)).toContainEqual([key, { polluted: true }])
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(await say('task_update', JSON.parse('{"task_id": 1, "__proto__": {"status": "completed"}}'))).toMatch(
      /^Error: /,
    )
    expect((await taskOf(engine, 1)).status).toBe('pending')
    for (const metadata of [[], 'x', 7, { f: () => 1 }, { n: Number.NaN }])
      expect(await say('task_update', { task_id: 1, metadata })).toMatch(/^Error: /)
  })
})

describe('Hostile input of a model', () => {
  it('S4-039 the tools answer hostile input with text and leave the board readable', async () => {
    const { engine, tools, ask, say } = await openBoard()
    await ask('task_create', { subject: 'a' })
    const keys = ['task_id', 'subject', 'status', 'addBlockedBy', 'addBlocks', 'owner', 'metadata', 'id', '__proto__']
    const values = fc.oneof(
      fc.constantFrom('completed', 'in_progress', 'pending', 1, '1', '[1]', [1], null, {}, -1, 'task-x'),
      fc.jsonValue({ maxDepth: 2 }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('task_create', 'task_update', 'task_get', 'task_list'),
        fc.oneof(fc.dictionary(fc.constantFrom(...keys), values), fc.jsonValue({ maxDepth: 2 })),
        async (tool, input) => {
          const answer = await tools.dispatch(tool, input)
          expect(typeof answer).toBe('string')
          if (!answer.startsWith('Error: ') && tool !== 'task_list')
            expect(JSON.parse(answer)).toMatchObject({ id: expect.any(Number) as number })
        },
      ),
      { numRuns: runs(50, 300), seed: 7 },
    )
    const listed = (await engine.bus.call('board:list', { limit: 10_000 })).tasks
    expect((await say('task_list')).split('\n')).toHaveLength(listed.length)
    expect(listed.map(({ id }) => id)).toEqual(listed.map((_, n) => n + 1))
  })
})

describe('Numbers of a task', () => {
  it('numbers beyond the range of the tables are refused by every ability', async () => {
    const { engine, say } = await openBoard()
    for (const priority of [1e9 + 1, -1e9 - 1, 1.5, Number.NaN, Number.MAX_SAFE_INTEGER]) {
      expect(await say('task_create', { subject: 'a', priority })).toMatch(/^Error: .*priority/)
      await refusalOf(engine.bus.call('board:create', { subject: 'a', priority }), 'INVALID_INPUT')
    }
    expect(await say('task_create', { subject: 'a', priority: -1e9 })).toContain('"priority": -1000000000')
    for (const priority of [1e9 + 1, 0.5])
      await refusalOf(engine.bus.call('board:update', { id: 1, priority }), 'INVALID_INPUT')
    await refusalOf(engine.bus.call('board:get', { id: Number.MAX_SAFE_INTEGER }), 'NOT_FOUND')
    expect((await engine.bus.call('board:update', { id: 1, tags: ['a', 'b', 'a'] })).task.tags).toEqual(['a', 'b'])
  })
})
