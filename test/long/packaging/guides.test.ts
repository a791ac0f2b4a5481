// The guides, walked word by word in an empty folder with the packed package. `.ci/run` walks them again on the oldest Node that is
// supported, with the packages that npm installs.
import { expect, it } from 'vitest'
import { blocksIn, outputPattern } from '../../../scripts/guide-blocks.ts'
import { guides, walkGuide } from '../../../scripts/walk-guides.ts'

it.each(guides)(
  'every command of %s does in an empty folder what the guide shows',
  async (guide) => {
    await walkGuide(guide, { node: process.env['PACKED_NODE'] ?? process.execPath, offline: true })
  },
  240_000,
)

it('a block of a guide has a language, a label and a text', () => {
  const guide = 'Save it:\n\n```js one.mjs\nconsole.log(1)\n```\n\n```sh\nnode one.mjs\n```\n'
  expect(blocksIn(guide)).toEqual([
    { language: 'js', label: 'one.mjs', text: 'console.log(1)\n' },
    { language: 'sh', label: '', text: 'node one.mjs\n' },
  ])
})

it('… in the output of a guide is any text of a line, and alone any lines', () => {
  const pattern = outputPattern('…\nport …, ready\n')
  expect(pattern.test('port 80, ready\n')).toBe(true)
  expect(pattern.test('one\ntwo\nport 80, ready\n')).toBe(true)
  expect(pattern.test('port 80, ready\nmore\n')).toBe(false)
  expect(pattern.test('port 80\n, ready\n')).toBe(false)
})
