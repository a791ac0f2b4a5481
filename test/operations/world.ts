// What the tests of the abilities share: an engine whose model responds when the test says so, and JSON through the bus as any surface
// sends it.

import type { ScriptedTurn } from '../../src/agents/models/script.ts'
import { createScriptedModel, type ScriptedPrompt } from '../../src/agents/models/scripted-model.ts'
import type { Caller } from '../../src/bus/caller.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { type Deferred, deferred } from '../engine/world.ts'

/** One step that was requested from a model. */
export interface HeldStep {
  prompt: ScriptedPrompt
  answer: Deferred<ScriptedTurn>
}

/** A model that responds when the test says so; `asked(n)` resolves to the n-th requested step, counted from 0. */
export function heldModel() {
  const steps: HeldStep[] = []
  const waiting: Array<() => void> = []
  const model = createScriptedModel((prompt) => {
    const answer = deferred<ScriptedTurn>()
    steps.push({ prompt, answer })
    for (const wake of waiting.splice(0)) wake()
    return answer.promise
  })
  return {
    model,
    steps,
    async asked(index: number): Promise<HeldStep> {
      while (steps.length <= index) await new Promise<void>((resolve) => waiting.push(resolve))
      return steps[index] as HeldStep
    },
  }
}

/** Calls abilities as text, like a surface: JSON in, JSON out. */
export function surface({ bus }: Pick<Engine, 'bus'>, caller?: Caller) {
  const options = caller === undefined ? {} : { caller }
  return async (abilityId: string, input: unknown = {}): Promise<Record<string, unknown>> =>
    JSON.parse(await bus.invoke(abilityId)(JSON.stringify(input), options)) as Record<string, unknown>
}

/** The caller of a call by the model of a task. */
export function modelOf(taskId: string, abilities?: Caller['abilities']): Caller {
  return { surface: 'model', taskId, run: 1, ...(abilities === undefined ? {} : { abilities }) }
}
