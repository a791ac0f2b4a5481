// Medians and quantiles.

export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('There are no values to take a quantile of.')
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * share)] as number
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Median, and what the rounds differed. */
export interface Spread {
  median: number
  least: number
  most: number
  all: number[]
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values), all: [...values] }
}
