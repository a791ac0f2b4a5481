// Markdown of models and users: what is recognized, that hostile texts stay harmless. `npm run bench -- markdown` measures the slowest texts.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Block, lineOfMarkdown, markdownOf, maxMarkdownLength } from '../../page/src/model/markdown.ts'
import { type Inline, inlineMarkdown } from '../../page/src/model/markdown-inline.ts'

/** Inline content in a short notation: `strong(bold)`, `link[https://a.test/](text)`. */
function shown(content: readonly Inline[]): string {
  return content
    .map((each) => {
      if (each.kind === 'text') return each.text
      if (each.kind === 'code') return `code(${each.text})`
      if (each.kind === 'link') return `link[${each.href}](${shown(each.content)})`
      return `${each.kind}(${shown(each.content)})`
    })
    .join('')
}

const inline = (text: string) => shown(inlineMarkdown(text))

function outline(blocks: readonly Block[] | null): unknown {
  return (blocks ?? []).map(outlineOf)
}

function outlineOf(block: Block): unknown {
  switch (block.kind) {
    case 'paragraph':
      return shown(block.content)
    case 'heading':
      return [`h${block.level}`, shown(block.content)]
    case 'code':
      return ['code', block.text]
    case 'quote':
      return ['quote', outline(block.blocks)]
    case 'list':
      return [block.start ?? 'list', ...block.items.map(({ checked, blocks: own }) => [checked, outline(own)])]
    case 'table':
      return ['table', ...[block.head, ...block.rows].map((row) => row.map(shown))]
    case 'rule':
      return 'rule'
  }
}

const parsed = (...lines: string[]) => outline(markdownOf(lines.join('\n')))

/** Every URL that the rendered text links to, and all text that it shows. */
function contentsOf(text: string): { links: string[]; texts: string[] } {
  const links: string[] = []
  const texts: string[] = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each)
    else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) {
        if (key === 'href') links.push(each as string)
        else if (key === 'text') texts.push(each as string)
        else visit(each)
      }
    }
  }
  visit(markdownOf(text))
  return { links, texts }
}

it.each([
  ['**bold** and *soft*, __bold__ and _soft_', 'strong(bold) and em(soft), strong(bold) and em(soft)'],
  ['***both*** ~~gone~~', 'strong(em(both)) del(gone)'],
  ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
  ['`a *b* \\` and ``c ` d``', 'code(a *b* \\) and code(c ` d)'],
  ['\\*not soft\\* and C:\\dir', '*not soft* and C:\\dir'],
  ['[docs](https://a.test/x "Title")', 'link[https://a.test/x](docs)'],
  ['[a **b**](https://a.test/x_(y))', 'link[https://a.test/x_(y)](a strong(b))'],
  [
    'see https://a.test/x. (https://b.test/)',
    'see link[https://a.test/x](https://a.test/x). (link[https://b.test/](https://b.test/))',
  ],
  [
    '<https://a.test/> <mailto:ann@a.test>',
    'link[https://a.test/](https://a.test/) link[mailto:ann@a.test](mailto:ann@a.test)',
  ],
  ['**open *marks `stay', '**open *marks `stay'],
  ['a [bracket] and array[0] = *b', 'a [bracket] and array[0] = *b'],
])('inline Markdown %j is read as %j', (text, expected) => {
  expect(inline(text)).toBe(expected)
})

it('headings, paragraphs, rules and code are blocks', () => {
  expect(
    parsed('# Title #', 'One line', 'and *another*', '', '***', '~~~ts', 'const a = 1', '', '# no', '~~~', 'end'),
  ).toEqual([['h1', 'Title'], 'One line\nand em(another)', 'rule', ['code', 'const a = 1\n\n# no'], 'end'])
})

it('lists nest, count from their first number, and have items to check', () => {
  expect(
    parsed('Steps:', '3. three', '   more of it', '4. four', '   - [x] done', '   - [ ] to do', '', 'after'),
  ).toEqual([
    'Steps:',
    [3, [null, ['three\nmore of it']], [null, ['four', ['list', [true, ['done']], [false, ['to do']]]]]],
    'after',
  ])
})

it('a table may follow a paragraph at once, and quotes contain blocks', () => {
  expect(parsed('Look:', '| a | b |', '|---|:-:|', '| 1 | x \\| `y` |', '', '> ## Said', '> - so')).toEqual([
    'Look:',
    ['table', ['a', 'b'], ['1', 'x | code(y)']],
    [
      'quote',
      [
        ['h2', 'Said'],
        ['list', [null, ['so']]],
      ],
    ],
  ])
})

it('raw HTML stays text', () => {
  const html = '<img src=x onerror=alert(1)> <script>alert(1)</script> <a href="javascript:alert(1)">x</a> &lt;b&gt;'
  expect(parsed(html)).toEqual([html])
})

it.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\tscript:alert(1)',
  '\u0001javascript:alert(1)',
  'data:text/html,<script>1</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:x',
  '//a.test/x',
  '/tasks/1/cancel',
  '#/new',
])('a link to %j is no link', (url) => {
  for (const text of [`[x](${url})`, `![x](${url})`, `<${url}>`, `[x](<${url}>)`]) {
    expect(contentsOf(text).links).toEqual([])
  }
})

it('an image becomes a link, so that nothing is loaded', () => {
  expect(inline('![a chart](https://a.test/pixel.png)')).toBe('image: link[https://a.test/pixel.png](a chart)')
})

it('a link contains no other link', () => {
  expect(inline('[a https://b.test/ [c](https://c.test/)](https://a.test/)')).not.toMatch(/link\[[^\]]*\]\([^)]*link/)
})

it('no text makes it throw, lose its words, or link to another protocol', () => {
  const pieces = [
    '*',
    '**',
    '_',
    '~~',
    '`',
    '```',
    '[',
    ']',
    '](',
    ')',
    '![',
    '<',
    '>',
    '|',
    '\n',
    '\n\n',
    '- ',
    '1. ',
    '# ',
    '\\',
    ' ',
  ]
  const piece = fc.oneof(
    fc.constantFrom(...pieces, 'javascript:', 'https://a.test', '---', '    '),
    fc.stringMatching(/^[a-z]{1,8}$/),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (parts) => {
      const { links } = contentsOf(parts.join(''))
      for (const href of links) expect(href).toMatch(/^(?:https?|mailto):/)
    }),
    { numRuns: 500 },
  )
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { maxLength: 20 }), (words) => {
      expect(
        contentsOf(words.join(' *'))
          .texts.join(' ')
          .split(/[\s*]+/)
          .filter(Boolean),
      ).toEqual(words)
    }),
  )
})

it('lineOfMarkdown says a text in one line without marks', () => {
  const text = '# Review\n\nIs **this** `fine`?\n\n- one [link](https://a.test/)\n- two\n\n---\n\n> quoted'
  expect(lineOfMarkdown(text, 300)).toBe('Review Is this fine? one link, two quoted')
  expect(lineOfMarkdown('**cut** off', 7)).toBe('cut')
})

it('a longer text is left to be shown as it is, and deep nesting ends as text', () => {
  expect(markdownOf('a'.repeat(maxMarkdownLength + 1))).toBeNull()
  expect(JSON.stringify(markdownOf('> '.repeat(50)))).toContain('> >')
  expect(JSON.stringify(markdownOf('- '.repeat(50))).length).toBeLessThan(2_000)
})
