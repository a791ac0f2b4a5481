// Bars of a chart: their heights and the value of the axis.

/** The smallest of 1, 2, 5, 10, 20, … that is at least the value, and at least 1. */
export function roundUp(value: number): number {
  let power = 1
  for (;;) {
    for (const step of [1, 2, 5]) if (step * power >= value) return step * power
    power *= 10
  }
}

/** Heights from 0 to 1 as parts of the axis. A value above zero is visible. */
export function heightsOf(values: readonly number[]): { top: number; heights: number[] } {
  const top = roundUp(Math.max(0, ...values))
  return { top, heights: values.map((value) => (value === 0 ? 0 : Math.max(0.03, value / top))) }
}
