// The end of an agent, and of its task, as one engine does it, and what the ledger holds before and after each.
import { onTestFinished } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { failingLedger } from './failing-ledger.ts'
import { completeAda, completeAll, playStory } from './story.ts'
import { allRows, type Json } from './world.ts'

export const steps = { 'complete agent': completeAda, 'complete team task': completeAll } as const
export type StepName = keyof typeof steps

export async function engineOn(ledger: Ledger): Promise<Engine> {
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
export async function undisturbed(): Promise<Story> {
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

export function strike(): never {
  throw new Error('struck')
}
