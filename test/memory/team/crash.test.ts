// Completing an agent and a task, interrupted at every write. Goal: all of it is done or nothing, and repeated it has the same result as
// without interruption. Method: the ledger fails at the n-th statement of the step, and the rows are compared. A planted fault, two steps
// instead of one, is detected by the same comparison. test/long kills the process.
import { describe, expect, it } from 'vitest'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { failingLedger } from './failing-ledger.ts'
import { engineOn, steps, strike, undisturbed } from './interrupted-end.ts'
import { completeAda, playStory } from './story.ts'
import { allRows } from './world.ts'

describe('The end of an agent, and of its task', () => {
  it.each(['complete agent', 'complete team task'] as const)(
    'S2-101 %s: a failure at any write changes nothing, and repeating it succeeds',
    async (step) => {
      const { rows, statements } = await undisturbed()
      expect(statements[step]).toBeGreaterThan(40)
      const [undone, done] = step === 'complete agent' ? [rows.before, rows.between] : [rows.between, rows.after]
      const inner = await openLedger(':memory:')
      const midway = { step, after: null as number | null, strike }
      const engine = await engineOn(failingLedger(inner, midway).ledger)
      const taskId = await playStory(engine)
      if (step === 'complete team task') await completeAda(engine.bus, taskId)
      for (let after = 0; after <= statements[step]; after++) {
        midway.after = after
        await expect(steps[step](engine.bus, taskId), `after ${after}`).rejects.toThrow('struck')
        expect([after, await allRows(inner, taskId)]).toEqual([after, undone])
      }
      midway.after = null
      await steps[step](engine.bus, taskId)
      expect(await allRows(inner, taskId)).toEqual(done)
    },
  )

  it('the comparison detects a completion made of several steps', async () => {
    const { rows } = await undisturbed()
    const inner = await openLedger(':memory:')
    const engine = await engineOn(failingLedger(inner, { step: 'complete agent', after: 5, strike }).ledger)
    const taskId = await playStory(engine)
    // Sessions in a step of their own, then the agent.
    await engine.bus.call('mem:consolidate', { level: 'session', sessionId: 's1' })
    await expect(completeAda(engine.bus, taskId)).rejects.toThrow('struck')
    expect(await allRows(inner, taskId)).not.toEqual(rows.before)
  })
})
