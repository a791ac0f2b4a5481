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

/** Deaths after so many steps of each life, by turns after a step and before one. The next engines live. */
export function afterSteps(lives: readonly number[]): Deaths {
  let life = 0
  return ({ step, when }) => {
    if (step !== lives[life] || when !== (life % 2 === 0 ? 'after' : 'before')) return false
    life += 1
    return true
  }
}

/** A death before the first step of this name. */
export function before(name: string): Deaths {
  let isOver = false
  return (point) => {
    if (isOver || point.name !== name || point.when === 'after') return false
    isOver = true
    return true
  }
}
