// Schemas that changed while a task was on its way: the task fails with one line that names the path, what was expected, and what
// to do.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readChunk } from '../../src/agents/models/step-schema.ts'
import { defineExecutor } from '../../src/entities/executor.ts'
import { createWorld } from './world.ts'

const oneLine = /^[^\n[{]*$/

describe('a schema that was changed while a task was on its way', () => {
  it('a changed schema of an input fails the task with INVALID_INPUT, the path, and what to do; a retry completes it once the schema accepts the old input', async () => {
    const before = await createWorld(async (task) => task.input)
    const task = await before.engine.create({ executor: 'work', input: { width: '800' }, autoStart: false })
    await before.engine.close()
    let isLenient = false
    const width = z.preprocess((given) => (isLenient ? Number(given) : given), z.number())
    const after = await before.another({
      executors: { work: defineExecutor({ input: z.object({ width }), run: ({ input }) => input.width }) },
    })
    await after.engine.start(task)
    const outcome = await after.engine.settled(task)
    expect(outcome).toEqual({
      status: 'failed',
      error: {
        code: 'INVALID_INPUT',
        message:
          'The input of the task does not match the input schema of "work": width: expected a number, got a string. ' +
          'If the schema has changed since the task was created, let it accept this input too and retry the task, or create the task anew.',
        details: { issues: [{ path: 'width', message: 'expected a number, got a string' }] },
        final: true,
      },
    })
    isLenient = true
    await after.engine.retry(task)
    expect(await after.engine.result(task)).toBe(800)
  })

  it('a changed schema of a result fails the task with INVALID_RESULT in one line', async () => {
    const world = await createWorld(
      defineExecutor({ result: z.object({ count: z.number() }), run: () => ({}) as never }),
    )
    const task = await world.engine.create({ executor: 'work' })
    const { error } = (await world.engine.settled(task)) as { error: { code: string; message: string } }
    expect(error).toMatchObject({ code: 'INVALID_RESULT', message: expect.stringMatching(oneLine) })
    expect(error.message).toMatch(
      /^What "work" returned does not match its result schema: count: .* Correct the executor/,
    )
  })

  it('a changed schema of a question with a key fails with INVALID_ANSWER, and names the recorded answer that no longer fits', async () => {
    let schema: z.ZodType = z.string()
    const world = await createWorld(async (_task, run) => {
      const answer = await run.ask('How many?', schema, { key: 'count' })
      await run.ask('Sure?', z.boolean())
      return answer
    })
    const task = await world.engine.create({ executor: 'work' })
    await world.eventOf(task.id, 'question.asked')
    await world.engine.answer(task, 'three')
    await world.eventOf(task.id, 'question.asked', ({ data }) => data['question'] === 'Sure?')
    schema = z.number()
    await world.engine.answer(task, true)
    const { error } = (await world.engine.settled(task)) as { error: { code: string; message: string } }
    expect(error).toMatchObject({ code: 'INVALID_ANSWER', message: expect.stringMatching(oneLine) })
    expect(error.message).toBe(
      'The recorded answer to "How many?" does not match the schema of run.ask: expected a number, got a string. ' +
        'If the schema has changed since the answer was given, let it accept this answer too, or ask under another `key`.',
    )
  })
})

it('a chunk of a foreign model that has another shape is refused in one line', () => {
  expect(() => readChunk({ content: 3 })).toThrow(
    /^A chunk of model:llm is not valid: content: expected a string, got a number[^\n]*$/,
  )
})
