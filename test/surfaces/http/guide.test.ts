// docs/reference/routes.md and docs/reference/http-options.md agree with the routes, the options and the status of every code that they name.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { statusOfCode } from '../../../src/core/error-codes.ts'
import { httpOptionsSchema } from '../../../src/surfaces/http/http-options.ts'
import { serveOptionsSchema } from '../../../src/surfaces/http/page/serve.ts'

const textOf = (page: string) => readFileSync(join(import.meta.dirname, '../../../docs/reference', page), 'utf8')
const options = textOf('http-options.md')

function sectionOf(heading: string): string {
  return options.split('\n## ').find((section) => section.startsWith(heading)) ?? ''
}

it('docs/reference/http-options.md names each option of createHttp and serve', () => {
  const names = Object.keys({ ...httpOptionsSchema.shape, ...serveOptionsSchema.shape })
  expect(names.length).toBeGreaterThan(15)
  expect(names.filter((name) => !sectionOf('Options').includes(`\`${name}\``))).toEqual([])
})

it('X-032 docs/reference/http-options.md lists each code with its HTTP status', () => {
  const rows = sectionOf('Refusals').matchAll(/^\| ([\d, ]+) \| (.*) \|$/gm)
  const listed = Array.from(rows, ([, statuses = '', words = '']) =>
    Array.from(words.matchAll(/`([A-Z_]{4,})`/g), ([, code = '']) => ({
      code: code as keyof typeof statusOfCode,
      statuses: statuses.split(', ').map(Number),
    })),
  ).flat()
  // An idempotency key used for another request is a KEY_CONFLICT as well, and the limit of streams of one principal has another status.
  const others: Partial<Record<keyof typeof statusOfCode, number>> = { KEY_CONFLICT: 422, TOO_MANY_STREAMS: 429 }
  const wrong = listed.filter(
    ({ code, statuses }) => !statuses.includes(statusOfCode[code]) && !statuses.includes(others[code] ?? Number.NaN),
  )
  expect(wrong).toEqual([])
  expect(listed.length).toBeGreaterThan(30)
})
