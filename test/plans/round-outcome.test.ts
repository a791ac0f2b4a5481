// The outcome of a round, whether its tasks go on without help, and the summary of a run.
import { describe, expect, it } from 'vitest'
import type { Task } from '../../src/entities/task.ts'
import { roundOutcome } from '../../src/plans/follow-round.ts'
import { isProgressing } from '../../src/plans/idle.ts'
import type { KnownRound } from '../../src/plans/round.ts'
import { lastLines, summarize } from '../../src/surfaces/cli/run-summary.ts'
import { createPaint } from '../../src/surfaces/terminal/paint.ts'
import { planOf } from '../surfaces/cli/plan-text.ts'
import { taskOf } from '../surfaces/cli/task-of.ts'

const plan = planOf(
  'tasks: { a: { run: a }, g: { after: a, tasks: { b: { run: b }, c: { run: c, after: b } } }, d: { run: d, after: g }, e: { run: e } }',
)
const mark = { path: '', generation: 0, edges: 0, definition: '', folder: '/plans', invocation: 'i', held: false }

function roundOf(fields: Record<string, Partial<Task>>): KnownRound {
  const newest = Object.entries(fields).map(
    ([path, each]) => [path, { task: taskOf({ name: path, ...each }), mark: { ...mark, path } }] as const,
  )
  return { newest: new Map(newest), nextGeneration: 1 }
}

const completed = { status: 'completed' } as const
const all = ['a', 'g/b', 'g/c', 'd', 'e']
const judge = (fields: Record<string, Partial<Task>>, needed = all) =>
  roundOutcome(plan, roundOf(fields), new Set(needed))
const names = (tasks: readonly Task[]) => tasks.map((task) => task.name)

describe('the outcome of a round', () => {
  it('a round is done when all tasks are completed', () => {
    expect(judge({ a: completed, 'g/b': completed, 'g/c': completed, d: completed, e: completed }).status).toBe('done')
  })

  it('a round is open when a task is queued, which needs no resume and no answer', () => {
    const queued = { ready: true, executor: 'shell' }
    const outcome = judge({ a: { ...queued, status: 'paused' }, e: { ...queued, status: 'input_required' } }, [
      'a',
      'e',
    ])
    expect([names(outcome.open), outcome.paused, outcome.asking, outcome.status]).toEqual([['a', 'e'], [], [], 'open'])
  })

  it('a round is done when the needed tasks are completed', () => {
    expect(judge({ a: completed, 'g/b': { status: 'submitted' } }, ['a']).status).toBe('done')
  })

  it.each(['failed', 'canceled'] as const)(
    'a round is failed when a task is %s, and lists the tasks that it blocks, through groups',
    (status) => {
      const outcome = judge({ a: completed, g: { status }, 'g/b': { status }, 'g/c': {}, d: {}, e: completed })
      expect(outcome.status).toBe('failed')
      expect(names(outcome.broken)).toEqual(['g/b'])
      expect(outcome.blocked.map(({ task, by }) => [task.name, names(by)])).toEqual([
        ['g/c', ['g/b']],
        ['d', ['g/b']],
      ])
    },
  )

  it('a round is failed when a task was deleted', () => {
    expect(judge({ a: completed, 'g/b': completed, 'g/c': completed, d: completed })).toMatchObject({
      status: 'failed',
      missing: ['e'],
    })
  })

  it('a round is open when tasks wait for an answer or a resume', () => {
    const outcome = judge({ a: { status: 'input_required' }, 'g/b': {}, 'g/c': {}, d: {}, e: { status: 'paused' } })
    expect(outcome.status).toBe('open')
    expect(names(outcome.asking)).toEqual(['a'])
    expect(names(outcome.paused)).toEqual(['e'])
    expect(names(outcome.open)).toEqual(['g/b', 'g/c', 'd'])
  })

  it('a round is failed when a task failed beside open questions', () => {
    expect(
      judge({ a: { status: 'input_required' }, 'g/b': {}, 'g/c': {}, d: {}, e: { status: 'failed' } }).status,
    ).toBe('failed')
  })
})

