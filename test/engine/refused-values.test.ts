// A value that is none of the accepted ones is refused with all of them and with the nearest, wherever it comes in.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { notOneOf } from '../../src/core/explain-issue.ts'
import { parse } from '../../src/core/parse.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { eventTypes } from '../../src/entities/event.ts'
import { defineExecutor, type ExecutorTask, type Run } from '../../src/entities/executor.ts'
import { openEngine, refusalOf } from './world.ts'

const paint = defineExecutor({ input: z.object({ color: z.enum(['red', 'green']) }), run: () => null })

/** Values of the wrong type, as programs without types give them. */
const refused: Array<[call: string, make: (engine: any) => unknown, accepted: string, nearest: string]> = [
  ["list({ status: 'done' })", (engine) => engine.list({ status: 'done' }), 'completed, failed, canceled', 'completed'],
  [
    "list({ status: ['compleet'] })",
    (engine) => engine.list({ status: ['compleet'] }),
    'completed, failed',
    'completed',
  ],
  [
    "subscribe('task.complete')",
    (engine) => engine.subscribe('task.complete', () => {}),
    eventTypes.join(', '),
    'task.completed',
  ],
  [
    "update({ status: 'complete' })",
    (engine) => engine.update('task-a', { status: 'complete' }),
    'completed, failed, canceled',
    'completed',
  ],
  [
    "send({ delivery: 'stear' })",
    (engine) => engine.send('task-a', 'Hi', { delivery: 'stear' }),
    'steer, followup, abort',
    'steer',
  ],
  [
    "delete({ children: 'cascad' })",
    (engine) => engine.delete('task-a', { children: 'cascad' }),
    'promote, cascade, refuse',
    'cascade',
  ],
  [
    "create({ autoComplete: 'all-setled' })",
    (engine) => engine.create({ name: 'a', autoComplete: 'all-setled' }),
    'all-settled or a boolean',
    'all-settled',
  ],
  [
    'create, in a tree',
    (engine) => engine.create({ name: 'a', tasks: { b: { onInterrupt: 'rerunn' } } }),
    'fail, rerun, ask',
    'rerun',
  ],
  [
    'create, in an input',
    (engine) => engine.create({ executor: 'paint', input: { color: 'gren' } }),
    'red, green',
    'green',
  ],
  ["inspect({ tasks: 'owns' })", (engine) => engine.inspect(() => {}, { tasks: 'owns' }), 'own, all', 'own'],
  ['createEngine', () => createEngine({ onInterrupt: 'rerunn' as never }), 'fail, rerun, ask', 'rerun'],
  [
    'createEngine({ memory })',
    () => createEngine({ memory: { similarity: 'jacard' as never } }),
    'jaccard, embeddings or a function',
    'jaccard',
  ],
  ['an ability', (engine) => engine.bus.call('task:list', { status: 'complet' }), 'completed, failed', 'completed'],
]

describe('a refused value', () => {
  it.each(refused)(
    'a refused value of %s is named with the accepted ones and the nearest',
    async (_call, make, accepted, nearest) => {
      const engine = (await openEngine({ executors: { paint } })) as unknown as Engine
      const refusal = await refusalOf((async () => make(engine))(), 'INVALID_INPUT')
      expect(refusal.message).toContain(accepted)
      expect(refusal.message).toMatch(new RegExp(`got "[^"]+"\\. Did you mean "${nearest}"\\?$`))
    },
  )

  it('a refused value of a plan is named so with its place', async () => {
    const engine = await openEngine({ executors: { paint } })
    const plan = { name: 'p', tasks: { a: { ask: { question: 'Go on?', for: 'persn' } } } }
    const refusal = await refusalOf(engine.plan(plan), 'INVALID_PLAN')
    expect(refusal.details).toMatchObject({ path: 'tasks.a.ask.for' })
    expect(refusal.message).toContain('expected one of person, anyone, got "persn". Did you mean "person"?')
  })

  it('a refused value of an answer is named so', async () => {
    const engine = await openEngine({
      executors: { asks: (_task: ExecutorTask, run: Run) => run.ask('Which?', z.enum(['left', 'right'])) },
    })
    const task = await engine.create({ executor: 'asks' })
    for await (const { type } of engine.events({ taskId: task.id })) if (type === 'task.input_required') break
    const refusal = await refusalOf(engine.answer(task, 'rigth'), 'INVALID_ANSWER')
    expect(refusal.message).toContain('expected one of left, right, got "rigth". Did you mean "right"?')
    await engine.answer(task, 'right')
    expect(await engine.result(task)).toBe('right')
  })

  it('a refused value of another type has no nearest one', () => {
    expect(() => parse(z.strictObject({ a: z.enum(['x', 'y']) }), { a: 7 }, 'it')).toThrow(
      'it is not valid: a: expected one of x, y.',
    )
    expect(() => parse(z.union([z.string(), z.array(z.string())]), 7, 'it')).toThrow(
      'it is not valid: expected a string or a list.',
    )
  })

  it('a refused value of another type is named with the expected one', () => {
    const schema = z.strictObject({ n: z.number(), whole: z.int(), list: z.array(z.string()), named: z.object({}) })
    const given = { whole: 1.5, list: 'a', named: null }
    expect(() => parse(schema, given, 'it')).toThrow(
      'it is not valid: n: expected a number, but it is missing; whole: expected a whole number, got a number; list: expected a list, got a string.',
    )
    expect(() => parse(schema, { ...given, n: 1, whole: 1, list: [] }, 'it')).toThrow(
      'named: expected an object, got null.',
    )
  })

  it('a refused value is cut, and so is a long list of accepted ones', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `value ${index}`)
    const text = notOneOf(many, 'x'.repeat(10_000))
    expect(text).toContain('value 49, … (1000 in all), got "xxx')
    expect(text.length).toBeLessThan(700)
  })
})
