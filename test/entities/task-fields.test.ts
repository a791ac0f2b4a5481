// The documents list the fields of a task as defined, and every surface takes the fields of its column.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type FieldTaker, fieldTakers, rulesFor, taskFields } from '../../src/entities/task-fields.ts'
import { planJsonSchema, planKeys, planTaskSchema } from '../../src/plans/plan-schema.ts'
import { openEngine } from '../engine/world.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/reference/task-fields.md'), 'utf8')

const titles: Record<FieldTaker, string> = {
  create: '`create`',
  update: '`update`',
  plans: 'plans',
  add: '`errand add`',
  board: 'the board',
  models: 'models',
}

/** The table as the definitions say it. */
function table(): string[] {
  const row = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [
    row(['field', 'meaning', ...Object.values(titles)]),
    `|${'---|'.repeat(fieldTakers.length + 2)}`,
    ...Object.entries(taskFields).map(([name, { schema, by }]) => {
      const takes = fieldTakers.map((taker) => ((by as readonly string[]).includes(taker) ? 'yes' : ''))
      return row([`\`${name}\``, schema.description ?? '', ...takes])
    }),
  ]
}

const namesFor = (taker: FieldTaker) => rulesFor(taker).map(([name]) => name)

describe('docs/reference/task-fields.md', () => {
  it('docs/reference/task-fields.md has the table that derives from the definitions of the fields', () => {
    expect(page.match(/^\|.*$/gm)).toEqual(table())
  })

  it('docs/reference/task-fields.md is linked from the README', () => {
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('(docs/reference/task-fields.md)')
  })
})

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
