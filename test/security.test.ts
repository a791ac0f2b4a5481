// SECURITY.md names for each attack the defense and the tests that prove it. Here the named tests are checked to exist.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')

interface Row {
  attack: string
  /** The texts in backticks in its last column. */
  named: string[]
}

/** The rows of all tables with the columns attack, defense and tests. */
function rowsIn(page: string): Row[] {
  const tables = page.split(/^\| attack \| defense \| tests \|\n\|[-|]+\|\n/m).slice(1)
  return tables.flatMap((rest) => {
    const lines = rest.split('\n')
    const end = lines.findIndex((line) => !line.startsWith('|'))
    return lines.slice(0, end === -1 ? lines.length : end).map((line) => {
      const cells = line.split(' | ')
      const named = Array.from((cells.at(-1) ?? '').matchAll(/`([^`]+)`/g), ([, name = '']) => name)
      return { attack: (cells[0] ?? '').replace(/^\| /, ''), named: cells.length === 3 ? named : [] }
    })
  })
}

/** The titles of the tests of a file, and of their describe blocks. */
function titlesIn(text: string): string[] {
  const calls = /(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1\s*,/g
  // The names of the house rules are titles of tests.
  const rules = /^ {2}'([^'\n]+)': [a-z]\w+,$/gm
  return [
    ...Array.from(text.matchAll(calls), ([, , title = '']) => title.replaceAll(/\\(.)/g, '$1')),
    ...Array.from(text.matchAll(rules), ([, title = '']) => title),
  ]
}

function complaintsAbout(page: string, titles: readonly string[]): string[] {
  return rowsIn(page).flatMap(({ attack, named }) => {
    if (named.length === 0) return [`"${attack}" names no test`]
    return named
      .filter((name) => !titles.some((title) => title.includes(name)))
      .map((name) => `"${attack}" names "${name}", and no test has this title`)
  })
}

const page = readFileSync(join(root, 'SECURITY.md'), 'utf8')
const titles = readdirSync(join(root, 'test'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /(?:\.test|^rules)\.ts$/.test(entry.name))
  .flatMap((entry) => titlesIn(readFileSync(join(entry.parentPath, entry.name), 'utf8')))

describe('The page about security', () => {
  it('SECURITY.md names existing tests for each attack', () => {
    expect(rowsIn(page).length).toBeGreaterThan(40)
    expect(complaintsAbout(page, titles)).toEqual([])
  })

  it('SECURITY.md lists every attack that was found', () => {
    const named = rowsIn(page).flatMap(({ named }) => named)
    const findings = Array.from({ length: 10 }, (_, n) => `V-${String(n + 1).padStart(2, '0')}`)
    expect(findings.filter((id) => !named.some((name) => name.startsWith(id)))).toEqual([])
  })

  it('SECURITY.md gives a reason for each thing that it does not promise', () => {
    const [, rest = ''] = page.split('| not promised | why |\n|---|---|\n')
    const rows = rest.split('\n\n')[0]?.split('\n') ?? []
    expect(rows.length).toBeGreaterThan(10)
    expect(rows.filter((row) => !/^\| .{5,} \| .{20,} \|$/.test(row))).toEqual([])
  })

  it('a planted fault in SECURITY.md is found', () => {
    const table = (...rows: string[]) => `# A page\n\n| attack | defense | tests |\n|---|---|---|\n${rows.join('\n')}\n`
    const known = ['V-01 refuses it', 'keeps it out', 'SQL is bound']
    expect(complaintsAbout(table('| One | A wall | `V-01`; `keeps it out` |'), known)).toEqual([])
    const faulty = table(
      '| One | A wall | `keeps it in` |',
      '| Two | A wall | |',
      '| Three | `keeps it out` | to be written |',
      '| Four | A wall | `V-01`; `V-02` |',
    )
    expect(complaintsAbout(faulty, known)).toEqual([
      '"One" names "keeps it in", and no test has this title',
      '"Two" names no test',
      '"Three" names no test',
      '"Four" names "V-02", and no test has this title',
    ])
    expect(complaintsAbout(`${table('| One | A wall | `SQL is bound` |')}\n| Two | A wall | |\n`, known)).toEqual([])
  })

  it('titles are read from tests in every form, and from nothing else', () => {
    const text = [
      `it('one', () => {})`,
      `test.each([1, 2])('two of %i', async () => {})`,
      `describe.each(Object.entries(cases))(\n  "it's three", () => {})`,
      `it(\`four\`, async () => {})`,
      `it('that it\\'s five', () => {})`,
      `expect(text).toBe('six')`,
      `// it('seven')`,
      `export const rules = {\n  'eight is held': heldToEight,\n}`,
    ].join('\n')
    expect(titlesIn(text)).toEqual(['one', 'two of %i', "it's three", 'four', "that it's five", 'eight is held'])
  })
})
