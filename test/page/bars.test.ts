// Bars of the charts.

import { expect, it } from 'vitest'
import { heightsOf, roundUp } from '../../page/src/model/bars.ts'

it('the axis ends at a round number, and small values stay visible', () => {
  expect([0, 1, 3, 6, 10, 11, 4_001].map(roundUp)).toEqual([1, 1, 5, 10, 10, 20, 5_000])
  expect(heightsOf([0, 1, 500])).toEqual({ top: 500, heights: [0, 0.03, 1] })
  expect(heightsOf([])).toEqual({ top: 1, heights: [] })
})
