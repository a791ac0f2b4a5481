// The confidence of facts, and which facts are durable.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  boosted,
  categoryNamed,
  defaultDurableRule,
  firstConfidence,
  isDurable,
  merged,
  summaryCategory,
  toFraction,
  toHundredths,
} from '../../src/entities/confidence.ts'

const durable = (confidence: number, category: string) => isDurable({ confidence, category }, defaultDurableRule)

describe('confidence', () => {
  it('S2-063 confidence grows by 0.1 with each observation, up to 1', () => {
    expect(toFraction(firstConfidence)).toBe(0.7)
    expect(boosted(firstConfidence)).toBe(80)
    expect(boosted(95)).toBe(100)
    expect(boosted(100)).toBe(100)
  })

  it('S2-065 a fact that was boosted once has a confidence of exactly 0.8', () => {
    expect(toFraction(boosted(firstConfidence))).toBe(0.8)
    expect(toFraction(boosted(firstConfidence)) >= 0.8).toBe(true)
    expect(durable(boosted(firstConfidence), 'pattern')).toBe(true)
  })

  it('confidence round-trips through a fraction', () => {
    for (let hundredths = 0; hundredths <= 100; hundredths++)
      expect(toHundredths(toFraction(hundredths))).toBe(hundredths)
    expect(toHundredths(0.7 + 0.1)).toBe(80)
    expect(toHundredths(0.333)).toBe(33)
  })

  it('S2-079 two merged facts have the higher confidence, boosted, and never a lower one', () => {
    expect(merged(70, 90)).toBe(100)
    expect(merged(75, 60)).toBe(85)
    const confidence = fc.integer({ min: 0, max: 100 })
    fc.assert(
      fc.property(confidence, confidence, (a, b) => {
        expect(merged(a, b)).toBeGreaterThanOrEqual(Math.max(a, b))
        expect(merged(a, b)).toBeLessThanOrEqual(100)
        expect(merged(a, b)).toBe(merged(b, a))
      }),
    )
  })
})

describe('a fact', () => {
  it.each(['bug_fix', 'architecture', 'pattern', 'decision', 'security', 'performance'])(
    'S2-080 S2-083 a fact of category %s is durable from 0.8 on',
    (category) => {
      expect(durable(80, category)).toBe(true)
      expect(durable(100, category)).toBe(true)
      expect(durable(79, category)).toBe(false)
      expect(durable(0, category)).toBe(false)
    },
  )

  it.each(['insight', 'discovery', 'something_else', ''])(
    'S2-081 S2-083 a fact of category "%s" is never durable',
    (category) => {
      expect(durable(100, category)).toBe(false)
    },
  )

  it('S2-085 a fact is durable by the given threshold and categories', () => {
    const rule = { threshold: 50, categories: ['recipe'] }
    expect(isDurable({ confidence: 50, category: 'recipe' }, rule)).toBe(true)
    expect(isDurable({ confidence: 49, category: 'recipe' }, rule)).toBe(false)
    expect(isDurable({ confidence: 100, category: 'decision' }, rule)).toBe(false)
    expect(isDurable({ confidence: 100, category: 'recipe' }, { threshold: 0, categories: [] })).toBe(false)
  })

  it('a summary is never durable, regardless of the categories', () => {
    const rule = { threshold: 0, categories: [summaryCategory, 'decision'] }
    expect(isDurable({ confidence: 100, category: summaryCategory }, rule)).toBe(false)
    expect(isDurable({ confidence: 100, category: 'decision' }, rule)).toBe(true)
  })

  it('the category arch equals architecture, in facts and in rules', () => {
    expect(categoryNamed('arch')).toBe('architecture')
    expect(categoryNamed('archive')).toBe('archive')
    expect(durable(80, 'arch')).toBe(true)
    expect(isDurable({ confidence: 80, category: 'architecture' }, { threshold: 80, categories: ['arch'] })).toBe(true)
  })
})
