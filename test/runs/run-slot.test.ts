// A slot by itself: it leaves nothing behind when its run is closed.
import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { RunSlot, type SlotHost } from '../../src/actors/run-slot.ts'
import { redactionBy } from '../../src/core/redact.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { resolveRetry } from '../../src/machines/family.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { taskRow } from '../ledger/factories.ts'

it('a closed run leaves no listener on the signal of its engine', async () => {
  const stopped = new AbortController()
  const host: Partial<SlotHost> = {
    clock: new SimulatedClock(),
    abortGraceMs: 1_000,
    stopped: stopped.signal,
    stepContext: () => ({ at: 0, instanceId: 'instance-1' }),
    chance: () => 0,
    redaction: redactionBy(undefined),
    ledger: { step: async () => true } as unknown as Ledger,
    retryOf: () => resolveRetry(),
    freeing() {},
    closed() {},
    freed() {},
    report() {},
  }
  const task = { ...taskRow({ id: 'task-1', executor: 'x', run: 1 }), seq: 1 }
  const slot = new RunSlot(task, async () => 'done', 0, undefined, host as SlotHost)
  slot.begin()
  await slot.closed
  expect(getEventListeners(stopped.signal, 'abort')).toEqual([])
})
