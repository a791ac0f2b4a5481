// The confidence of facts, and which facts are durable. Confidence is counted in whole hundredths, 0 to 100, because as fractions
// 0.7 + 0.1 is less than 0.8.

/** Of a fact that was observed once. */
export const firstConfidence = 70

/** What each further observation adds. */
export const boostBy = 10

export const fullConfidence = 100

export function boosted(confidence: number): number {
  return Math.min(fullConfidence, confidence + boostBy)
}

/** The confidence of a fact that replaces two: the higher one, boosted by the other. */
export function merged(a: number, b: number): number {
  return boosted(Math.max(a, b))
}

/** As shown to users, 0 to 1. */
export function toFraction(hundredths: number): number {
  return hundredths / fullConfidence
}

/** The nearest whole hundredth to a fraction, 0 to 1. */
export function toHundredths(fraction: number): number {
  return Math.round(fraction * fullConfidence)
}

/** Which facts outlast their task. */
export interface DurableRule {
  /** The minimum confidence, in hundredths. */
  threshold: number
  categories: readonly string[]
}

export const defaultDurableRule: DurableRule = {
  threshold: 80,
  categories: ['bug_fix', 'architecture', 'pattern', 'decision', 'security', 'performance'],
}

/** The category of the summary of an agent's facts. It is never durable, regardless of the rule. */
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
