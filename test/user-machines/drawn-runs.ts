// Machines drawn at random in engines, compared with XState.

import fc from 'fast-check'
import { firstDifference } from './compare-runs.ts'
import { afterSteps } from './death-schedules.ts'
import { type MachineDescription, machineOf } from './described-machine.ts'
import { drawnMachines, drawnScripts } from './drawn-machines.ts'
import { type DurableOptions, durableRunner } from './durable-run.ts'
import { liveRunner } from './live-run.ts'
import type { Script, View } from './machine-runner.ts'

/** JSON, so that a case prints as it is. */
export interface DrawnRun {
  description: MachineDescription
  script: Script
  /** Of each engine, after how many steps since its last death it dies. */
  deaths: number[][]
}

export const drawnRuns = (engines: number): fc.Arbitrary<DrawnRun> =>
  fc.record({
    description: drawnMachines,
    script: drawnScripts,
    deaths: fc.array(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 8 }), {
      minLength: engines,
      maxLength: engines,
    }),
  })

/** The first difference of a machine in engines from XState's own actor; undefined: none. */
export function differenceOf({ description, script, deaths }: DrawnRun, options: DurableOptions = {}) {
  const machine = machineOf(description)
  const left = [...deaths]
  const durable = durableRunner(
    { machine },
    { engines: Math.max(1, deaths.length), deaths: () => afterSteps(left.shift() ?? []), ...options },
  )
  return firstDifference(liveRunner({ machine }), durable, script, withoutActionsOfChildren)
}

/**
 * A child is a task of its own, so nothing orders its actions among those of its parent. And a parent may stop it, because of an event that it
 * has sent, before it has carried out the actions beside that event.
 */
const withoutActionsOfChildren = (view: View): View => ({
  ...view,
  actions: view.actions.filter((action) => !action.includes('/')),
})

/** A property that fails with the difference, after the case in JSON. */
export const noDifference = (runs: fc.Arbitrary<DrawnRun>, options: DurableOptions = {}) =>
  fc.asyncProperty(runs, async (run) => {
    const difference = await differenceOf(run, options)
    if (difference !== undefined) throw new Error(`${JSON.stringify(run)}\n${difference}`)
  })
