// A report is counted to the same end wherever it crashes.
import { expectDurable } from 'errand/testing'
import { expect, it, vi } from 'vitest'
import { reportOf } from './report.ts'

it('counts the same words, wherever it crashes', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {})
  const documents = [
    { name: 'spring', text: 'When daisies pied and violets blue' },
    { name: 'summer', text: 'Sumer is icumen in\nLhude sing cuccu' },
  ]
  const { crashes } = await expectDurable(reportOf({ wordsPerSecond: 1_000_000 }), {
    input: { title: 'Seasons', documents },
  })
  expect(crashes).toBeGreaterThan(10)
})
