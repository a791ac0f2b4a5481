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
    ['to all runs without further evidence', [run(), run()], [true, true]],
    ['to the runs with a call in flight', [run(), run({ callInFlight: true })], [false, true]],
    [
      'to a suspect alone, regardless of calls in flight of other runs',
      [run({ crashes: 2 }), run({ callInFlight: true })],
      [true, false],
    ],
    [
      'not to a suspect that has recorded something since',
      [run({ crashes: 2, progressed: true }), run({ callInFlight: true })],
      [false, true],
    ],
    ['to no task when nothing ran', [], []],
  ]
  for (const [title, runs, charged] of cases)
    it(`a crash is charged ${title}`, () => expect(chargedBy(runs, 3)).toEqual(charged))
})

it('suspectFrom makes a task a suspect at its second consecutive crash, or at its first when only one is allowed', () => {
  expect([1, 2, 3, 4, 100].map(suspectFrom)).toEqual([1, 2, 2, 2, 2])
})
