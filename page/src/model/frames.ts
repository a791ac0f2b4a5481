// However often something changes, it is shown a few times a second; what is expensive, less often than that.

export interface Beat {
  now(): number
  /** Calls back before the next picture is painted. */
  frame(callback: () => void): void
  /** Calls back after so many milliseconds. */
  later(callback: () => void, ms: number): void
}

/**
 * Returns what asks for `work`: at once if it has rested for so long, else when it has. Asked for last, done last. A rest that is a
 * function is asked each time, in milliseconds.
 */
export function atMostEvery(beat: Beat, restMs: number | (() => number), work: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  let asked = false
  const run = () => {
    asked = false
    last = beat.now()
    work()
  }
  return () => {
    if (asked) return
    asked = true
    const rest = last + (typeof restMs === 'number' ? restMs : restMs()) - beat.now()
    if (rest <= 0) beat.frame(run)
    else beat.later(run, rest)
  }
}

/** Like `atMostEvery`, for work that grows with what there is: it also takes no more than this share of the time. */
export function sparingly(
  beat: Beat,
  { restMs, share }: { restMs: number; share: number },
  work: () => void,
): () => void {
  let tookMs = 0
  return atMostEvery(
    beat,
    () => Math.max(restMs, tookMs / share),
    () => {
      const began = beat.now()
      work()
      tookMs = beat.now() - began
    },
  )
}
