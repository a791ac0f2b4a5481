// Texts are cut at whole characters, so that what is left can be stored and shown.
import { describe, expect, it } from 'vitest'
import { clipped, startOf, storableText } from '../../src/core/storable-text.ts'

describe('the beginning of a text', () => {
  it('startOf never leaves half a surrogate pair, and returns a short text as it is', () => {
    expect(startOf('ab😀cd', 2)).toBe('ab')
    expect(startOf('ab😀cd', 3)).toBe('ab')
    expect(startOf('ab😀cd', 4)).toBe('ab😀')
    expect(startOf('ab😀', 4)).toBe('ab😀')
    expect(startOf('😀', 0)).toBe('')
  })

  it('clipped marks a text that is cut and stays within the length', () => {
    expect(clipped('ab😀cd', 4)).toBe('ab…')
    expect(clipped('ab😀cd', 5)).toBe('ab😀…')
    expect(clipped('ab😀cd', 6)).toBe('ab😀cd')
  })

  it('storableText replaces what no ledger takes', () => {
    expect(storableText('a\0b\ud83d')).toBe('a\uFFFDb\uFFFD')
  })
})
