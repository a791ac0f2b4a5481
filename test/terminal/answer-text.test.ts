// What a person types as an answer, and what the task then gets.
import { describe, expect, test } from 'vitest'
import { parseAnswer } from '../../src/terminal/answer-text.ts'
import { Workplace } from '../surfaces/cli/workplace.ts'

describe('An answer', () => {
  test('is JSON where it is JSON, else the words as they are', () => {
    expect(parseAnswer('{"a":1}', null)).toEqual({ a: 1 })
    expect(parseAnswer('2027', { type: 'number' })).toBe(2027)
    expect(parseAnswer('true', undefined)).toBe(true)
    expect(parseAnswer('next year', null)).toBe('next year')
  })

  test('to a question for a text is the words, whatever else they might be', () => {
    for (const schema of [{ type: 'string' }, { enum: ['2027', 'true', 'null'] }]) {
      for (const typed of ['2027', 'true', 'null']) expect(parseAnswer(typed, schema)).toBe(typed)
    }
    expect(parseAnswer('"2027"', { type: 'string' })).toBe('2027')
    expect(parseAnswer('2027', { enum: [2026, 2027] })).toBe(2027)
  })

  test('of digits reaches a task that asked for a text', async () => {
    await using place = new Workplace()
    place.write('plan.yaml', 'tasks: { which: { ask: { question: "Which year?", schema: { type: string } } } }')
    expect((await place.errand('run', 'plan.yaml')).code).toBe(3)
    const { id } = await place.task('which')
    expect(await place.errand('answer', id, '2027')).toMatchObject({ code: 0, err: '' })
    expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
    expect((await place.task('which')).result).toBe('2027')
  })
})
