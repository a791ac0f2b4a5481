// A slot by itself: what it leaves behind when its run is closed.
import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import type { LiveRun } from '../../src/actors/live-run.ts'
import { RunSlot } from '../../src/actors/run-slot.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { taskRow } from '../../src/testing/factories.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'

it('A run that was closed leaves no listener at the signal of its engine', async () => {
  const stopped = new AbortController()
  const live = {
    ref: { taskId: 'task-1', run: 1 },
    execute: async () => null,
    end() {},
    callsSettled: async () => {},
    processesEnded: async () => {},
  }
  const slot = new RunSlot({ ...taskRow({ id: 'task-1' }), seq: 1 }, live as unknown as LiveRun, 0, undefined, {
    clock: new SimulatedClock(),
    abortGraceMs: 1_000,
    stopped: stopped.signal,
    moment: () => ({ at: 0, instanceId: 'instance-1' }),
    chance: () => 0,
    ledger: { step: async () => undefined } as unknown as Ledger,
    retryOf: () => {
      throw new Error('Nothing is retried here')
    },
    freeing() {},
    freed() {},
    report() {},
  })
  await slot.closed
  expect(getEventListeners(stopped.signal, 'abort')).toEqual([])
})
