// An engine in memory with one machine, on a clock that a test moves.
import { onTestFinished } from 'vitest'
import type { AnyStateMachine } from 'xstate'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { MachineDetails, MachineState } from '../../src/entities/machine.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { machineEntryOf } from '../../src/operations/steps/machine.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { type MachineOptions, machine as machineExecutor } from '../../src/user-machines/machine.ts'

/** `engineOf` begins an engine with another definition, or with other options, on the same ledger. */
export async function machineWorld() {
  const ledger = await openLedger(':memory:')
  const clock = new SimulatedClock()
  onTestFinished(() => ledger.close())

  const engineOf = async (definition: AnyStateMachine, options: MachineOptions = {}, more: object = {}) => {
    const engine = await createEngine({
      ledger,
      clock,
      executors: { machine: machineExecutor(definition, options) },
      ...more,
    })
    onTestFinished(() => engine.close())
    return engine
  }

  const stateOf = async (taskId: string): Promise<MachineState> => {
    await clock.rest()
    const entry = await ledger.read((tx) => machineEntryOf(tx, taskId))
    if (entry === undefined) throw new Error(`${taskId} has no machine.`)
    return (entry.details as MachineDetails).state
  }
  return { ledger, clock, engineOf, stateOf }
}
