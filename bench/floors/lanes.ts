// Concurrency: callers in lanes, and slots for what they have created.

/** Runs `work` for each number below `count`, `lanes` of them at a time. */
export async function inLanes(count: number, lanes: number, work: (n: number) => Promise<unknown>): Promise<void> {
  const lane = async (first: number): Promise<void> => {
    for (let n = first; n < count; n += lanes) await work(n)
  }
  await Promise.all(Array.from({ length: lanes }, (_, first) => lane(first)))
}

/** A bounded number of works at a time, the others in a queue. */
export function createSlots(count: number): { run(work: () => Promise<void>): void; idle(): Promise<void> } {
  const waiting: Array<() => Promise<void>> = []
  let running = 0
  const idlers: Array<() => void> = []
  function next(): void {
    const work = waiting.shift()
    if (work === undefined) {
      if (running === 0) for (const resolve of idlers.splice(0)) resolve()
      return
    }
    running++
    void work().then(() => {
      running--
      next()
    })
  }
  return {
    run(work) {
      waiting.push(work)
      if (running < count) next()
    },
    idle: () =>
      running === 0 && waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve)),
  }
}
