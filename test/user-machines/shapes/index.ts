// All shapes of machines with which a durable run is compared with XState, by theme.

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
