// Throttles updates: painting to a few times a second, and expensive work further.

/** Time and timers of a page; a test passes its own. */
export interface FrameClock {
  now(): number
  /** Calls back before the next frame. */
  frame(callback: () => void): void
  /** Calls back after `ms` milliseconds. */
  later(callback: () => void, ms: number): void
}

/**
 * Returns a function that requests `work`: it runs at once if the last run was at least `restMs` ago, else after that time. The last
 * request is never lost. If `restMs` is a function, it is called each time.
 */
export function atMostEvery(clock: FrameClock, restMs: number | (() => number), work: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  let isRequested = false
  const run = () => {
    isRequested = false
    last = clock.now()
    work()
  }
  return () => {
    if (isRequested) return
    isRequested = true
    const rest = last + (typeof restMs === 'number' ? restMs : restMs()) - clock.now()
    if (rest <= 0) clock.frame(run)
    else clock.later(run, rest)
  }
}

/** Like `atMostEvery`, for work that grows with the number of tasks: it also uses at most this share of the time. */
export function sparingly(
  clock: FrameClock,
  { restMs, share }: { restMs: number; share: number },
  work: () => void,
): () => void {
  let tookMs = 0
  return atMostEvery(
    clock,
    () => Math.max(restMs, tookMs / share),
    () => {
      const began = clock.now()
      work()
      tookMs = clock.now() - began
    },
  )
}