describe('isProgressing', () => {
  const question = { id: 'q', question: '?', for: 'person' as const, schema: null, askedAt: 0, dueAt: null }
  it.each<[string, Partial<Task>, Parameters<typeof isProgressing>[1], boolean]>([
    ['that is working', { status: 'working' }, undefined, true],
    ['that waits for a slot', { ready: true }, undefined, true],
    ['on a timer', {}, { reason: 'timer', at: 5 }, true],
    ['whose last run is closing', { status: 'paused' }, { reason: 'closing', at: null }, true],
    [
      'whose question times out',
      { status: 'input_required', questions: [{ ...question, dueAt: 5 }] },
      { reason: 'answer', at: null },
      true,
    ],
    [
      'whose question waits forever',
      { status: 'input_required', questions: [question] },
      { reason: 'answer', at: null },
      false,
    ],
    ['whose lane is full', {}, { reason: 'lane', at: null }, true],
    ['that a limit of the ledger holds back', {}, { reason: 'limit', at: null }, true],
    ['that must be claimed', { ready: true, executor: null }, { reason: 'claim', at: null }, false],
    ['that is blocked', {}, { reason: 'blocked', at: null }, false],
    ['that is held', {}, { reason: 'held', at: null }, false],
    ['of an agent that waits for a slot', { ready: true, executor: 'agent' }, { reason: 'slot', at: null }, true],
    ['of an agent without a model', { ready: true, executor: 'agent' }, { reason: 'model', at: null }, false],
    ['whose executor no engine has', {}, { reason: 'executor', at: null }, false],
  ])('isProgressing says whether a task goes on without help: one %s', (_what, fields, why, expected) => {
    expect(isProgressing(taskOf(fields), why)).toBe(expected)
  })
})

describe('the summary', () => {
  const options = {
    paint: createPaint(false),
    ledgerFlag: ['--ledger', "it's.db"],
    duration: '1.0s',
    before: new Set<string>(),
  }

  it('the summary of a run lists failed tasks with the first line of the reason, and the tasks that they block', () => {
    const error = { code: 'EXIT_CODE', message: '\u001b[31mexited with 1\nmore' }
    const lines = summarize(
      judge({
        a: { seq: 7, status: 'failed', error },
        'g/b': { seq: 8 },
        'g/c': completed,
        d: completed,
        e: completed,
      }),
      options,
    )
    expect(lines).toContain('✗ #7 a failed: exited with 1')
    expect(lines).toContain('✗ #8 g/b is blocked by #7 a')
    expect(lines.at(-1)).toBe('3 of 5 tasks completed after 1.0s.')
  })

  it('the summary of a run shows the command that answers a question', () => {
    const question = {
      id: 'q1',
      question: 'Which?',
      for: 'person' as const,
      schema: { enum: ['x', 'y'] },
      askedAt: 0,
      dueAt: null,
    }
    const lines = summarize(judge({ a: { seq: 7, status: 'input_required', questions: [question] } }, ['a']), options)
    expect(lines).toContain('? #7 a asks: Which?')
    expect(lines).toContain("    errand answer '#7' 'x|y' --ledger 'it'\\''s.db'")
  })

  it('the summary of a run says when there was nothing to do', () => {
    const outcome = judge({ a: completed }, ['a'])
    expect(summarize(outcome, { ...options, duration: undefined })).toEqual([
      '✓ The task was completed before: nothing to do. Add --again to run the plan again.',
    ])
    expect(summarize(outcome, options)).toEqual(['✓ 1 task completed in 1.0s.'])
    const before = new Set(outcome.completed.map((task) => task.id))
    expect(summarize(outcome, { ...options, before })).toEqual(['✓ 1 task completed in 1.0s, 1 of them before.'])
  })

  it("the summary of a round returns the last lines of a task's output", () => {
    expect(lastLines(taskOf({ result: { stdout: 'a\n\nb\nc\nd\n' } }))).toEqual(['b', 'c', 'd'])
    expect(lastLines(taskOf({ result: 'yes' }))).toEqual(['yes'])
    expect(lastLines(taskOf({ result: { count: 1 } }))).toEqual([])
    expect(lastLines(taskOf({}))).toEqual([])
  })
})
