// A picture on the terminal for as long as somebody looks. The ledger is read only when something has changed, and no more often than a
// person can see.
import type { Clock } from '../core/clock.ts'
import type { Notifier } from '../core/notifier.ts'
import { rest } from '../core/signals.ts'
import type { Output } from './io.ts'
import { LiveScreen } from './live-screen.ts'

/** Between two looks at the ledger; a look that takes long is given more. */
const minRestMs = 100
const maxRestMs = 1_000
const restPerLook = 4
/** Ages and leases are redrawn so often; nothing is read for it. */
const tickMs = 1_000

export interface Watched<P> {
  output: Output
  clock: Clock
  /** Rung when something has changed. */
  bell: Notifier
  /** Aborts when the user wants to stop. */
  signal: AbortSignal
  read(): Promise<P>
  draw(picture: P, now: number): string[]
}

/** Resolves when the user wants to stop. */
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
      const restMs = Math.min(Math.max((clock.now() - begunAt) * restPerLook, minRestMs), maxRestMs)
      await bell.wait(signal)
      await rest(clock, restMs, signal)
    }
  } finally {
    clock.clearTimeout(timer)
    screen.end()
  }
}
