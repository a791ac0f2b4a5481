// A conversation of two hundred steps with reasoning: it is stored within the limits, and another engine goes on in the middle of it.
import { expect, it } from 'vitest'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { echo } from '../../agents/world.ts'
import { ledgerFile, openEngine } from '../../engine/world.ts'

it('a conversation of 200 steps with reasoning is stored, and is continued by another engine with all of it', async () => {
  const steps = 200
  const half = Promise.withResolvers<void>()
  const thought = (turn: number) => `Step ${turn}. ${'I think about it. '.repeat(50)}`
  const model = createScriptedModel(({ turn, messages }) => {
    if (turn === steps / 2) half.resolve()
    // Each step has seen all before it.
    expect(messages.filter(({ role }) => role === 'assistant')).toHaveLength(turn)
    if (turn === steps - 1) return { reasoning: thought(turn), text: 'Done.' }
    return { reasoning: thought(turn), tools: [{ name: 'test_echo', input: { text: String(turn) } }] }
  })
  const options = { ledger: ledgerFile(), model, abilities: [echo], maxIterations: steps }
  const first = await openEngine(options)
  const { id } = await first.create({ goal: 'Think', key: 'think' })
  await half.promise
  await first.close()
  const second = await openEngine(options)
  expect(await second.result(id)).toBe('Done.')
  const taken = (await second.messages(id)).flatMap(({ step }) => step ?? [])
  expect(taken).toHaveLength(steps)
  expect(taken.map(({ parts }) => parts?.[0])).toEqual(
    Array.from({ length: steps }, (_, turn) => ({ type: 'reasoning', text: thought(turn) })),
  )
  expect(await second.calls(id)).toHaveLength(steps - 1)
})
