// docs/guides/http.md lists every route, every option, and the status of every code that it names.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { statusOfCode } from '../../../src/core/error-codes.ts'
import { httpOptionsSchema } from '../../../src/surfaces/http/http-options.ts'
import { routes } from '../../../src/surfaces/http/routes.ts'

const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/http.md'), 'utf8')

function sectionOf(heading: string): string {
  return guide.split('\n## ').find((section) => section.startsWith(heading)) ?? ''
}

it('docs/guides/http.md lists each route, in its own line or by its last segment', () => {
  const shown = sectionOf('Routes')
  const missing = routes.filter(({ path }) => {
    const verb = /^\/(?:tasks\/\{taskId\}|schedules\/\{name\})\/(\w+)$/.exec(path)?.[1]
    return !shown.includes(`${path}\``) && !(verb !== undefined && shown.includes(`\`${verb}\``))
  })
  expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  expect(shown.match(/\| `/g)?.length).toBeGreaterThan(15)
})

it('docs/guides/http.md names each option', () => {
  const shown = `${sectionOf('Options')}${sectionOf('Who may do what')}`
  expect(Object.keys(httpOptionsSchema.shape).filter((option) => !shown.includes(`\`${option}`))).toEqual([])
})

it('docs/guides/http.md lists each error code beside its status', () => {
  const lines = sectionOf('Refusals')
    .split('\n')
    .filter((line) => /^\| \d/.test(line))
  const wrong = lines.flatMap((line) => {
    const statuses = (line.split('|')[1] ?? '').split(',').map(Number)
    const codes = Array.from(line.matchAll(/`([A-Z_]{4,})`/g), ([, code]) => code as keyof typeof statusOfCode)
    // An idempotency key used for another request is a KEY_CONFLICT as well, and the limit of streams of one principal has the same status.
    const others: Partial<Record<keyof typeof statusOfCode, number>> = { KEY_CONFLICT: 422, TOO_MANY_STREAMS: 429 }
    return codes.filter(
      (code) => !statuses.includes(statusOfCode[code]) && !statuses.includes(others[code] ?? Number.NaN),
    )
  })
  expect(wrong).toEqual([])
  expect(lines.length).toBeGreaterThan(10)
})
