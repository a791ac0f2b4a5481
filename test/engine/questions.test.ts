// Questions: a run that asks is suspended, a person answers, the next run continues with the answer.

import { describe, expect, it, onTestFinished } from 'vitest'
import { SimulatedClock } from 'xstate'
import { z } from 'zod'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { createFaultyLedger, openLedger } from '../../src/testing/index.ts'
import { history, openEngine, reached, refusalOf, typesOf } from './world.ts'

const setup = async (work: (task: ExecutorTask, run: Run) => unknown) => {
  const engine = await openEngine({ executors: { work }, maxConcurrent: 1 })
  const task = await engine.create({ executor: 'work' })
  return { engine, task }
}

describe('a question of a run', () => {
  it('S3-059 S3-061 a question of a run sets the task to INPUT_REQUIRED, and its answer sets it back to work', async () => {
    const { engine, task } = await setup(async (_task, run) => `deploy: ${await run.ask<string>('Deploy?')}`)
    const asking = await reached(engine, task, 'input_required')
    expect(asking.questions).toEqual([
      {
        id: expect.any(String) as string,
        question: 'Deploy?',
        for: 'person',
        schema: null,
        askedAt: expect.any(Number) as number,
        dueAt: null,
      },
    ])
    await engine.idle()
    expect(await engine.why(task)).toMatchObject({
      reason: 'answer',
      message: expect.stringContaining('Deploy?') as string,
    })
    await engine.answer(task, 'yes')
    expect(await engine.result(task)).toBe('deploy: yes')
    expect(typesOf(await history(engine, task.id)).filter((type) => type !== 'run.closed')).toEqual([
      'task.created',
      'task.started',
      'task.input_required',
      'question.asked',
      'task.answered',
      'task.started',
      'task.completed',
    ])
  })

  it('a question of a run is published when it can be answered, so that a subscriber can answer at once', async () => {
    const { engine, task } = await setup((_task, run) => run.ask('Deploy?'))
    engine.subscribe('question.asked', (event) => engine.answer(event.taskId, 'yes'))
    expect(await engine.result(task)).toBe('yes')
  })

  it('a question of a run is answered once: a second answer is refused and not silently lost', async () => {
    const { engine, task } = await setup((_task, run) => run.ask('Which?'))
    await reached(engine, task, 'input_required')
    const answers = await Promise.allSettled([engine.answer(task, 'A'), engine.answer(task, 'B')])
    expect(answers.map((each) => each.status)).toEqual(['fulfilled', 'rejected'])
    expect(await engine.result(task)).toBe('A')
  })

  it('a question of a run accepts only an answer that matches its schema, and stays open otherwise', async () => {
    const schema = z.object({ count: z.int().min(1) })
    const { engine, task } = await setup((_task, run) => run.ask('How many?', schema))
    await reached(engine, task, 'input_required')
    const refusal = await refusalOf(engine.answer(task, { count: 0 }), 'INVALID_ANSWER')
    expect(refusal.details).toMatchObject({ taskId: task.id, issues: [{ path: 'count' }] })
    await refusalOf(engine.answer(task), 'INVALID_ANSWER')
    expect((await engine.get(task))?.questions).toHaveLength(1)
    await engine.answer(task, { count: 2 })
    expect(await engine.result(task)).toEqual({ count: 2 })
  })

  it('V-04 a question of a run is not blocked by a pattern in its schema, which a model may have written', async () => {
    const schema = { type: 'string', pattern: '^(a+)+$' }
    const { engine, task } = await setup((_task, run) => run.ask('Which letters?', schema))
    await reached(engine, task, 'input_required')
    const endless = `${'a'.repeat(60)}!`
    const refusal = await refusalOf(engine.answer(task, endless), 'INVALID_ANSWER')
    expect(refusal.message).toMatch(/could not be checked within 1000 ms.*pattern in the schema/)
    // As a message, it is not one of the answers.
    await engine.send(task, endless)
    expect((await engine.get(task))?.questions).toHaveLength(1)
    await engine.answer(task, 'aaa')
    expect(await engine.result(task)).toBe('aaa')
  })

  it('V-04 a pattern that takes too long delays no other step: an answer is matched outside of its transaction', async () => {
    const schema = { type: 'string', pattern: '^(a+)+$' }
    const { engine, task } = await setup((_task, run) => run.ask('Which letters?', schema))
    await reached(engine, task, 'input_required')
    const ends: string[] = []
    const answered = engine.answer(task, `${'a'.repeat(60)}!`).catch(() => ends.push('answer refused'))
    const created = engine.create({ name: 'other' }).then(() => ends.push('other task created'))
    await Promise.all([answered, created])
    expect(ends).toEqual(['other task created', 'answer refused'])
  })

  it('an answer is matched again with the question that is open by then', async () => {
    const ledger = createFaultyLedger(await openLedger(':memory:'))
    onTestFinished(() => ledger.close())
    const engine = await openEngine({
      ledger,
      executors: {
        work: async (_task: unknown, run: Run) => [
          await run.ask('A number?', { type: 'number' }),
          await run.ask('A text?', { type: 'string' }),
        ],
      },
    })
    const task = await engine.create({ executor: 'work' })
    await reached(engine, task, 'input_required')
    // The first attempt finds the question; the second one is held until another question is open.
    let attempts = 0
    const gate = ledger.hold((name) => name === 'answer' && ++attempts === 2)
    const early = engine.answer(task, 1)
    await gate.reached
    await engine.answer(task, 2)
    await expect.poll(async () => (await engine.get(task))?.questions[0]?.question).toBe('A text?')
    gate.open()
    await refusalOf(early, 'INVALID_ANSWER')
    await engine.answer(task, 'three')
    expect(await engine.result(task)).toEqual([2, 'three'])
  })

  it.each([
    ['itself', { anyOf: [{ $ref: '#' }, { type: 'string' }] }, 'anyOf.0.#'],
    [
      'itself in a property',
      { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } },
      'properties.children.items.#',
    ],
    [
      'itself by way of another',
      {
        $ref: '#/$defs/a',
        $defs: { a: { properties: { b: { $ref: '#/$defs/b' } } }, b: { items: { $ref: '#/$defs/a' } } },
      },
      '#/$defs/a.properties.b.#/$defs/b.items.#/$defs/a',
    ],
  ])('a question of a run whose schema refers to %s is refused with the place', async (_to, schema, path) => {
    const { engine, task } = await setup((_task, run) => run.ask('Which?', schema))
    const outcome = await engine.settled(task)
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'INVALID_INPUT', details: { path } } })
  })

  it('a question of a run is refused if the references of its schema multiply, or if a zod schema refers to itself', async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 18 }, (_, n) => {
        const next = n === 17 ? { type: 'string' } : { $ref: `#/$defs/d${n + 1}` }
        return [`d${n}`, { anyOf: [next, next] }]
      }),
    )
    const doubling = await setup((_task, run) => run.ask('Which?', { $ref: '#/$defs/d0', $defs }))
    const outcome = await doubling.engine.settled(doubling.task)
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { message: expect.stringMatching(/too large/) as string },
    })
    const tree: z.ZodType = z.lazy(() => z.object({ children: z.array(tree) }))
    const recursive = await setup((_task, run) => run.ask('Which?', tree))
    expect(await recursive.engine.settled(recursive.task)).toMatchObject({ error: { code: 'INVALID_INPUT' } })
  })

  it('a question of a run accepts a JSON Schema too, and an invalid one fails the run', async () => {
    const { engine, task } = await setup((_task, run) => run.ask('Which?', { enum: ['a', 'b'] }))
    await reached(engine, task, 'input_required')
    await refusalOf(engine.answer(task, 'c'), 'INVALID_ANSWER')
    await engine.answer(task, 'b')
    expect(await engine.result(task)).toBe('b')
    const other = await setup((_task, run) =>
      run.ask(
        'Which?',
        z.custom(() => true),
      ),
    )
    expect(await other.engine.settled(other.task)).toMatchObject({ status: 'failed', error: { code: 'INVALID_INPUT' } })
  })

  it('a question of a run takes its default when it is answered without a value', async () => {
    const { engine, task } = await setup((_task, run) => run.ask('Deploy?', { type: 'boolean' }, { default: false }))
    expect((await reached(engine, task, 'input_required')).questions[0]).toMatchObject({ default: false })
    await engine.answer(task)
    expect(await engine.result(task)).toBe(false)
  })

  it('a question of a run is answered by its default after the time-out, and fails with TIMEOUT without one', async () => {
    const clock = new SimulatedClock()
    const engine = await openEngine({
      clock,
      executors: {
        calm: (_task: ExecutorTask, run: Run) => run.ask('Deploy?', null, { timeoutMs: 50, default: 'no' }),
        strict: (_task: ExecutorTask, run: Run) => run.ask('Deploy?', null, { timeoutMs: 50 }),
      },
    })
    const calm = await engine.create({ executor: 'calm' })
    const strict = await engine.create({ executor: 'strict' })
    await reached(engine, calm, 'input_required')
    await reached(engine, strict, 'input_required')
    clock.increment(50)
    expect(await engine.result(calm)).toBe('no')
    expect(await engine.settled(strict)).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } })
    await refusalOf(engine.answer(calm, 'yes'), 'INVALID_TRANSITION')
  })

  it('a question of a run can be one of several: each is named, and the last answer continues the task', async () => {
    const { engine, task } = await setup((_task, run) => Promise.all([run.ask('One?'), run.ask('Two?')]))
    const { questions } = await reached(engine, task, 'input_required')
    expect(questions.map(({ question }) => question)).toEqual(['One?', 'Two?'])
    const refusal = await refusalOf(engine.answer(task, 'x'), 'NO_QUESTION')
    expect(refusal.details.questions).toEqual(questions.map(({ id }) => id))
    await refusalOf(engine.answer(task, 'x', { question: 'call-unknown' }), 'NO_QUESTION')
    expect(await engine.answer(task, 2, { question: questions[1]!.id })).toMatchObject({
      status: 'input_required',
      ready: false,
    })
    await engine.answer(task, 1)
    expect(await engine.result(task)).toEqual([1, 2])
  })

  it('a question of a run is asked once, however often the run is repeated, and an equal text again is another question', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      const first = await run.ask('Go on?')
      const second = await run.ask('Go on?')
      return [first, second]
    })
    await reached(engine, task, 'input_required')
    await engine.answer(task, 1)
    await reached(
      engine,
      task,
      (each) => each.status === 'input_required' && each.questions.length === 1 && !each.ready,
    )
    await engine.answer(task, 2)
    expect(await engine.result(task)).toEqual([1, 2])
    expect(typesOf(await history(engine, task.id)).filter((type) => type === 'question.asked')).toHaveLength(2)
  })

  it('a question of a run waits for calls in flight, whose results are kept', async () => {
    const slow = Promise.withResolvers<string>()
    let calls = 0
    const { engine, task } = await setup((_task, run) =>
      Promise.all([
        run.ask('Go on?'),
        run.call('slow', () => {
          calls++
          return slow.promise
        }),
      ]),
    )
    await reached(engine, task, 'working')
    slow.resolve('called')
    await reached(engine, task, 'input_required')
    await engine.answer(task, 'yes')
    expect(await engine.result(task)).toEqual(['yes', 'called'])
    expect(calls).toBe(1)
  })

  it('a question of a run ends with a canceled task, and can no longer be answered', async () => {
    const { engine, task } = await setup((_task, run) => run.ask('Go on?'))
    await reached(engine, task, 'input_required')
    await engine.cancel(task)
    expect((await engine.get(task))?.questions).toEqual([])
    await refusalOf(engine.answer(task, 'yes'), 'INVALID_TRANSITION')
  })

  it('a question of a run of a task worked on by hand is answered by hand', async () => {
    const engine = await openEngine()
    const task = await engine.start(await engine.create({ name: 'a' }))
    await engine.update(task, { status: 'input_required' })
    expect((await engine.answer(task, 'yes')).status).toBe('working')
  })
})
