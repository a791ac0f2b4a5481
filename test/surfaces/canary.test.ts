// What `redact` hides appears nowhere: not in the ledger or the files beside it, nor in anything that is published, answered or logged.
// Tests without the hook, and with hooks that ignore one kind of value, show that the canary would be found.
import { expect, it } from 'vitest'
import { contentFields } from '../../src/ledger/redacted-content.ts'
import { canary, outputsWithCanary, placesWith } from './canary.ts'

const redact = (value: unknown): unknown => (typeof value === 'string' ? value.replaceAll(canary, '[redacted]') : value)

const everywhere = [
  'HTTP',
  'MCP',
  'events',
  'inspector',
  'log',
  'streams',
  'the executor',
  'the files of the board',
  'the ledger',
  'the write-ahead log',
]

it('V-10 a canary that the hook redacts is not stored, published, answered, logged or passed to an executor', async () => {
  const places = await outputsWithCanary(redact)
  expect(Object.keys(places).sort()).toEqual(everywhere)
  expect(placesWith(places)).toEqual([])
  for (const place of everywhere) expect(places[place]).toContain('[redacted]')
})

it('V-10 a canary is passed to the hook in every field', async () => {
  const seen = new Set<string>()
  await outputsWithCanary((value, path) => {
    if (JSON.stringify(value).includes(canary)) seen.add(path.slice(0, 2).join('.'))
    return redact(value)
  })
  // Derived from values that are already redacted.
  const derived = ['run.error', 'branch.description', 'consolidation.summary', 'schedule.last']
  expect(contentFields.filter((field) => !seen.has(field))).toEqual(derived)
})

it('V-10 a canary would be found by this test in every place', async () => {
  expect(placesWith(await outputsWithCanary(undefined))).toEqual(everywhere)
})

it.each([
  ['message', ['HTTP', 'the ledger']],
  ['event', ['events', 'the ledger']],
  ['log', ['log']],
  ['output', ['streams']],
  ['task', ['HTTP', 'MCP', 'the executor', 'the files of the board', 'the ledger']],
  ['call', ['HTTP', 'the executor', 'the ledger']],
  ['fact', ['HTTP', 'the ledger']],
  ['observation', ['HTTP', 'the ledger']],
  ['objective', ['HTTP', 'the ledger']],
  ['mail', ['MCP', 'the ledger']],
  ['board_task', ['MCP', 'the ledger']],
])('V-10 a canary would be found by this test if a hook ignored %s', async (kind, found) => {
  const places = await outputsWithCanary((value, path) => (path[0] === kind ? value : redact(value)))
  expect(placesWith(places)).toEqual(expect.arrayContaining(found))
})
