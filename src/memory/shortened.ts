// Long texts in short ones: what a summary or an episode quotes of them.
import { clipped } from '../storable-text.ts'

/** At most so many characters, on one line. */
export function shortened(text: string, characters: number): string {
  return clipped(text.replace(/\s+/g, ' ').trim(), characters)
}
