// All shapes of machines with which a durable run is compared with XState, by theme. None depends on what a restart cannot restore, such as a
// callback that sends events as soon as it runs.

import type { Shape } from '../machine-runner.ts'
import { childShapes } from './children.ts'
import { effectShapes } from './effects.ts'
import { endingShapes } from './endings.ts'
import { flowShapes } from './flow.ts'
import { timeShapes } from './time.ts'
import { workShapes } from './work.ts'

export const shapes: Shape[] = [
  ...flowShapes,
  ...timeShapes,
  ...workShapes,
  ...childShapes,
  ...endingShapes,
  ...effectShapes,
]
