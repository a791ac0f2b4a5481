// Every status × every requested status × every owner × blocked or not: the outcome, and that a refusal changes nothing. The tables are
// the specification; each line has the outcomes of the five requested statuses in their order.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import { type BoardStatus, boardStatuses } from '../../src/entities/board.ts'
import { openEngine } from '../engine/world.ts'
import { codeOf, everything, taskOf } from './world.ts'

type Whose = 'alice' | 'bob' | 'none'
const names: Record<Whose, string> = { alice: 'alice', bob: 'bob', none: '' }

/** Creates a task in a status; a `blocked` one depends on a pending task. Resolves to its number. */
async function taskIn(engine: Engine, status: BoardStatus, whose: Whose, blocked = false): Promise<number> {
  const first = blocked ? [(await engine.bus.call('board:create', { subject: 'before' })).task.id] : []
  const { task } = await engine.bus.call('board:create', { subject: 'it', blockedBy: first })
  const { id } = task
  const owner = names[whose]
  const by = owner === '' ? {} : { as: owner }
  if (status === 'pending' || status === 'deleted') {
    if (owner !== '') await engine.bus.call('board:update', { id, owner })
    if (status === 'deleted') await engine.bus.call('board:update', { id, status })
    return id
  }
  await engine.bus.call('board:update', { id, status: 'in_progress', ...by })
  if (status !== 'in_progress') await engine.bus.call('board:update', { id, status, ...by })
  return id
}

/** The outcome of each requested status: the final owner, or the code of the refusal. */
async function outcomes(from: BoardStatus, whose: Whose, as: string | undefined, blocked = false): Promise<string[]> {
  const engine = (await openEngine({ autoStart: false })) as unknown as Engine
  const found: string[] = []
  for (const status of boardStatuses) {
    const id = await taskIn(engine, from, whose, blocked)
    expect(await taskOf(engine, id)).toMatchObject({ status: from, owner: names[whose] })
    const before = await everything(engine)
    const code = await codeOf(engine.bus.call('board:update', { id, status, ...(as === undefined ? {} : { as }) }))
    const after = await taskOf(engine, id)
    if (code === 'ok') expect([from, status, after.status]).toEqual([from, status, status])
    if (code !== 'ok' || from === status) expect(await everything(engine)).toBe(before)
    found.push(code === 'ok' ? after.owner || '-' : code)
    expect(after.canonicalStatus).toBe((await engine.get(after.taskId))?.status)
  }
  return found
}

/** The order of the outcomes: pending, in_progress, completed, failed, deleted. */
const line = (text: string) => text.trim().split(/\s+/)

describe('A status set by alice', () => {
  it.each<[BoardStatus, Whose, string]>([
    ['pending', 'none', '-       alice          alice      alice      -'],
    ['pending', 'alice', 'alice      alice          alice      alice      alice'],
    ['pending', 'bob', 'bob       NOT_CLAIMABLE  NOT_OWNER  NOT_OWNER  bob'],
    ['in_progress', 'none', '-       NOT_CLAIMABLE  -          -          -'],
    ['in_progress', 'alice', '-       alice          alice      alice      alice'],
    ['in_progress', 'bob', 'NOT_OWNER NOT_CLAIMABLE NOT_OWNER NOT_OWNER  bob'],
    ['failed', 'none', '-       alice          alice      -          -'],
    ['failed', 'alice', '-       alice          alice      alice      -'],
    ['failed', 'bob', '-       alice          alice      bob        -'],
  ])('S4-017 S4-055 each status set by alice on a task that is %s and owned by %s', async (from, whose, expected) => {
    expect(await outcomes(from, whose, 'alice')).toEqual(line(expected))
  })

  it.each<[BoardStatus, Whose]>([
    ['completed', 'none'],
    ['completed', 'alice'],
    ['completed', 'bob'],
    ['deleted', 'none'],
    ['deleted', 'alice'],
    ['deleted', 'bob'],
  ])('S4-031 no status set by alice changes a task that is %s and owned by %s', async (from, whose) => {
    const expected = boardStatuses.map((status) => (status === from ? names[whose] || '-' : 'INVALID_TRANSITION'))
    expect(await outcomes(from, whose, 'alice')).toEqual(expected)
  })

  it.each<[Whose, string]>([
    ['none', '-      BLOCKED  BLOCKED    BLOCKED    -'],
    ['alice', 'alice     BLOCKED  BLOCKED    BLOCKED    alice'],
    ['bob', 'bob      BLOCKED  NOT_OWNER  NOT_OWNER  bob'],
  ])('S4-030 each status set by alice on a blocked pending task owned by %s', async (whose, expected) => {
    expect(await outcomes('pending', whose, 'alice', true)).toEqual(line(expected))
  })
})

