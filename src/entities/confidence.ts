// How sure a fact is, and what that makes of it: kept for good, or left on the branch of its task. Confidence is counted in whole
// hundredths, 0 to 100, because in fractions 0.7 and a boost of 0.1 stay below 0.8.

/** Of a fact that was observed once. */
export const firstConfidence = 70

/** What each further observation adds. */
export const boostBy = 10

export const fullConfidence = 100

export function boosted(confidence: number): number {
  return Math.min(fullConfidence, confidence + boostBy)
}

/** Of one fact that stands for two: as sure as the surer one, and confirmed by the other. */
export function merged(a: number, b: number): number {
  return boosted(Math.max(a, b))
}

/** As people read it: 0 to 1. */
export function toFraction(hundredths: number): number {
  return hundredths / fullConfidence
}

/** The nearest whole hundredth to a fraction, 0 to 1. */
export function toHundredths(fraction: number): number {
  return Math.round(fraction * fullConfidence)
}

/** Which facts are worth more than the task they come from. */
export interface DurableRule {
  /** The least confidence, in hundredths. */
  threshold: number
  categories: readonly string[]
}

export const defaultDurableRule: DurableRule = {
  threshold: 80,
  categories: ['bug_fix', 'architecture', 'pattern', 'decision', 'security', 'performance'],
}

/** Of the fact that sums up what an agent found. It tells of other facts and is none that lasts, whatever the rule says. */
export const summaryCategory = 'summary'

/** A category as it is stored: `arch` is short for `architecture`. */
export function categoryNamed(text: string): string {
  return text === 'arch' ? 'architecture' : text
}

/** True for a fact that is a candidate for the parent branch. */
export function isDurable(
  { confidence, category }: { confidence: number; category: string },
  { threshold, categories }: DurableRule,
): boolean {
  const named = categoryNamed(category)
  if (named === summaryCategory || confidence < threshold) return false
  return categories.some((each) => categoryNamed(each) === named)
}
