// Team fields in plans and in `errand add`: parsing, refusals, and the tasks in the ledger.
import { expect, it } from 'vitest'
import { ErrandError } from '../../../src/core/errors.ts'
import { planOf } from './plan-text.ts'
import { Workplace } from './workplace.ts'

const taskOf = (text: string) => planOf(`tasks:\n  a: ${text}`).byPath.get('a')

function refusalOf(text: string): ErrandError {
  try {
    taskOf(text)
  } catch (error) {
    if (ErrandError.isInstance(error)) return error
    throw error
  }
  throw new Error(`${text} was not refused`)
}

const jsonOf = ({ out }: { out: string }) => JSON.parse(out)

it('a plan accepts the fields of a team on a group, a command and a goal', () => {
  const team = {
    team: true,
    type: 'repair',
    objectives: ['The login works', { description: 'It has tests' }],
    parentBranch: 'main',
    durableThreshold: 0.7,
    durableCategories: ['bug_fix'],
  }
  const text = JSON.stringify(team).slice(1, -1)
  for (const work of ['"tasks": { "b": { "run": "x" } }', '"run": "x"', '"goal": "g"', '"role": "r"']) {
    expect(taskOf(`{ ${work}, ${text} }`)?.spec).toMatchObject({
      ...team,
      objectives: ['The login works', 'It has tests'],
    })
  }
})

it('a plan accepts the name of an agent for a goal inside a team or with one', () => {
  expect(taskOf('{ goal: g, team: true, agentId: ann }')?.spec.agentId).toBe('ann')
  const plan = planOf('tasks: { t: { type: repair, tasks: { g: { tasks: { a: { goal: x, agentId: ann } } } } } }')
  expect(plan.byPath.get('t/g/a')?.spec.agentId).toBe('ann')
})

it('a plan refuses team fields without effect, and names their position', () => {
  expect(refusalOf('{ goal: g, agentId: ann }')).toMatchObject({
    code: 'INVALID_PLAN',
    message: expect.stringContaining('neither it nor a group around it has `team: true`'),
    details: { line: 2 },
  })
  for (const work of ['run: x', 'ask: q', 'role: r', 'tasks: { b: { run: x } }']) {
    expect(refusalOf(`{ ${work}, team: true, agentId: ann }`).message).toMatch(/`agentId`, which means nothing beside/)
  }
  expect(refusalOf('{ run: x, team: false, type: t }').message).toContain('`team: false`')
  expect(refusalOf('{ run: x, objectives: done }').message).toContain('a list of objectives')
  expect(refusalOf('{ run: x, objectives: [{ text: t }] }').message).toContain('{ description }')
  expect(refusalOf('{ run: x, objective: [t] }').message).toContain('Did you mean "objectives"?')
  expect(refusalOf('{ run: x, durableThreshold: 2 }').message).toContain('durableThreshold')
})

it('a plan with another team has another hash', () => {
  const hash = (text: string) => taskOf(text)?.definitionHash
  expect(hash('{ run: x, type: a }')).not.toBe(hash('{ run: x, type: b }'))
  expect(hash('{ run: x, type: a }')).toBe(hash('{ run: x, type: "a" }'))
})

it('errand run creates the team of a group before anything runs, and finds it again in the next run', async () => {
  await using place = new Workplace()
  place.write(
    'plan.yaml',
    'tasks: { repair: { type: repair, objectives: [Find it, Mend it], tasks: { look: { run: "true" } } } }',
  )
  for (let turn = 0; turn < 2; turn++) {
    expect(await place.errand('run', 'plan.yaml')).toMatchObject({ code: 0 })
    const teams = await place.errand('task', 'teams', '--json')
    expect(jsonOf(teams)).toMatchObject({ name: 'repair', type: 'repair', branch: 'task/repair' })
  }
  const { id } = await place.task('repair')
  expect(jsonOf(await place.errand('task', 'context', id, '--json')).objectives).toMatchObject([
    { id: 1, description: 'Find it', status: 'todo' },
    { id: 2, description: 'Mend it', status: 'todo' },
  ])
})

it('S2-001 errand add creates a task with a team, a type, objectives and a parent branch', async () => {
  await using place = new Workplace()
  await place.errand('add', 'Release', '--team')
  const team = ['--type', 'repair', '--objective', 'Find it', '--objective', 'Mend it']
  const added = await place.errand('add', 'Fix auth', ...team, '--parent-branch', 'task/release', '--tag=x', '--json')
  expect(added.code).toBe(0)
  const context = jsonOf(await place.errand('task', 'context', jsonOf(added).id, '--json'))
  expect(context).toMatchObject({
    task: { name: 'Fix auth', type: 'repair', branch: 'task/fix-auth', parentBranch: 'task/release', tags: ['x'] },
    objectives: [
      { id: 1, description: 'Find it' },
      { id: 2, description: 'Mend it' },
    ],
  })
})

it('S2-008 errand add refuses an unknown branch, and creates no task', async () => {
  await using place = new Workplace()
  const refused = await place.errand('add', 'Fix auth', '--parent-branch', 'task/none', '--json')
  expect(refused.code).toBe(2)
  expect(JSON.parse(refused.err).error).toMatchObject({ code: 'NOT_FOUND', details: { branch: 'task/none' } })
  expect(await place.tasks()).toEqual([])
})
