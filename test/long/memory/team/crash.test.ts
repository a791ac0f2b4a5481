// A process is killed in the middle of completing an agent or a task, and the next one finishes it.
import { spawn } from 'node:child_process'
import { expect, it, onTestFinished } from 'vitest'
import { openLedger } from '../../../../src/ledger/open-ledger.ts'
import { twoAtATime } from '../../../crash/child.ts'
import { ledgerFile } from '../../../engine/world.ts'
import { engineOn, type StepName, steps, undisturbed } from '../../../memory/team/interrupted-end.ts'
import { completeAda, completeAll } from '../../../memory/team/story.ts'
import { allRows } from '../../../memory/team/world.ts'
import { programOf } from '../../../programs.ts'

it('S2-101 after kill -9 in the middle of completing an agent or task the next process finishes it', async () => {
  const { rows, statements } = await undisturbed()
  const points = (Object.keys(steps) as StepName[]).flatMap((step) => [0.4, 1].map((part) => ({ step, part })))
  await twoAtATime(points, async ({ step, part }) => {
    const file = ledgerFile()
    expect(await killedIn(file, step, Math.floor(statements[step] * part))).toBe('SIGKILL')
    const ledger = await openLedger(file)
    const engine = await engineOn(ledger)
    const { tasks } = await engine.bus.call('task:teams', {})
    const taskId = tasks[0]?.id as string
    const isFirst = step === 'complete agent'
    expect([step, part, await allRows(ledger, taskId)]).toEqual([step, part, isFirst ? rows.before : rows.between])
    if (isFirst) await completeAda(engine.bus, taskId)
    await completeAll(engine.bus, taskId)
    expect([step, part, await allRows(ledger, taskId)]).toEqual([step, part, rows.after])
  })
})

async function killedIn(file: string, step: string, after: number): Promise<string | null> {
  const script = programOf(import.meta.dirname, '../../../memory/team/mortal-process.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, file, step, String(after)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
}
