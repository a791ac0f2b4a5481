// Which tasks a crash is charged to.
import { describe, expect, it } from 'vitest'
import { type CrashFacts, chargedBy, suspectFrom } from '../../src/machines/crashes.ts'

const run = (facts: Partial<CrashFacts> = {}): CrashFacts => ({
  crashes: 0,
  callInFlight: false,
  progressed: false,
  ...facts,
})

describe('a crash is charged', () => {
  const cases: Array<[string, CrashFacts[], boolean[]]> = [
    ['to all runs, where nothing tells them apart', [run(), run()], [true, true]],
    ['to the runs with a call in flight', [run(), run({ callInFlight: true })], [false, true]],
    [
      'to a suspect alone, whatever its neighbours had in flight',
      [run({ crashes: 2 }), run({ callInFlight: true })],
      [true, false],
    ],
    [
      'to no suspect that has recorded something since',
      [run({ crashes: 2, progressed: true }), run({ callInFlight: true })],
      [false, true],
    ],
    ['to nobody where nothing ran', [], []],
  ]
  for (const [title, runs, charged] of cases) it(title, () => expect(chargedBy(runs, 3)).toEqual(charged))
})

it('suspectFrom makes a task a suspect at its second consecutive crash, or at its first when only one is allowed', () => {
  expect([1, 2, 3, 4, 100].map(suspectFrom)).toEqual([1, 2, 2, 2, 2])
})
