// The words that filter tasks by state, each against its design, row by row.
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { issuesIn, safeParse } from '../../src/core/parse.ts'
import { filterByStatus, statusFilterSchema, statusLabels } from '../../src/entities/status-filter.ts'
import type { TaskStatus } from '../../src/entities/task.ts'
import { openEngine, refusalOf, waysTo } from '../engine/world.ts'

/** The table of the conformance, 1.1, the other way round; where a word is one of the eight states, that state alone. */
const expected: Record<string, [states: TaskStatus[], released?: boolean]> = {
  submitted: [['submitted']],
  working: [['working']],
  paused: [['paused']],
  input_required: [['input_required']],
  waiting: [['waiting']],
  completed: [['completed']],
  failed: [['failed']],
  canceled: [['canceled']],
  pending: [['submitted', 'waiting'], true],
  running: [['working']],
  killed: [['canceled']],
  success: [['completed']],
  cancelled: [['canceled']],
  active: [['submitted', 'working', 'input_required', 'waiting']],
  in_progress: [['working', 'paused', 'input_required', 'waiting'], false],
  deleted: [['canceled']],
}

describe('A word for a state', () => {
  it('X-019 C-05 a status word means the states of its design, and a state means itself', () => {
    expect([...statusLabels].sort()).toEqual(Object.keys(expected).sort())
    for (const [word, [statuses, released]] of Object.entries(expected)) {
      expect([word, filterByStatus(word as never)]).toEqual([
        word,
        released === undefined ? { statuses } : { statuses, released },
      ])
    }
  })

  it('several status words find the union of their tasks', () => {
    expect(filterByStatus(['completed', 'killed'])).toEqual({ statuses: ['completed', 'canceled'] })
    expect(filterByStatus(['pending', 'running'])).toEqual({
      statuses: ['submitted', 'waiting', 'working'],
      released: true,
    })
    const all = ['submitted', 'waiting', 'working', 'paused', 'input_required']
    expect(filterByStatus(['pending', 'in_progress'])).toEqual({ statuses: all })
    expect(filterByStatus(['in_progress', 'waiting']).released).toBeUndefined()
  })

  it('an unknown status word is refused with the nearest known one', () => {
    const messageOf = (given: unknown) => issuesIn(safeParse(statusFilterSchema, given).error as z.ZodError)[0]?.message
    expect(messageOf('runing')).toMatch(/got "runing"\. Did you mean "running"\?$/)
    expect(messageOf(['completed', 'kiled'])).toMatch(/got "kiled"\. Did you mean "killed"\?$/)
    expect(messageOf('nothing of the kind')).toMatch(
      /^expected one of submitted, .*deleted or a list, got "nothing of the kind"$/,
    )
    expect(statusFilterSchema.safeParse([]).success).toBe(false)
    expect(messageOf(7)).toMatch(/deleted or a list$/)
    expect(messageOf('constructor')).toMatch(/got "constructor"/)
  })

  it('X-019 a status word finds the same tasks on every surface', async () => {
    const engine = await openEngine()
    for (const [status, way] of Object.entries(waysTo)) {
      const task = await engine.create({ name: status })
      for (const next of way) await engine.update(task, { status: next })
    }
    await engine.release(await engine.claim(await engine.create({ name: 'released one' }), { owner: 'ann' }))
    for (const [word, [states, released]] of Object.entries(expected)) {
      const names = states.filter((state) => !(state === 'waiting' && released === true))
      if (states.includes('waiting') && released !== false) names.push('released one' as TaskStatus)
      const listed = (await engine.list({ status: word as never })).tasks.map(({ name }) => name)
      const { tasks } = await engine.bus.call('task:list', { status: [word as never] })
      expect([word, listed.sort()]).toEqual([word, [...names].sort()])
      expect([word, tasks.map(({ name }) => name).sort()]).toEqual([word, [...names].sort()])
    }
    const refusal = await refusalOf(engine.list({ status: 'complet' as never }), 'INVALID_INPUT')
    expect(refusal.message).toContain('Did you mean "completed"?')
    await refusalOf(engine.bus.call('task:list', { status: 'complet' as never }), 'INVALID_INPUT')
  })
})
