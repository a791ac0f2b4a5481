// The words of a fact, the likeness of two, and the bounds of a search by words.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { likeness, minShared, probeCount, similarSizes, splitRun, wordsOf } from '../../src/entities/fact-tokens.ts'
import { runs } from '../tier.ts'

describe('the words of a text', () => {
  it('S2-086 words are letters and digits in lower case, each once, in order of appearance', () => {
    expect(wordsOf('Fix the auth_token bug: THE token (v2) expires after 30s!')).toEqual([
      'fix',
      'the',
      'auth',
      'token',
      'bug',
      'v2',
      'expires',
      'after',
      '30s',
    ])
    expect(wordsOf('')).toEqual([])
    expect(wordsOf('?! -- …')).toEqual([])
  })

  it('S2-088 words have more than one code point', () => {
    expect(wordsOf("I don't use a 7 or x")).toEqual(['don', 'use', 'or'])
    expect(wordsOf('𝔸 𐐀 𐐀𐐁')).toEqual(['𐐨𐐩'])
    expect(wordsOf('猫 and 犬')).toEqual(['and'])
  })

  it('S2-090 words of any script with spaces are found', () => {
    expect(wordsOf('Ошибка в модуле; λόγος ΛΌΓΟΣ, ٣٠ ثانية')).toEqual(['ошибка', 'модуле', 'λόγος', '٣٠', 'ثانية'])
    expect(wordsOf('हिन्दी भाषा')).toEqual(['हिन्दी', 'भाषा'])
  })

  it('S2-090 words of a script without spaces are overlapping pairs of characters', () => {
    expect(wordsOf('修复登录错误')).toEqual(['修复', '复登', '登录', '录错', '错误'])
    expect(wordsOf('用git提交代码')).toEqual(['git', '提交', '交代', '代码'])
    expect(wordsOf('サーバー')).toEqual(['サー', 'ーバ', 'バー'])
    expect(wordsOf('ข้อผิด')).toEqual(['ข้อ', 'อผิ', 'ผิด'])
    const [a, b] = [wordsOf('登录接口的超时时间设置为三十秒'), wordsOf('登录接口的超时时间设置为六十秒')]
    expect(likeness(a, b)).toBeGreaterThan(0.5)
    expect(likeness(a, wordsOf('数据库迁移已经完成'))).toBe(0)
  })

  it('words do not depend on the Unicode form of the text', () => {
    expect(wordsOf('ｆｕｌｌ Ｗｉｄｔｈ ﬁx')).toEqual(['full', 'width', 'fix'])
    expect(wordsOf('re\u0301sume\u0301')).toEqual(wordsOf('RÉSUMÉ'))
    expect(wordsOf('q\u0307\u0323x')).toEqual(wordsOf('q\u0323\u0307x'))
    expect(wordsOf('ｶﾞｷﾞ')).toEqual(['ガギ'])
  })

  it('words are all found in a text of any length', () => {
    const many = Array.from({ length: runs(20_000, 200_000) }, (_, at) => `w${at}`)
    expect(wordsOf(many.join(' '))).toEqual(many)
    expect(wordsOf('x'.repeat(4_000_000))).toEqual(['x'.repeat(4_000_000)])
  })

  it('words are found quickly in a text with very many marks on one letter', () => {
    // Marks of two classes in turns, which to put in order takes the square of their number.
    expect(wordsOf(`before ${'a\u0301\u0323'.padEnd(runs(200_000, 1_000_000), '\u0301\u0323')} after`)).toHaveLength(3)
    expect(wordsOf(`before ${'カ'.padEnd(runs(200_000, 1_000_000), 'ﾞ\u0301')} after`)).toHaveLength(3)
  })

  it('splitRun returns a word itself, or the pairs of a run; a single character stays', () => {
    expect(splitRun('word')).toEqual(['word'])
    expect(splitRun('猫')).toEqual(['猫'])
    expect(splitRun('登录')).toEqual(['登录'])
  })

  it('words do not change when they are split again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
        const words = wordsOf(text)
        expect(new Set(words).size).toBe(words.length)
        for (const word of words) expect(wordsOf(word)).toEqual([word])
      }),
    )
  })
})

