// Every surface takes the fields of its column in docs/reference/task-fields.md.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type FieldTaker, rulesFor, taskFields } from '../../src/entities/task-fields.ts'
import { planJsonSchema, planKeys, planTaskSchema } from '../../src/plans/plan-schema.ts'
import { openEngine } from '../engine/world.ts'

const root = join(import.meta.dirname, '../..')
const namesFor = (taker: FieldTaker) => rulesFor(taker).map(([name]) => name)

it('the JSON Schema of plans has every key of a plan and of its tasks, however deep, and is built into the package', () => {
  const schema = JSON.parse(readFileSync(join(root, 'dist/plan.schema.json'), 'utf8'))
  expect(schema).toEqual(planJsonSchema())
  expect(Object.keys(schema.properties).toSorted()).toEqual(planKeys.plan.toSorted())
  const { task } = schema.$defs
  expect(Object.keys(task.properties).toSorted()).toEqual(planKeys.task.toSorted())
  expect(task.additionalProperties).toBe(false)
  expect(task.properties.tasks).toEqual(schema.properties.tasks)
  expect(task.properties.deadline).toMatchObject({ type: 'string', description: taskFields.deadline.meaning })
})

describe('the fields of the table', () => {
  it('plans take all fields of the table', () => {
    expect(Object.keys(planTaskSchema.shape)).toEqual(expect.arrayContaining(namesFor('plans')))
  })

  it.each([
    ['task:create', 'create'],
    ['task:update', 'update'],
    ['task:create', 'models'],
  ] as const)('%s takes all fields of the table for %s', async (id, taker) => {
    const engine = await openEngine({ work: false })
    const ability = engine.bus.abilities().find((each) => each.id === id)
    const schema = taker === 'models' ? ability?.modelInputSchema : ability?.inputSchema
    const { properties = {} } = schema as { properties?: object }
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(namesFor(taker)))
  })
})
