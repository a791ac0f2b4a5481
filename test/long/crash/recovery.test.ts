import { describe, expect, it } from 'vitest'
import { createOne, createPlace, openEngine, startEngine, twoAtATime } from '../../crash/child.ts'
import { violations } from '../../crash/invariants.ts'

const keyed = (name: string) => ({ executor: name, name, key: name })

describe('A kill during recovery', () => {
  it('S0-103 recovery that is killed three times at one of its steps leaves the ledger as one clean recovery does', async () => {
    const points = [1, 2].flatMap((step) => [
      { step, when: 'before' as const },
      { step, when: 'after' as const },
    ])
    await twoAtATime(points, async (death) => {
      const place = createPlace()
      const first = startEngine(place, { create: [keyed('held')], leave: 'never' })
      await first.lineWhere((line) => 'inside' in line)
      await first.kill()
      for (let kill = 1; kill <= 3; kill++) {
        expect((await startEngine(place, { leave: 'never', death }).exited).signal).toBe('SIGKILL')
      }
      const engine = await openEngine(place)
      const task = await createOne(engine, keyed('held'))
      expect(await engine.settled(task, { timeoutMs: 10_000 })).toMatchObject({ status: 'failed' })
      expect((await engine.messages(task)).map((each) => each.content)).toEqual(['✗ held failed due to process crash'])
      expect((await engine.calls(task)).map((each) => each.status)).toEqual(['failed'])
      await engine.idle()
      await engine.close()
      expect(await violations(place), `killed ${death.when} step ${death.step} of recovery`).toEqual([])
    })
  })
})
