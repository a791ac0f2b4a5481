// The JSON object in the answer of a model, however it was wrapped.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { confidenceOf, jsonObjectIn } from '../../../src/agents/routing/json-answer.ts'

describe('jsonObjectIn', () => {
  it.each([
    ['direct', '{"taskId":"task-a"}'],
    ['with space around it', '\n {"taskId": "task-a"} \n'],
    ['in a fence', 'Here you are:\n```json\n{"taskId":"task-a"}\n```\nAnything else?'],
    ['in a fence without a language', '```\n{"taskId":"task-a"}\n```'],
    ['in a fence on one line', '```{"taskId":"task-a"}```'],
    ['in the one fence that holds an object', '```ts\nroute()\n```\nso:\n```json\n{"taskId":"task-a"}\n```'],
    ['in a fence that was never closed', '```json\n{"taskId":"task-a"}'],
    ['in talk', 'The message continues the report, so {"taskId":"task-a"} it is.'],
  ])('S0-044 S3-098 jsonObjectIn finds the JSON object of an answer %s', (_where, answer) => {
    expect(jsonObjectIn(answer)).toEqual({ taskId: 'task-a' })
  })

  it.each([
    ['several objects', '{"taskId":"task-a"} or {"taskId":"task-b"}'],
    ['objects in several fences', '```\n{"taskId":"task-a"}\n```\n```\n{"taskId":"task-b"}\n```'],
    ['a list', '["task-a"]'],
    ['a text', '"task-a"'],
    ['null', 'null'],
    ['no JSON', 'task-a, I think'],
    ['a broken object', '{"taskId": "task-a"'],
    ['nothing', ''],
    ['what no ledger takes', '{"taskId":"task-\\u0000"}'],
    ['bottomless nesting', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ])('jsonObjectIn returns null for %s', (_what, answer) => {
    expect(jsonObjectIn(answer)).toBeNull()
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('jsonObjectIn finds the JSON object in any prose without braces, and never throws', () => {
    const talk = fc.string().map((text) => text.replaceAll(/[{}`]/g, ''))
    const said = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,5}$/),
      fc.oneof(fc.integer(), fc.stringMatching(/^[a-z`]*$/)),
    )
    fc.assert(
      fc.property(talk, said, talk, (before, object, after) => {
        expect(jsonObjectIn(`${before} ${JSON.stringify(object)} ${after}`)).toEqual({ ...object })
      }),
    )
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', '}', '`', '"', 'a', ' ') }), (text) => {
        const found = jsonObjectIn(text)
        expect(found === null || typeof found === 'object').toBe(true)
      }),
    )
  })
})

describe('confidenceOf', () => {
  it.each([
    [0.4, 0.4],
    [7, 1],
    [-1, 0],
    [Number.POSITIVE_INFINITY, 1],
    ['0.8', 0.8],
    [Number.NaN, 0],
    ['very', 0],
    ['', 0],
    [true, 0],
    [{}, 0],
    [undefined, 0.5],
    [null, 0.5],
  ])('S3-101 confidenceOf reads the confidence %j as %d', (given, expected) => {
    expect(confidenceOf(given, 0.5)).toBe(expected)
  })
})
