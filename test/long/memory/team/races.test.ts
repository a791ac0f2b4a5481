// Several processes on one ledger: each agent and task is completed once; the others receive a refusal or the same outcome.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLedger } from '../../../../src/ledger/open-ledger.ts'
import { ledgerFile } from '../../../engine/world.ts'
import { allRows, joins, openTeams, teamTask } from '../../../memory/team/world.ts'
import { programOf } from '../../../programs.ts'

describe('Three processes', () => {
  it('S2-020 S2-035 three processes complete each agent and task once', async () => {
    const file = ledgerFile()
    const team = await openTeams({ ledger: file, work: false })
    const taskIds: string[] = []
    for (let n = 0; n < 8; n++) {
      const { taskId } = await teamTask(team, { name: `Task ${n}` })
      taskIds.push(taskId)
      const ada = await joins(team, taskId, 'ada')
      await ada.sees(`Fixed the bug number ${n} in module m${n}`, 'insight', 's1')
      await ada.sees(`Fixed the bug number ${n} in module m${n}`, 'insight', 's2')
    }
    const outcomes = await raced(file, taskIds)
    for (const taskId of taskIds) {
      const [joined, completed, closed] = [0, 1, 2].map((index) => outcomes.map((each) => each[taskId]?.[index] ?? ''))
      const done = (said: string[] = []) => said.filter((each) => each.startsWith('{'))
      expect([done(joined).length <= 1, done(completed).length <= 1]).toEqual([true, true])
      // Each receives the same outcome.
      expect([done(closed).length, new Set(closed).size]).toEqual([3, 1])
    }
    const ledger = await openLedger(file)
    onTestFinished(() => ledger.close())
    for (const taskId of taskIds) {
      const { stints, runs } = await allRows(ledger, taskId)
      expect((stints as unknown[][]).filter(([agentId]) => agentId === 'ada')).toHaveLength(1)
      expect((stints as unknown[][]).map(([, , status]) => status)).not.toContain('active')
      const merges = (runs as unknown[][]).filter(([type]) => type === 'merge')
      expect(merges.length).toBeGreaterThanOrEqual(taskIds.length * 2)
    }
    const { facts } = (await team.call('mem:facts', { branch: 'main' })) as { facts: Array<Record<string, unknown>> }
    expect(Object.fromEntries(facts.map(({ text, confidence }) => [text, confidence]))).toEqual(
      Object.fromEntries(taskIds.map((_, n) => [`Fixed the bug number ${n} in module m${n}`, 0.8])),
    )
  })
})

async function raced(file: string, taskIds: readonly string[]): Promise<Array<Record<string, string[]>>> {
  const script = programOf(import.meta.dirname, '../../../memory/team/race-process.ts')
  const racers = [1, 2, 3].map(() => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, file, ...taskIds], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    return { child, lines: createInterface({ input: child.stdout }) }
  })
  await Promise.all(racers.map(({ lines }) => once(lines, 'line')))
  const received = racers.map(({ lines }) => once(lines, 'line'))
  for (const { child } of racers) child.stdin.write('go\n')
  return (await Promise.all(received)).map(([line]) => JSON.parse(line as string) as Record<string, string[]>)
}
