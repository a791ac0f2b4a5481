// Two engines on one ledger: each agent and task is completed once; the other receives a refusal or the same outcome. test/long has processes.
import { describe, expect, it } from 'vitest'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { codeOf } from '../../board/world.ts'
import { ledgerFile } from '../../engine/world.ts'
import { completeAda, completeAll, playStory } from './story.ts'
import { allRows, openTeams, openWithRows, teamTask } from './world.ts'

describe('Two engines on one ledger', () => {
  it('S2-020 S2-035 two engines complete each agent and task once, as if one had done it', async () => {
    const alone = await openWithRows({ work: false })
    const reference = await playStory(alone.engine)
    await completeAda(alone.engine.bus, reference)
    await completeAll(alone.engine.bus, reference)
    for (let round = 0; round < 2; round++) {
      const file = ledgerFile()
      const [one, other] = [
        await openTeams({ ledger: file, work: false }),
        await openTeams({ ledger: file, work: false }),
      ]
      const taskId = await playStory(one.engine)
      const both = <T>(work: (bus: typeof one.engine.bus) => Promise<T>) => [
        work(one.engine.bus),
        work(other.engine.bus),
      ]
      const ends = await Promise.all(both((bus) => codeOf(completeAda(bus, taskId))))
      expect(ends.toSorted()).toEqual(['NOT_ACTIVE', 'ok'])
      const [first, second] = await Promise.all(both((bus) => completeAll(bus, taskId)))
      expect(second).toEqual(first)
      const rows = await openLedger(file)
      expect(await allRows(rows, taskId)).toEqual(await allRows(alone.ledger, reference))
      await rows.close()
    }
  })

  it('S2-013 two engines let an agent join once', async () => {
    const file = ledgerFile()
    const teams = [await openTeams({ ledger: file, work: false }), await openTeams({ ledger: file, work: false })]
    const { taskId } = await teamTask(teams[0] as (typeof teams)[0])
    const joined = await Promise.all(teams.map(({ call }) => codeOf(call('agent:join', { taskId, agentId: 'ada' }))))
    expect(joined.toSorted()).toEqual(['ALREADY_ACTIVE', 'ok'])
  })
})
