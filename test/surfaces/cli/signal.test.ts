// `errand signal`: what a task waits for, from a process that runs no tasks.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { Run } from '../../../src/entities/executor.ts'
import { history, reached } from '../../engine/world.ts'
import { Workplace } from './workplace.ts'

it('errand signal sends the payload once for each id, and refuses text that is no JSON', async () => {
  await using place = new Workplace()
  const order = async (_task: unknown, run: Run) => [await run.waitForSignal('paid'), await run.waitForSignal('sent')]
  await using engine = await createEngine({ ledger: join(place.folder, 'ledger.db'), executors: { order } })
  const task = await engine.create({ executor: 'order', name: 'Order' })
  await reached(engine, task, 'waiting')
  expect(await place.errand('signal', '#1', 'paid', '--data', '{amount')).toMatchObject({ code: 2, out: '' })
  const paid = ['signal', '#1', 'paid', '--data', '{"amount": 12}', '--id', 'evt_1']
  for (let n = 0; n < 2; n++) expect(await place.errand(...paid)).toMatchObject({ code: 0 })
  expect((await place.errand('signal', '#1', 'sent')).out).toMatch(/^#1 Order .*, signal sent\n$/)
  expect(await engine.result(task)).toEqual([{ amount: 12 }, true])
  const received = (await history(engine, task.id)).filter(({ type }) => type === 'signal.received')
  expect(received.map(({ data }) => [data['signal'], data['signalId'], data['requestedBy']])).toEqual([
    ['paid', 'evt_1', { surface: 'cli' }],
    ['sent', undefined, { surface: 'cli' }],
  ])
  expect(await place.errand('signal', '#1', 'paid')).toMatchObject({ code: 2 })
})
