// What a client learns of the executors of an engine before it creates a task.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineExecutor } from '../../src/index.ts'
import { openEngine } from '../engine/world.ts'

it('engine:executors lists the executors with the JSON Schema of their input, and null for one that accepts any input', async () => {
  const greet = defineExecutor({
    input: z.object({ name: z.string().describe('Whom to greet'), times: z.int().default(1) }),
    run: () => 'done',
  })
  const engine = await openEngine({ executors: { plain: () => 'done', greet } })
  const { executors } = await engine.bus.call('engine:executors', {})
  expect(executors).toEqual([
    {
      name: 'greet',
      inputSchema: expect.objectContaining({
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'Whom to greet' },
          times: expect.objectContaining({ type: 'integer', default: 1 }),
        },
      }),
    },
    { name: 'plain', inputSchema: null },
  ])
})

it('engine:executors lists the other executors when the schema of one cannot be expressed as JSON Schema, and reports that one', async () => {
  const twice = z.object({ a: z.string().meta({ id: 'part' }), b: z.int().meta({ id: 'part' }) })
  const reported: unknown[] = []
  const engine = await openEngine({
    executors: {
      good: defineExecutor({ input: z.string(), run: () => 'done' }),
      odd: defineExecutor({ input: twice, run: () => 'done' }),
    },
    onError: (error, context) => reported.push(String(error), context),
  })
  const { executors } = await engine.bus.call('engine:executors', {})
  expect(executors).toEqual([
    { name: 'good', inputSchema: expect.objectContaining({ type: 'string' }) },
    { name: 'odd', inputSchema: null },
  ])
  expect(reported).toEqual([
    expect.stringContaining('The input of the executor odd is not a usable schema'),
    expect.objectContaining({ executor: 'odd' }),
  ])
})
