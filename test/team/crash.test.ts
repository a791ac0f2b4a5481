// Completing an agent and a task, interrupted at every write. Goal: all of it is done or nothing, and repeated it has the same result as
// without interruption. Method: the ledger fails at the n-th statement of the step, for every n, and the rows are compared; for some n the
// process is killed. A planted fault, two steps instead of one, is detected by the same comparison.
import { spawn } from 'node:child_process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/create-engine.ts'
import type { Engine } from '../../src/engine-api.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { twoAtATime } from '../crash/child.ts'
import { ledgerFile } from '../engine/world.ts'
import { programOf } from '../programs.ts'
import { failingLedger } from './failing-ledger.ts'
import { completeAda, completeAll, playStory } from './story.ts'
import { allRows, type Json } from './world.ts'

const steps = { 'complete agent': completeAda, 'complete team task': completeAll } as const
type StepName = keyof typeof steps

async function engineOn(ledger: Ledger): Promise<Engine> {
  const engine = await createEngine({ ledger, work: false })
  onTestFinished(async () => {
    await engine.close()
    await ledger.close()
  })
  return engine as unknown as Engine
}

interface Story {
  rows: Record<'before' | 'between' | 'after', Json>
  statements: Record<StepName, number>
}

/** The result without interruption, and the number of statements of each step. */
async function undisturbed(): Promise<Story> {
  const inner = await openLedger(':memory:')
  const never = { after: null, strike: () => {} }
  const agent = failingLedger(inner, { step: 'complete agent', ...never })
  const task = failingLedger(agent.ledger, { step: 'complete team task', ...never })
  const engine = await engineOn(task.ledger)
  const taskId = await playStory(engine)
  const before = await allRows(inner, taskId)
  await completeAda(engine.bus, taskId)
  const between = await allRows(inner, taskId)
  const statements = { 'complete agent': agent.statements(), 'complete team task': 0 }
  await completeAll(engine.bus, taskId)
  statements['complete team task'] = task.statements()
  return { rows: { before, between, after: await allRows(inner, taskId) }, statements }
}

function strike(): never {
  throw new Error('struck')
}

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

async function killedIn(file: string, step: string, after: number): Promise<string | null> {
  const script = programOf(import.meta.dirname, 'mortal-process.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, file, step, String(after)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
}
