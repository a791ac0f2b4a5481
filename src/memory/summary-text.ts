// Texts of summaries and episodes.

import { clipped } from '../core/storable-text.ts'
import type { FactRecord } from '../entities/memory.ts'

/** Limits a text to so many characters on one line. */
export function shortened(text: string, characters: number): string {
  return clipped(text.replace(/\s+/g, ' ').trim(), characters)
}

const maxFindings = 5
const maxFindingLength = 200

/** The five facts with the highest confidence, oldest first among equals, joined by semicolons, without final punctuation. */
export function keyFindings(facts: readonly FactRecord[]): string {
  const surest = facts.toSorted((a, b) => b.confidence - a.confidence || a.seq - b.seq).slice(0, maxFindings)
  return surest.map(({ text }) => shortened(text, maxFindingLength).replace(/[.;\s]+$/, '')).join('; ')
}
