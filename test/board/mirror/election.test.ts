// The election of a folder's mirror: a dead mirror is replaced at once, one whose state is unknown when its lease expires.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { acquireLease, mirrorLeaseMs } from '../../../src/board/mirror/election.ts'
import { mirrorHostOf } from '../../../src/board/mirror/mirror-host.ts'
import { createEngine } from '../../../src/index.ts'
import { openLedger, SimulatedClock } from '../../../src/testing/index.ts'
import { createFolder } from './world.ts'

async function setup() {
  const file = join(createFolder(), 'ledger.db')
  const clock = new SimulatedClock()
  const open = async (id: string) => {
    const ledger = await openLedger(file, clock)
    const engine = await createEngine({ ledger, clock, work: false })
    onTestFinished(async () => {
      await engine.close()
      await ledger.close()
    })
    const host = mirrorHostOf(engine, 'a test')
    await host.register(id)
    return { ledger, take: () => acquireLease(host, { id, dir: '/folder', board: 'main' }) }
  }
  const [first, second] = [await open('mirror-1'), await open('mirror-2')]
  expect([await first.take(), await second.take()]).toEqual(['taken', 'theirs'])
  return { file: `${file}-locks/mirror-1`, clock, first, second }
}

it('a mirror that has died is replaced at once, and its lock file is removed', async () => {
  const { file, first, second } = await setup()
  first.ledger.unregister('mirror-1', { asDead: true })
  expect(await second.take()).toBe('taken')
  expect(existsSync(file)).toBe(false)
})

it('a mirror whose lock file was deleted keeps its lease until it expires', async () => {
  const { file, clock, first, second } = await setup()
  rmSync(file)
  expect(await second.take()).toBe('theirs')
  clock.increment(mirrorLeaseMs * 0.6)
  expect([await first.take(), await second.take()]).toEqual(['mine', 'theirs'])
  clock.increment(mirrorLeaseMs + 1)
  expect(await second.take()).toBe('taken')
})
