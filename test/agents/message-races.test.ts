// Messages that race with an agent: while it is about to be suspended, while it waits, and when its own work is done
// but that of its children is not.
import { describe, expect, it, onTestFinished } from 'vitest'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createFaultyLedger } from '../../src/testing/faulty-ledger.ts'
import { openEngine, reached, turns } from '../engine/world.ts'
import { inShort, llm, said } from './world.ts'

async function faulty() {
  const ledger = createFaultyLedger(await openLedger(':memory:'))
  onTestFinished(() => ledger.close())
  return ledger
}

const wait = { toolCalls: [{ id: 'w', name: 'wait_for_tasks', arguments: {} }] }
const ask = { toolCalls: [{ id: 'q', name: 'ask_user', arguments: { question: 'Which?' } }] }

/** An agent that has answered and whose task is kept open by a child. */
async function awaitingChildren() {
  const model = createScriptedModel(({ last }) => ({ text: `re: ${last}` }))
  const engine = await openEngine({ model, autoComplete: true })
  const task = await engine.create({ goal: 'one', autoStart: false })
  const child = await engine.create({ name: 'child', parentId: task.id })
  await engine.start(task)
  await reached(engine, task, 'waiting')
  await turns()
  return { engine, task, child }
}

describe('a message to an agent that races with its work', () => {
  it.each(['begin wait', 'suspend'])(
    'a message to an agent ends the wait for tasks when it arrives at the step "%s"',
    async (step) => {
      const ledger = await faulty()
      const model = llm((_input, taken) => (taken === 1 ? wait : { content: 'Understood.' }))
      const engine = await openEngine({ ledger, abilities: [model.ability] })
      const gate = ledger.hold(step)
      const task = await engine.create({ goal: 'Wait', autoStart: false })
      await engine.create({ name: 'child', parentId: task.id })
      await engine.start(task)
      await gate.reached
      await engine.send(task, 'Never mind.')
      gate.open()
      expect(await engine.result(task)).toBe('Understood.')
      expect(inShort(model.messages(2)).at(-1)).toBe('user: Never mind.')
      await engine.close()
    },
  )

  it('a message to an agent that races with its work is not an answer to a question asked at the same time, and is read with the answer', async () => {
    const ledger = await faulty()
    const model = llm((_input, taken) => (taken === 1 ? ask : { content: 'Thanks.' }))
    const engine = await openEngine({ ledger, abilities: [model.ability] })
    const gate = ledger.hold('suspend')
    const task = await engine.create({ goal: 'Ask' })
    await gate.reached
    await engine.send(task, 'By the way…')
    gate.open()
    await reached(engine, task, 'input_required')
    await engine.answer(task, 'this one')
    expect(await engine.result(task)).toBe('Thanks.')
    expect(inShort(model.messages(2)).slice(-2)).toEqual(['tool q: this one', 'user: By the way…'])
    await engine.close()
  })

  it('a message to an agent that races with its work with delivery followup does not end a wait, and is read when the agent would end', async () => {
    const model = llm((_input, taken) => (taken === 1 ? wait : { content: `Answer ${taken}` }))
    const engine = await openEngine({ abilities: [model.ability] })
    const task = await engine.create({ goal: 'Wait', autoStart: false })
    const child = await engine.create({ name: 'child', parentId: task.id })
    await engine.start(task)
    await reached(engine, task, 'waiting')
    await engine.send(task, 'And after that?', { delivery: 'followup' })
    await turns()
    expect(await engine.get(task.id)).toMatchObject({ status: 'waiting' })
    await engine.start(child)
    await engine.complete(child)
    expect(await engine.result(task)).toBe('Answer 3')
    expect(inShort(model.messages(3)).slice(-2)).toEqual(['assistant: Answer 2', 'user: And after that?'])
  })

  it('a message to an agent that races with its work with delivery followup does not answer a question', async () => {
    const model = llm((_input, taken) => (taken === 1 ? ask : { content: `Answer ${taken}` }))
    const engine = await openEngine({ abilities: [model.ability] })
    const task = await engine.create({ goal: 'Ask' })
    await reached(engine, task, 'input_required')
    expect((await engine.send(task, 'later', { delivery: 'followup' })).status).toBe('input_required')
    await engine.answer(task, 'this one')
    expect(await engine.result(task)).toBe('Answer 3')
  })

  it('S0-080 a message to an agent that races with its work is answered before the task completes when the agent has finished but its children have not', async () => {
    const { engine, task, child } = await awaitingChildren()
    await engine.send(task, 'two')
    await engine.start(child)
    await reached(engine, task, ({ run }) => run === 2)
    await reached(engine, task, 'waiting')
    await engine.complete(child)
    expect(await engine.result(task)).toBe('re: two')
    expect((await said(engine, task)).slice(1)).toEqual([
      'user: one',
      'assistant: re: one',
      'user: two',
      'assistant: re: two',
    ])
  })

  it('S0-080 a message to an agent that races with its work with delivery followup is answered by an agent that waits for its children', async () => {
    const { engine, task, child } = await awaitingChildren()
    await engine.send(task, 'two', { delivery: 'followup' })
    await engine.start(child)
    await engine.complete(child)
    expect(await engine.result(task)).toBe('re: two')
  })

  it('S0-080 a message to an agent that races with its work is answered before the parent completes when it arrives just before the end of the last child', async () => {
    const { engine, task, child } = await awaitingChildren()
    await engine.start(child)
    await Promise.all([engine.send(task, 'two'), engine.complete(child)])
    expect(await engine.result(task)).toBe('re: two')
  })
})
