// A run on a terminal: the tree of the plan, redrawn while it changes, ten times a second at most.
import { type Clock, systemClock } from '../../clock.ts'
import type { AnswerPrompt } from './answer-prompt.ts'
import { type CommandIo, hasColor } from './io.ts'
import { drawFrame } from './live-frame.ts'
import { LiveScreen } from './live-screen.ts'
import { createPaint } from './paint.ts'
import type { Reporter } from './reporter.ts'
import type { RunView } from './run-view.ts'

const frameMs = 100

export interface LiveTreeOptions {
  /** Where open questions are answered; undefined when nobody sits at a keyboard. */
  prompt?: AnswerPrompt | undefined
  clock?: Clock
}

export function createLiveTree(
  io: CommandIo,
  view: RunView,
  { prompt, clock = systemClock }: LiveTreeOptions = {},
): Reporter {
  const screen = new LiveScreen(io.stdout)
  const paint = createPaint(hasColor(io))
  let tick = 0
  let timer: unknown

  const draw = () => {
    // A terminal that does not know its size says 0.
    const columns = io.stdout.columns || 80
    const rows = io.stdout.rows || 24
    const now = clock.now()
    const question = prompt?.draw(view.rows, columns, now)
    const height = rows - (question === undefined ? 1 : 2)
    const lines = drawFrame(view.rows, { now, tick, columns, height, paint })
    screen.draw(question === undefined ? lines : [...lines, paint.asking(question)])
  }
  const turn = () => {
    draw()
    tick++
    timer = clock.setTimeout(turn, frameMs)
  }
  turn()
  return {
    ownsScreen: true,
    event() {}, // the next picture shows it
    end() {
      clock.clearTimeout(timer)
      prompt?.end()
      prompt = undefined
      draw()
      screen.end()
    },
  }
}
