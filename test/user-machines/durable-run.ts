// A machine run by an engine: its task is what is compared with XState's own actor.

import type { EventObject } from 'xstate'
import { nextTurn } from '../../src/core/turns.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { MachineDetails, MachineState } from '../../src/entities/machine.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { machineEntryOf } from '../../src/operations/steps/machine.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { machine as machineExecutor } from '../../src/user-machines/machine.ts'
import { asJson, type MachineRunner, type Shape, type View, viewsOf } from './machine-runner.ts'
import { withRecordedActions } from './recorded-actions.ts'

/** The views of a shape as an engine has them. */
export const runDurably = (shape: Shape): Promise<View[]> => viewsOf(durableRunner(shape), shape.script)

export function durableRunner({ machine, input }: Pick<Shape, 'machine' | 'input'>): MachineRunner {
  const clock = new SimulatedClock()
  const actions: string[] = []
  const emitted: unknown[] = []
  const errors: unknown[] = []
  const recorded = withRecordedActions(machine, (name) => actions.push(name))
  let engine: Engine
  let ledger: Ledger
  let taskId: string

  const view = async (): Promise<View> => {
    await quiet(clock.rest())
    const task = await engine.get(taskId)
    const entry = await ledger.read((tx) => machineEntryOf(tx, taskId))
    const state = (entry?.details as MachineDetails | undefined)?.state
    if (errors.length > 0) throw errors[0]
    const status = task?.status === 'failed' ? 'error' : task?.status === 'completed' ? 'done' : 'active'
    return {
      status,
      value: asJson(state?.value),
      context: asJson(state?.context),
      output: asJson(task?.result),
      error: task?.status === 'failed' ? (task.error?.message ?? null) : null,
      children: status === 'active' && state !== undefined ? await activeChildren(state) : [],
      actions: actions.splice(0),
      emitted: emitted.splice(0),
    }
  }
  const activeChildren = async (state: MachineState): Promise<string[]> => {
    const active: string[] = []
    for (const [id, { ended, taskId: child }] of Object.entries(state.actors)) {
      if (ended) continue
      if (
        child === undefined ||
        !['failed', 'completed', 'canceled'].includes((await engine.get(child))?.status ?? '')
      ) {
        active.push(id)
      }
    }
    return active.sort()
  }
  return {
    async start() {
      ledger = await openLedger(':memory:')
      engine = await createEngine({
        ledger,
        clock,
        executors: { machine: machineExecutor(recorded) },
        onError: (error) => errors.push(error),
      })
      engine.subscribe('machine.emitted', ({ taskId: of, data }) => {
        if (of === taskId) emitted.push(asJson(data['event']))
      })
      const task = await engine.create({
        executor: 'machine',
        name: 'shape',
        ...(input === undefined ? {} : { input }),
      })
      taskId = task.id
      return view()
    },
    async send(event: EventObject) {
      const task = await engine.get(taskId)
      if (task?.status !== 'failed' && task?.status !== 'completed') await engine.sendEvent(taskId, event)
      return view()
    },
    async advance(ms) {
      if (await quiet(clock.rest())) await clock.advance(ms)
      else clock.increment(ms)
      return view()
    },
    async end() {
      await engine.close()
      await ledger.close()
    },
  }
}

/** Turns of the event loop after which a machine is taken to wait for a promise that never settles, which is no rest to the clock. */
const enoughTurns = 400

/** Resolves to whether it rests. */
async function quiet(rest: Promise<void>): Promise<boolean> {
  let isOver = false
  const over = rest.then(() => {
    isOver = true
  })
  for (let turn = 0; turn < enoughTurns && !isOver; turn++) await nextTurn()
  await Promise.race([over, nextTurn()])
  return isOver
}
