// The reference of error codes in docs/reference/errors.md derives from their definitions.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ErrorCode, errorCodes, httpErrorCodes, statusOfCode } from '../../src/core/error-codes.ts'
import { ErrandError } from '../../src/core/errors.ts'
import { exitCodeOf } from '../../src/surfaces/terminal/exit-code.ts'

const root = join(import.meta.dirname, '../..')

function table(): string[] {
  const row = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`
  const exitCode = (code: string) =>
    code in errorCodes ? exitCodeOf(new ErrandError(code as ErrorCode, 'an error with this code')) : ''
  const rows = Object.entries<string>({ ...errorCodes, ...httpErrorCodes }).map(([code, meaning]) =>
    row([`\`${code}\``, meaning, statusOfCode[code as keyof typeof statusOfCode], exitCode(code)]),
  )
  return [row(['code', 'meaning', 'HTTP status', 'exit code']), '|---|---|---|---|', ...rows]
}

describe('The reference of error codes', () => {
  it('docs/reference/errors.md has the description, the HTTP status and the exit code of every error code', () => {
    expect(readFileSync(join(root, 'docs/reference/errors.md'), 'utf8').match(/^\|.*$/gm)).toEqual(table())
  })

  it('an error has the HTTP status of its code, and 500 for a code of another version', () => {
    for (const code of Object.keys(errorCodes) as ErrorCode[]) {
      expect(new ErrandError(code, 'an error with this code').httpStatus).toBe(statusOfCode[code])
    }
    expect(new ErrandError('OF_ANOTHER_VERSION' as ErrorCode, 'an error').httpStatus).toBe(500)
  })

  it('docs/reference/errors.md is linked from the README', () => {
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('(docs/reference/errors.md)')
  })
})
