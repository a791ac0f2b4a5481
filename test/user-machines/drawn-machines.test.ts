// Machines drawn at random do what a comparison needs: they reach timers, promises, children and ends, run the same from their JSON, and shrink.

import fc from 'fast-check'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { replayed, runs } from '../tier.ts'
import { firstDifference } from './compare-runs.ts'
import { type DescribedContext, type MachineDescription, machineOf } from './described-machine.ts'
import { drawnMachines, drawnScripts } from './drawn-machines.ts'
import { liveRunner } from './live-run.ts'
import { type Script, type View, viewsOf } from './machine-runner.ts'

const drawn = fc.record({ description: drawnMachines, script: drawnScripts })

const runnerOf = (description: MachineDescription) => liveRunner({ machine: machineOf(description) })
const runOf = (description: MachineDescription, script: Script) => viewsOf(runnerOf(description), script)

/** Of 400 runs, in how many this must have happened at least: about two thirds of what was measured. A failure prints what is. */
const leastOf400: Record<string, number> = {
  'a region beside another': 92,
  'states within a state': 42,
  'two states or more': 181,
  'three states or more': 63,
  'a named action': 223,
  'an emitted event': 144,
  'a timer of a state': 113,
  'a delayed event': 27,
  'a raised event': 60,
  'an eventless transition': 103,
  'the end of the states within a state': 12,
  'a promise that succeeds': 34,
  'the end of an invoked child': 8,
  'a failed promise': 49,
  'a promise that succeeds after failures': 27,
  'an invoked child': 137,
  'a spawned child': 152,
  'a message of a child': 50,
  'the output of a child': 21,
  'the end of the machine': 60,
  'the failure of the machine': 20,
  'no fuel': 61,
}

function reachedIn({ regions }: MachineDescription, views: View[]): string[] {
  const last = views.at(-1) as View
  const { taken, outputs } = last.context as DescribedContext
  const contexts = views.map(({ context }) => context as DescribedContext)
  const values = new Set(views.map(({ value }) => JSON.stringify(value))).size
  const child = (isIt: (id: string) => boolean) => views.some(({ children }) => children.some(isIt))
  const reached = {
    'a region beside another': regions.length > 1,
    'states within a state': views.some(({ value }) => regions.length === 1 && typeof value === 'object'),
    'two states or more': values > 1,
    'three states or more': values > 2,
    'a named action': views.some(({ actions }) => actions.includes('note')),
    'an emitted event': views.some(({ emitted }) => emitted.length > 0),
    'a timer of a state': taken.after !== undefined,
    'a delayed event': taken.ALARM !== undefined,
    'a raised event': taken.INNER !== undefined,
    'an eventless transition': taken.always !== undefined,
    'the end of the states within a state': taken.nested !== undefined,
    'a promise that succeeds': taken.resolved !== undefined,
    'the end of an invoked child': taken.ended !== undefined,
    'a failed promise': taken.rejected !== undefined,
    'a promise that succeeds after failures': taken.rejected !== undefined && taken.resolved !== undefined,
    'an invoked child': child((id) => id.endsWith('-helper')),
    'a spawned child': child((id) => id === 'spawned'),
    'a message of a child': taken.PONG !== undefined,
    'the output of a child': outputs.length > 0,
    'the end of the machine': last.status === 'done',
    'the failure of the machine': last.status === 'error',
    'no fuel': contexts.some(({ fuel }) => fuel === 0),
  }
  return Object.keys(reached).filter((what) => reached[what as keyof typeof reached])
}

describe('machines drawn at random', () => {
  beforeEach(() => {
    // XState warns about each event to an actor that has ended, which is one of the cases to compare.
    vi.spyOn(console, 'warn').mockImplementation(() => {})
  })

  it('their runs reach timers, promises, children, final states and failures often enough', async () => {
    const counts: Record<string, number> = {}
    for (const { description, script } of fc.sample(drawn, { seed: 20_301, numRuns: 400 })) {
      for (const what of reachedIn(description, await runOf(description, script)))
        counts[what] = (counts[what] ?? 0) + 1
    }
    const tooFew = Object.entries(leastOf400).filter(([what, least]) => (counts[what] ?? 0) < least)
    expect(tooFew, JSON.stringify(counts, null, 2)).toEqual([])
  })

  it('a machine runs the same when it is built again from the JSON of its description', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, async ({ description, script }) => {
        const again = JSON.parse(JSON.stringify(description)) as MachineDescription
        expect(again).toEqual(description)
        expect(await firstDifference(runnerOf(description), runnerOf(again), script)).toBeUndefined()
      }),
      { numRuns: runs(100, 1000), ...replayed },
    )
  })

  it('a case that fails shrinks to a machine and a script in which little is left', async () => {
    const isNoAlarm = fc.asyncProperty(drawn, async ({ description, script }) => {
      const views = await runOf(description, script)
      return views.every(({ context }) => (context as DescribedContext).taken.ALARM === undefined)
    })
    const { failed, counterexample } = await fc.check(isNoAlarm, { seed: 20_301, numRuns: 200 })
    expect(failed).toBe(true)
    const [{ description, script }] = counterexample as [{ description: MachineDescription; script: Script }]
    expect(script.length, JSON.stringify(script)).toBeLessThan(10)
    expect(JSON.stringify(description).length, JSON.stringify(description)).toBeLessThan(2500)
  })
})
