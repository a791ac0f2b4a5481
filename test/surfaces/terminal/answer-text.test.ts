// Parsing of typed answers, and the values that the task gets.
import { describe, expect, it } from 'vitest'
import { parseAnswer } from '../../../src/surfaces/terminal/answer-text.ts'
import { Workplace } from '../cli/workplace.ts'

describe('parseAnswer', () => {
  it('parseAnswer returns JSON if the text is JSON, else the text', () => {
    expect(parseAnswer('{"a":1}', null)).toEqual({ a: 1 })
    expect(parseAnswer('2027', { type: 'number' })).toBe(2027)
    expect(parseAnswer('true', undefined)).toBe(true)
    expect(parseAnswer('next year', null)).toBe('next year')
  })

  it('parseAnswer returns the text for a question that expects a text', () => {
    for (const schema of [{ type: 'string' }, { enum: ['2027', 'true', 'null'] }]) {
      for (const typed of ['2027', 'true', 'null']) expect(parseAnswer(typed, schema)).toBe(typed)
    }
    expect(parseAnswer('"2027"', { type: 'string' })).toBe('2027')
    expect(parseAnswer('2027', { enum: [2026, 2027] })).toBe(2027)
  })

  it('errand answer passes digits as a text to a question that expects a text', async () => {
    await using place = new Workplace()
    place.write('plan.yaml', 'tasks: { which: { ask: { question: "Which year?", schema: { type: string } } } }')
    expect((await place.errand('run', 'plan.yaml')).code).toBe(3)
    const { id } = await place.task('which')
    expect(await place.errand('answer', id, '2027')).toMatchObject({ code: 0, err: '' })
    expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
    expect((await place.task('which')).result).toBe('2027')
  })
})
