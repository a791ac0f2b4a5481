// Each error has the HTTP status of its code. test/reference.test.ts compares the codes with their page.
import { expect, it } from 'vitest'
import { type ErrorCode, errorCodes, statusOfCode } from '../../src/core/error-codes.ts'
import { ErrandError } from '../../src/core/errors.ts'

it('an error has the HTTP status of its code, and 500 for a code of another version', () => {
  for (const code of Object.keys(errorCodes) as ErrorCode[]) {
    expect(new ErrandError(code, 'an error with this code').httpStatus).toBe(statusOfCode[code])
  }
  expect(new ErrandError('OF_ANOTHER_VERSION' as ErrorCode, 'an error').httpStatus).toBe(500)
})
