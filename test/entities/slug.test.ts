// The names of branches.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { safeSegment, slugOf } from '../../src/entities/slug.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.string({ unit: fc.constantFrom('a', 'B', '7', '-', '_', '.', ' ', '/', 'é'), maxLength: 120 }),
)

describe('the slug of a name', () => {
  it.each([
    ['Fix OAuth2 Bug', 'fix-oauth2-bug'],
    ['  Multiple   Spaces  ', 'multiple-spaces'],
    ['Special!@#Chars', 'specialchars'],
    ['snake_case and kebab-case', 'snake-case-and-kebab-case'],
    ['a - b __ c', 'a-b-c'],
    ['-_- edges -_-', 'edges'],
    ['Ünïcödé Ａｃｃｅｎｔｓ', 'unicode-accents'],
    ['tab\tand\nline\u00a0space', 'tab-and-line-space'],
  ])('S2-003 slugOf(%j) is %s', (name, slug) => {
    expect(slugOf(name)).toBe(slug)
  })

  it.each(['', '!!!', '修复登录', ' - _ '])(
    'S2-004 slugOf(%j) is empty, so that the caller names the branch',
    (name) => {
      expect(slugOf(name)).toBe('')
    },
  )

  it('S2-003 the slug of a name has at most 60 characters, and no hyphen where it is cut', () => {
    expect(slugOf('x'.repeat(61))).toBe('x'.repeat(60))
    expect(slugOf(`${'x'.repeat(59)} more`)).toBe('x'.repeat(59))
  })

  it('S2-003 slugOf returns letters and digits joined by single hyphens, for any name', () => {
    fc.assert(
      fc.property(anyText, (name) => {
        const slug = slugOf(name)
        expect(slug).toMatch(/^(?:[a-z0-9]+(?:-[a-z0-9]+)*)?$/)
        expect(slug.length).toBeLessThanOrEqual(60)
        expect(slugOf(slug)).toBe(slug)
      }),
    )
  })
})

describe("an agent's id in the name of a branch", () => {
  it.each([
    ['agent_1', 'agent_1'],
    ['Agent-2.b', 'Agent-2.b'],
    ['a/b c', 'a-b-c'],
    ['../../etc', 'etc'],
    ['.-.hidden', 'hidden'],
    ['--a--', 'a'],
    ['José', 'Jose'],
    ['a\u0000b', 'a-b'],
    ['', 'agent'],
    ['/ /', 'agent'],
    ['..', 'agent'],
    ['代理', 'agent'],
  ])('S2-015 safeSegment(%j) is %s', (agentId, segment) => {
    expect(safeSegment(agentId)).toBe(segment)
  })

  it("S2-015 an agent's id in the name of a branch has at most 60 characters, and no hyphen where it is cut", () => {
    expect(safeSegment('x'.repeat(61))).toBe('x'.repeat(60))
    expect(safeSegment(`${'x'.repeat(59)}/more`)).toBe('x'.repeat(59))
  })

  it('S2-015 safeSegment is safe for any id', () => {
    fc.assert(
      fc.property(anyText, (agentId) => {
        const segment = safeSegment(agentId)
        expect(segment).toMatch(/^[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9._])?$/)
        expect(segment.length).toBeLessThanOrEqual(60)
        expect(safeSegment(segment)).toBe(segment)
      }),
    )
  })
})

it.each([
  ['marks', 'a'.padEnd(1_000_000, '\u0301\u0323')],
  ['hyphens', `a${'-'.repeat(1_000_000)}b`],
  ['dots', `a${'.'.repeat(1_000_000)}/`],
])('slugOf reads a name of a million %s quickly', (_what, name) => {
  expect(slugOf(name)).toMatch(/^a/)
  expect(safeSegment(name)).toMatch(/^a/)
})
