// The number of events in each of the last seconds.

export const windowSeconds = 300

export interface Rates {
  /** Epoch seconds, oldest first. */
  seconds: number[]
  events: number[]
  completed: number[]
}

export class Throughput {
  readonly #events = new Map<number, number>()
  readonly #completed = new Map<number, number>()

  add(event: { at: number; type: string }): void {
    const second = Math.floor(event.at / 1000)
    count(this.#events, second)
    if (event.type === 'task.completed') count(this.#completed, second)
  }

  /** The window that ends now. Older counts are dropped. */
  rates(now: number): Rates {
    const last = Math.floor(now / 1000)
    const first = last - windowSeconds + 1
    for (const counts of [this.#events, this.#completed]) {
      for (const second of counts.keys()) if (second < first) counts.delete(second)
    }
    const seconds = Array.from({ length: windowSeconds }, (_, index) => first + index)
    return {
      seconds,
      events: seconds.map((second) => this.#events.get(second) ?? 0),
      completed: seconds.map((second) => this.#completed.get(second) ?? 0),
    }
  }
}

function count(counts: Map<number, number>, second: number): void {
  counts.set(second, (counts.get(second) ?? 0) + 1)
}

/** The mean of the last seconds, without the current one. */
export function perSecond(counts: readonly number[], seconds = 10): number {
  const span = counts.slice(-seconds - 1, -1)
  return span.length === 0 ? 0 : span.reduce((sum, each) => sum + each, 0) / span.length
}

/** Means over `width` buckets, since a small plot has fewer pixels than five minutes have seconds. */
export function smoothed(counts: readonly number[], width: number): number[] {
  let sum = 0
  return counts.map((each, index) => {
    sum += each - (counts[index - width] ?? 0)
    return sum / Math.min(width, index + 1)
  })
}
