// Shows changing data on a terminal until it is interrupted. The data is read only after a change, and only a few times per second.
import type { Clock } from '../../core/clock.ts'
import type { Notifier } from '../../core/notifier.ts'
import { sleep } from '../../core/signals.ts'
import type { Output } from './io.ts'
import { LiveScreen } from './live-screen.ts'

/** Bounds of the pause between two reads of the ledger; the pause grows with the duration of a read. */
const minRestMs = 100
const maxRestMs = 1_000
const restPerRead = 4
/** How often ages and leases are redrawn, without a read. */
const tickMs = 1_000

export interface Watched<P> {
  output: Output
  clock: Clock
  /** Rung when something has changed. */
  bell: Notifier
  /** Ends it. */
  signal: AbortSignal
  read(): Promise<P>
  draw(picture: P, now: number): string[]
}

/** Resolves when the signal aborts. */
export async function watchScreen<P>({ output, clock, bell, signal, read, draw }: Watched<P>): Promise<void> {
  const screen = new LiveScreen(output)
  let timer: unknown
  const show = (picture: P) => {
    clock.clearTimeout(timer)
    screen.draw(draw(picture, clock.now()))
    timer = clock.setTimeout(() => show(picture), tickMs)
  }
  try {
    while (!signal.aborted) {
      const begunAt = clock.now()
      show(await read())
      const restMs = Math.min(Math.max((clock.now() - begunAt) * restPerRead, minRestMs), maxRestMs)
      await bell.wait(signal)
      await sleep(clock, restMs, signal)
    }
  } finally {
    clock.clearTimeout(timer)
    screen.end()
  }
}
