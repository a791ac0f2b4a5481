// The image of a value: any value of a model or a tool passes the validation of the ledger and is restored.
import { APICallError, InvalidToolInputError, RetryError } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ErrandError } from '../../src/core/errors.ts'
import { fromJson, toJson } from '../../src/core/json.ts'
import { fromImage, toImage } from '../../src/core/json-image.ts'
import { refusalOf } from '../engine/world.ts'

/** Through the ledger and back. */
const stored = (value: unknown): any => fromImage(fromJson(toJson(toImage(value, 'it'), 'it')))

describe('the JSON image of a value', () => {
  it('the JSON image of a value restores texts, numbers, bytes, dates and URLs, under any key', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\u0000', '\ud83d', 'a\ude00'))
    const value = fc.anything({
      key: fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'prototype', '$date', '$entries', '$')),
      values: [
        text,
        fc.integer(),
        fc.constantFrom(null, undefined, true, Number.NaN, Number.NEGATIVE_INFINITY, new URL('https://a.example/b?c')),
        fc.bigInt(),
        fc.date({ noInvalidDate: false }),
        fc.uint8Array(),
      ],
      maxDepth: 4,
    })
    fc.assert(
      fc.property(value, (given) => {
        expect(stored(given)).toEqual(given)
      }),
    )
  })

  it('the JSON image of a value keeps plain JSON as it is, readable for people', () => {
    const plain = { text: 'It is 5 o’clock', list: [1, null, { deep: true }] }
    expect(toImage(plain, 'it')).toEqual(plain)
  })

  it('the JSON image of a value stores other objects as JSON does', () => {
    expect(stored({ at: { toJSON: () => 'noon' }, act: () => 1, none: undefined })).toEqual({ at: 'noon' })
  })

  it('the JSON image of a value restores errors of the SDK, without the request and the stack', () => {
    const refused = new APICallError({
      message: 'Overloaded',
      url: 'https://models.example/chat',
      requestBodyValues: { secret: 'all that was said' },
      statusCode: 529,
      responseHeaders: { 'retry-after': '1' },
      responseBody: '{}',
      data: { error: 'overloaded' },
      cause: new Error('below'),
    })
    const again = stored(refused)
    expect(APICallError.isInstance(again)).toBe(true)
    expect(InvalidToolInputError.isInstance(again)).toBe(false)
    expect(String(again)).toBe('AI_APICallError: Overloaded')
    expect(again).toMatchObject({
      statusCode: 529,
      isRetryable: true,
      data: { error: 'overloaded' },
      responseBody: '{}',
    })
    expect(JSON.stringify(toImage(refused, 'it'))).not.toMatch(/secret|below|\.ts:/)

    const last = stored(new RetryError({ message: 'Enough', reason: 'maxRetriesExceeded', errors: [refused] }))
    expect(RetryError.isInstance(last)).toBe(true)
    expect(APICallError.isInstance(last.errors[0])).toBe(true)
    expect(stored(new ErrandError('NOT_FOUND', 'No task.', { taskId: 'a' }))).toMatchObject({
      code: 'NOT_FOUND',
      details: { taskId: 'a' },
    })
  })

  it('the JSON image of a value keeps an error whose fields cannot be stored', () => {
    const data: { self?: unknown } = {}
    data.self = data
    const error = Object.assign(new Error('Odd.'), { data, responseBody: 'x'.repeat(200_000), code: 'E_ODD' })
    expect(stored(error)).toMatchObject({ message: 'Odd.', code: 'E_ODD' })
    expect(stored(error)).not.toHaveProperty('data')
    expect(stored(error)).not.toHaveProperty('responseBody')
  })

  it('the JSON image of a value refuses an image of a circular value', async () => {
    const endless: unknown[] = []
    endless.push(endless)
    await refusalOf(() => toImage(endless, 'it'), 'INVALID_INPUT')
  })
})
