// The `ask` executor asks exactly the question of the task and invents no default.
import { describe, expect, it } from 'vitest'
import type { Executor, Run } from '../../src/entities/executor.ts'
import type { AskOptions } from '../../src/entities/wait-options.ts'
import { ask, createAsk } from '../../src/operations/ask.ts'

async function asked(executor: Executor, input: unknown): Promise<[string, unknown, AskOptions | undefined]> {
  const questions: Array<[string, unknown, AskOptions | undefined]> = []
  const run = {
    ask: async (...question: [string, unknown, AskOptions | undefined]) => {
      questions.push(question)
      return 'the answer'
    },
  }
  const parsed = executor.input?.parse(input)
  expect(await executor.run({ input: parsed } as never, run as unknown as Run)).toBe('the answer')
  expect(questions).toHaveLength(1)
  return questions[0]!
}

describe('the ask executor', () => {
  it('the ask executor asks without a default and waits forever', async () => {
    expect(await asked(ask, { question: 'Deploy?' })).toEqual(['Deploy?', null, {}])
    const [, , options] = await asked(ask, { question: 'Deploy?' })
    expect(options).not.toHaveProperty('default')
    expect(options).not.toHaveProperty('timeoutMs')
  })

  it('the ask executor passes on the schema, the default and the time-out of the task', async () => {
    const input = { question: 'Deploy?', schema: { type: 'boolean' }, default: false, timeoutMs: 5000 }
    expect(await asked(ask, input)).toEqual(['Deploy?', { type: 'boolean' }, { default: false, timeoutMs: 5000 }])
  })

  it('the ask executor passes on the audience of the question', async () => {
    expect(await asked(ask, { question: 'Deploy?', for: 'anyone' })).toEqual(['Deploy?', null, { for: 'anyone' }])
    expect(ask.input?.safeParse({ question: 'Deploy?', for: 'unknown' }).success).toBe(false)
  })

  it('the ask executor refuses a task whose question has a schema that refers to itself', () => {
    const parsed = ask.input?.safeParse({ question: 'Which?', schema: { anyOf: [{ $ref: '#' }, { type: 'string' }] } })
    expect(parsed?.error?.issues).toMatchObject([
      { path: ['schema'], message: expect.stringMatching('may not refer to itself') as string },
    ])
  })

  it.each([
    [
      'a reference to a part of a definition',
      { $defs: { a: { properties: { x: {} } } }, $ref: '#/$defs/a/properties/x' },
      'is no definition',
    ],
    ['a dynamic reference', { $dynamicRef: '#a' }, 'not supported'],
    ['a reference to what all objects have', { $defs: {}, $ref: '#/$defs/constructor' }, 'is no definition'],
  ])('the ask executor refuses a task whose question has %s for a schema', (_what, schema, why) => {
    const parsed = ask.input?.safeParse({ question: 'Which?', schema })
    expect(parsed?.error?.issues.map(({ message }) => message).join()).toContain(why)
  })

  it('the ask executor accepts null as a default', async () => {
    expect(await asked(ask, { question: 'Which?', default: null })).toEqual(['Which?', null, { default: null }])
  })

  it('the ask executor answers with the default after defaultAfterMs, if there is one and the task has no time-out', async () => {
    const impatient = createAsk({ defaultAfterMs: 100 })
    expect((await asked(impatient, { question: 'Deploy?', default: true }))[2]).toEqual({
      default: true,
      timeoutMs: 100,
    })
    expect((await asked(impatient, { question: 'Deploy?', default: true, timeoutMs: 7 }))[2]).toEqual({
      default: true,
      timeoutMs: 7,
    })
    expect((await asked(impatient, { question: 'Deploy?' }))[2]).toEqual({})
  })

  it('the ask executor refuses a question without text and unknown fields of its input', () => {
    expect(ask.input?.safeParse({ question: '' }).success).toBe(false)
    expect(ask.input?.safeParse({ question: 'Deploy?', timeout: 5 }).success).toBe(false)
  })
})
