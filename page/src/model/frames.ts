// However often something changes, it is done once a frame; what is expensive, less often than that.

export interface Beat {
  now(): number
  /** Calls back before the next picture is painted. */
  frame(callback: () => void): void
  /** Calls back after so many milliseconds. */
  later(callback: () => void, ms: number): void
}

/** Returns what asks for `work`: many requests before the next frame are one. */
export function oncePerFrame(beat: Beat, work: () => void): () => void {
  let asked = false
  return () => {
    if (asked) return
    asked = true
    beat.frame(() => {
      asked = false
      work()
    })
  }
}

/** Returns what asks for `work`: at once if it has rested for so long, else when it has. Asked for last, done last. */
export function atMostEvery(beat: Beat, restMs: number, work: () => void): () => void {
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
    const rest = last + restMs - beat.now()
    if (rest <= 0) beat.frame(run)
    else beat.later(run, rest)
  }
}