describe('the likeness of two texts', () => {
  it('S2-087 likeness is 1 for equal words, 0 for none in common, and 0 without words', () => {
    expect(likeness(wordsOf('Fix the bug'), wordsOf('the BUG: fix!'))).toBe(1)
    expect(likeness(['aa', 'bb'], ['cc'])).toBe(0)
    expect(likeness([], ['aa'])).toBe(0)
    expect(likeness(['aa'], [])).toBe(0)
    expect(likeness([], [])).toBe(0)
  })

  it('likeness is the shared part of all words, for arrays and sets', () => {
    expect(likeness(['aa', 'bb', 'cc'], ['bb', 'cc', 'dd'])).toBe(0.5)
    expect(likeness(new Set(['aa', 'bb', 'cc']), new Set(['bb']))).toBe(1 / 3)
    expect(likeness(['aa', 'aa', 'bb'], new Set(['aa']))).toBe(0.5)
  })

  it('S2-089 likeness of 17 words in 20 is exactly 0.85, which is not above that threshold', () => {
    const twenty = Array.from({ length: 20 }, (_, at) => `word${at}`)
    expect(likeness(twenty, twenty.slice(0, 17))).toBe(0.85)
    expect(likeness(twenty, twenty.slice(0, 17)) > 0.85).toBe(false)
    expect(likeness(twenty, twenty.slice(0, 18)) > 0.85).toBe(true)
  })
})

/** Two sets with a likeness above 0, and a threshold below it: often just below, where a bound that is off by one shows. */
const alikeSets = fc
  .tuple(
    fc.integer({ min: 1, max: 60 }),
    fc.integer({ min: 0, max: 15 }),
    fc.integer({ min: 0, max: 15 }),
    fc.oneof(fc.constant(1 - Number.EPSILON), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
  )
  .map(([shared, onlyA, onlyB, part]) => {
    const wordsNamed = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}${at}`)
    const common = wordsNamed('shared', shared)
    const a = new Set([...wordsNamed('a', onlyA), ...common])
    const b = new Set([...wordsNamed('b', onlyB), ...common])
    return { a, b, threshold: likeness(a, b) * part }
  })

/** What a search would miss with these bounds; undefined when it finds the alike set. */
function missedBy(
  bounds: { probeCount: typeof probeCount; similarSizes: typeof similarSizes },
  { a, b, threshold }: { a: Set<string>; b: Set<string>; threshold: number },
): string | undefined {
  const { min, max } = bounds.similarSizes(a.size, threshold)
  if (b.size < min || b.size > max) return 'its size'
  // The unluckiest choice of words is of those that the other has not: any choice that is longer meets it.
  const strangers = [...a].filter((word) => !b.has(word)).length
  return strangers >= bounds.probeCount(a.size, threshold) ? 'its words' : undefined
}

describe('a search by few words', () => {
  it('a lookup by few words finds every set above the threshold, whichever words are used', () => {
    fc.assert(
      fc.property(alikeSets, (sets) => {
        expect(likeness(sets.a, sets.b)).toBeGreaterThan(sets.threshold)
        expect(missedBy({ probeCount, similarSizes }, sets)).toBeUndefined()
      }),
      { numRuns: runs(300, 2_000) },
    )
  })

  it.each<[string, Parameters<typeof missedBy>[0], string]>([
    ['one word fewer', { probeCount: (size, threshold) => probeCount(size, threshold) - 1, similarSizes }, 'its words'],
    [
      'a minimum size one higher',
      { probeCount, similarSizes: (size, t) => ({ ...similarSizes(size, t), min: similarSizes(size, t).min + 1 }) },
      'its size',
    ],
    [
      'a maximum size one lower',
      { probeCount, similarSizes: (size, t) => ({ ...similarSizes(size, t), max: similarSizes(size, t).max - 1 }) },
      'its size',
    ],
  ])('a lookup would miss some sets with %s', (_what, bounds, missed) => {
    const misses = fc.sample(alikeSets, { numRuns: 2_000, seed: 1 }).map((sets) => missedBy(bounds, sets))
    expect(misses).toContain(missed)
  })

  it('a lookup takes few words at a high threshold, and all of them at 0', () => {
    expect(minShared(20, 0.85)).toBe(17)
    expect(probeCount(20, 0.85)).toBe(4)
    expect(similarSizes(20, 0.85)).toEqual({ min: 17, max: 23 })
    expect(minShared(20, 0)).toBe(1)
    expect(probeCount(20, 0)).toBe(20)
    expect(similarSizes(20, 0)).toEqual({ min: 1, max: Number.MAX_SAFE_INTEGER })
    expect(similarSizes(20, Number.MIN_VALUE).max).toBe(Number.MAX_SAFE_INTEGER)
    expect(minShared(20, 1)).toBe(20)
    expect(probeCount(20, 1)).toBe(1)
  })

  it('a text without words has nothing to look up', () => {
    expect(probeCount(0, 0.85)).toBe(0)
    expect(similarSizes(0, 0.85).max).toBeLessThan(similarSizes(0, 0.85).min)
  })
})
