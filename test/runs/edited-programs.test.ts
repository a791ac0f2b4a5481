// Some edits of a program at each point of its journal, a fault that they must find, and how many edits there are; test/long tries all of them.
import { afterEach, expect, it, vi } from 'vitest'
import { DivergenceGuard } from '../../src/actors/divergence.ts'
import { edits, ends, findingsOf } from './edited-programs.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

it.each(ends)(
  'replay repeats no completed effect without an error where some programs are edited (%s)',
  async (end) => {
    const some = edits.filter((_, index) => index % 9 === 0)
    const found = await findingsOf(some, end)
    expect(found.silent).toEqual([])
    expect(found.refused).toBeGreaterThan(0)
  },
)

it('the edits cover forty-five programs', () => {
  expect(edits.map(({ title }) => title)).toHaveLength(45)
})

it('the harness detects a guard that allows everything', async () => {
  vi.spyOn(DivergenceGuard.prototype, 'pass').mockResolvedValue([])
  const renamed = edits.filter(({ title }) => title === 'sequential: b renamed')
  expect((await findingsOf(renamed, 'pause')).silent).not.toEqual([])
  expect((await findingsOf(renamed, 'fail')).silent).not.toEqual([])
})