describe('A status set without a name', () => {
  it.each<[BoardStatus, Whose, string]>([
    ['pending', 'none', '-     -              -          -          -'],
    ['pending', 'bob', 'bob     NOT_OWNER      NOT_OWNER  NOT_OWNER  bob'],
    ['in_progress', 'none', '-     -              -          -          -'],
    ['in_progress', 'bob', 'NOT_OWNER NOT_CLAIMABLE  NOT_OWNER  NOT_OWNER  bob'],
    ['failed', 'bob', '-     -              -          bob        -'],
  ])('S4-017 each status set without a name on a task that is %s and owned by %s', async (from, whose, expected) => {
    expect(await outcomes(from, whose, undefined)).toEqual(line(expected))
  })
})

describe('A task that rests', () => {
  /** Owned by alice and paused by hand. */
  async function resting(state: 'paused' | 'input_required' | 'waiting', owner = 'alice') {
    const engine = (await openEngine()) as unknown as Engine
    const { taskId } = (await engine.bus.call('board:create', { subject: 'it' })).task
    const task = owner === '' ? await engine.start(taskId) : await engine.claim(taskId, { owner })
    await engine.update(task as { id: string }, { status: state })
    expect(await taskOf(engine, 1)).toMatchObject({ status: 'in_progress', canonicalStatus: state, owner })
    return engine
  }

  it.each([
    ['paused', 'alice'],
    ['waiting', 'alice'],
    ['paused', ''],
    ['waiting', ''],
  ] as const)(
    'S4-017 a resting task (%s, of "%s") is completed, failed and returned to pending along legal edges',
    async (state, owner) => {
      for (const status of ['completed', 'failed', 'pending'] as const) {
        const engine = await resting(state, owner)
        const { task } = await engine.bus.call('board:update', {
          id: 1,
          status,
          ...(owner === '' ? {} : { as: owner }),
        })
        expect(task).toMatchObject({ status, owner: status === 'pending' ? '' : owner })
        expect(task.ready).toBe(status === 'pending')
      }
    },
  )

  it('a task that waits for an answer can be neither completed nor returned to pending, and nothing changes', async () => {
    for (const status of ['completed', 'failed', 'pending'] as const) {
      const engine = await resting('input_required')
      const before = await everything(engine)
      expect(await codeOf(engine.bus.call('board:update', { id: 1, status, as: 'alice', subject: 'other' }))).toBe(
        'INVALID_TRANSITION',
      )
      expect(await everything(engine)).toBe(before)
    }
  })

  it('S4-055 a resting task can be ended only by its owner', async () => {
    for (const state of ['paused', 'input_required', 'waiting'] as const) {
      for (const status of ['completed', 'failed', 'pending'] as const) {
        const engine = await resting(state)
        const before = await everything(engine)
        expect([state, status, await codeOf(engine.bus.call('board:update', { id: 1, status, as: 'bob' }))]).toEqual([
          state,
          status,
          'NOT_OWNER',
        ])
        expect(await everything(engine)).toBe(before)
      }
    }
  })

  it('S4-057 a paused task that is released stays paused and is claimable after it resumes', async () => {
    const engine = await resting('paused')
    const { task } = await engine.bus.call('board:release', { id: 1, as: 'alice' })
    expect(task).toMatchObject({ status: 'in_progress', canonicalStatus: 'paused', owner: '' })
    await engine.resume(task.taskId)
    expect(await taskOf(engine, 1)).toMatchObject({ status: 'pending', ready: true })
  })
})
