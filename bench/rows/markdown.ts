// The longest texts that the page shows as Markdown, of what such parsers take long for: the page must stay usable with any of them.
import { performance } from 'node:perf_hooks'
import { markdownOf, maxMarkdownLength } from '../../page/src/model/markdown.ts'
import { defineRow } from '../runner/row.ts'

interface Size {
  times: number
}

/** A text of the greatest length repeats one of them. */
const units = [
  '[',
  '[]',
  '](',
  '[a](',
  '*',
  '** ',
  '*a **b ',
  '>',
  '> > > > > > > >\n',
  '- ',
  '- a\n  - b\n    - c\n',
  '`` ` ',
  'https://a.test/)',
  ')',
  '|',
  '|\n',
  '-',
  '- - ',
  ' ',
  '#',
  ']( "',
  '~~~\n',
]

function millisecondsOf(text: string): number {
  const began = performance.now()
  markdownOf(text)
  return performance.now() - began
}

export const markdown = defineRow<Size, Size>({
  name: 'markdown',
  title: 'Hostile Markdown on the page',
  method: `${units.length} texts of ${maxMarkdownLength.toLocaleString('en')} characters, each alone and after a URL, the fastest of some times.`,
  figures: { longest: { label: 'slowest text', unit: 'ms', better: 'less' } },
  sizes: { full: { times: 5 }, quick: { times: 3 }, tiny: { times: 1 } },
  rounds: { full: 1, quick: 1, tiny: 1 },
  cases: (size) => [{ name: 'any text', given: size }],
  sides: {
    errand: {
      durability: '',
      async measure({ times }, { note }) {
        const slowest = { unit: '', took: 0 }
        for (const unit of units) {
          for (const start of ['', 'https://a.test/']) {
            const text = (start + unit.repeat(Math.ceil(maxMarkdownLength / unit.length))).slice(0, maxMarkdownLength)
            const took = Math.min(...Array.from({ length: times }, () => millisecondsOf(text)))
            if (took > slowest.took) Object.assign(slowest, { unit, took })
          }
        }
        note(`the slowest repeats ${JSON.stringify(slowest.unit)}`)
        return { longest: slowest.took }
      },
    },
  },
  goals: [{ figure: 'longest', case: 'any text', as: 'value', atMost: 1_000 }],
})
