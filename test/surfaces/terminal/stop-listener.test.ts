// Stopping a run: the first interrupt releases its tasks, the second ends the process, and an echo of the first is ignored.
import { expect, it, vi } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import { StopListener } from '../../../src/surfaces/terminal/stop-listener.ts'
import { fakeIo } from '../cli/fake-io.ts'

it('StopListener aborts at the first interrupt, ignores its echo, and ends the process at the next one', async () => {
  const io = fakeIo()
  let now = 1_000
  const clock: Clock = { now: () => now, setTimeout: () => 0, clearTimeout: () => {} }
  const stop = new StopListener(io, clock)
  const order: string[] = []
  stop.beforeExit = () => order.push(`screen given back, exited ${io.exited.length} times`)
  stop.endCommands = async () => void order.push(`commands ended, exited ${io.exited.length} times`)
  io.interrupt()
  expect(stop.signal.aborted).toBe(true)
  now += 200
  io.interrupt()
  expect(io.exited).toEqual([])
  now += 200
  io.interrupt()
  io.interrupt()
  await vi.waitFor(() => expect(io.exited).toEqual([130]))
  expect(order).toEqual(['screen given back, exited 0 times', 'commands ended, exited 0 times'])
  stop.end()
  io.interrupt()
  expect(io.exited).toEqual([130])
})

it('StopListener ends the process even if the commands cannot be ended', async () => {
  let now = 1_000
  const clock: Clock = { now: () => now, setTimeout: (late) => late(), clearTimeout: () => {} }
  for (const endCommands of [() => new Promise<void>(() => {}), () => Promise.reject(new Error('no ledger'))]) {
    const io = fakeIo()
    const stop = new StopListener(io, clock)
    stop.endCommands = endCommands
    io.interrupt()
    now += 300
    io.interrupt()
    await vi.waitFor(() => expect(io.exited).toEqual([130]))
  }
})
