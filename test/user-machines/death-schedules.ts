// When the engines of a machine die.

import type { Deaths } from './durable-run.ts'

/** Steps after which the next engine begins further on. What a caller asks for is asked for again. */
const progress = new Set(['machine step', 'finish call', 'suspend', 'settle run'])

/** Steps of an engine that begins. Each death adds to them, because the next engine takes over from all that have died. */
const beginning = new Set(['register', 'end runs of a lost engine', 'close runs of a lost engine'])

/**
 * A death after every step: the first engine dies after its first step, the next after its second, and so on until one gets further; then it
 * begins again. So there is no state of the ledger that no new engine has begun from. Of the steps of its beginning, each kind ends one engine.
 */
export function afterEveryStep(): Deaths {
  let left = new Set(beginning)
  let allowed = 1
  let steps = 0
  let isFurther = false
  return ({ step, name, when }) => {
    if (when === 'before') {
      if (step === 1) steps = 0
      return false
    }
    if (beginning.has(name)) return left.delete(name)
    steps += 1
    isFurther ||= progress.has(name)
    if (steps < allowed) return false
    if (isFurther) left = new Set(beginning)
    allowed = isFurther ? 1 : allowed + 1
    isFurther = false
    return true
  }
}

/** Deaths at these places among all steps of all engines, by turns after and before them. */
export function atSteps(places: readonly number[]): Deaths {
  let steps = 0
  return ({ when }) => {
    if (when === 'before') steps += 1
    const at = places.indexOf(steps)
    return at >= 0 && when === (at % 2 === 0 ? 'after' : 'before')
  }
}
