// The decisions about a round, from the plan and the tasks in the ledger, which are plain values here.
import { describe, expect, it } from 'vitest'
import type { Task, TaskStatus } from '../../src/entities/task.ts'
import {
  blockersOf,
  decide,
  hasOldEdges,
  leftovers,
  newGeneration,
  type RoundRequest,
} from '../../src/plans/decide-round.ts'
import type { Plan } from '../../src/plans/plan.ts'
import { type KnownRound, knownRound, markOf } from '../../src/plans/round.ts'
import { planOf } from '../surfaces/cli/plan-text.ts'
import { taskOf } from '../surfaces/cli/task-of.ts'

const plan = planOf(
  'tasks: { a: { run: a }, g: { after: a, tasks: { b: { run: b }, c: { run: c, after: b } } }, d: { run: d, after: [a, g] } }',
)
const everything = new Set(['a', 'g/b', 'g/c', 'd'])
const request = (change: Partial<RoundRequest> = {}): RoundRequest => ({
  needed: everything,
  redo: new Set(),
  ...change,
})

/** Tasks of a generation, as stored in the ledger. */
function stored(of: Plan, statuses: Record<string, TaskStatus>, generation = 0): Task[] {
  return Object.entries(statuses).map(([path, status]) => {
    const planned = of.byPath.get(path)
    const mark = {
      path,
      generation,
      edges: generation,
      definition: planned?.definitionHash ?? '',
      folder: of.folder,
      invocation: 'run-1',
      held: false,
    }
    return taskOf({
      id: `task-${path.replace('/', '')}${generation}`,
      name: path,
      status,
      executor: planned?.group || path === '' ? null : 'shell',
      group: planned?.group === true || path === '',
      metadata: { plan: mark },
    })
  })
}

const actions = (known: KnownRound, change: Partial<RoundRequest> = {}, of = plan) =>
  Object.fromEntries(decide(of, known, request(change)).map((decision) => [decision.task.path, decision.action]))

describe('a round', () => {
  it('a round without tasks is created whole, each task with its key, its mark and its blockers', () => {
    const known = knownRound([])
    const generation = newGeneration(plan, known, decide(plan, known, request()), {
      round: 'plan:p#1',
      invocation: 'run-1',
      now: 0,
    })
    expect(markOf({ metadata: generation?.metadata ?? {} })).toMatchObject({ path: '', generation: 0 })
    const { a, g, d } = generation?.tasks ?? {}
    expect(a).toMatchObject({ name: 'a', executor: 'shell', key: 'plan:p#1/a' })
    expect(a?.autoStart).toBeUndefined()
    expect(g).toMatchObject({
      after: ['a'],
      key: 'plan:p#1/g',
      tasks: { b: { key: 'plan:p#1/g/b' }, c: { after: ['b'] } },
    })
    expect(d).toMatchObject({ after: ['a', 'g'] })
    expect(markOf({ metadata: g?.tasks?.['b']?.metadata ?? {} })).toMatchObject({
      path: 'g/b',
      generation: 0,
      folder: '/plans',
    })
  })

  it('a round holds the tasks that no target needs', () => {
    const known = knownRound([])
    const needed = new Set(['a'])
    const generation = newGeneration(plan, known, decide(plan, known, request({ needed })), {
      round: 'r',
      invocation: 'i',
      now: 0,
    })
    expect(generation?.tasks?.['a']?.autoStart).toBeUndefined()
    expect(generation?.tasks?.['d']).toMatchObject({ autoStart: false })
    expect(generation?.tasks?.['g']?.tasks?.['b']).toMatchObject({ autoStart: false })
    expect(generation?.tasks?.['g']?.autoStart).toBeUndefined()
  })

  it('a round without missing tasks creates nothing', () => {
    const known = knownRound(
      stored(plan, {
        '': 'working',
        a: 'completed',
        g: 'working',
        'g/b': 'working',
        'g/c': 'submitted',
        d: 'submitted',
      }),
    )
    expect(
      newGeneration(plan, known, decide(plan, known, request()), { round: 'r', invocation: 'i', now: 0 }),
    ).toBeUndefined()
  })

  it('a round keeps completed and canceled tasks, and retries failed ones', () => {
    const known = knownRound(
      stored(plan, { a: 'completed', g: 'failed', 'g/b': 'canceled', 'g/c': 'failed', d: 'submitted' }),
    )
    expect(actions(known)).toEqual({ a: 'keep', 'g/b': 'keep', 'g/c': 'retry', d: 'keep' })
  })

  it('a round retries only the tasks that are needed', () => {
    const known = knownRound(
      stored(plan, { a: 'completed', g: 'failed', 'g/b': 'failed', 'g/c': 'failed', d: 'submitted' }),
    )
    expect(actions(known, { needed: new Set(['a', 'g/b']) })).toMatchObject({ 'g/b': 'retry', 'g/c': 'keep' })
  })

  it('a round redoes the settled tasks that --redo names; failed ones are retried, open ones go on', () => {
    const known = knownRound(
      stored(plan, { a: 'completed', g: 'failed', 'g/b': 'canceled', 'g/c': 'failed', d: 'working' }),
    )
    expect(actions(known, { redo: everything })).toEqual({ a: 'redo', 'g/b': 'redo', 'g/c': 'retry', d: 'keep' })
  })

  it('a round creates new and redone tasks in a new generation, after existing tasks by id and after new ones by name', () => {
    const grown = planOf(
      'tasks: { a: { run: a }, g: { after: a, tasks: { b: { run: b }, c: { run: c, after: b } } }, d: { run: d, after: [a, g] }, e: { run: e, after: [a, d, g] } }',
    )
    const known = knownRound(
      stored(grown, {
        '': 'completed',
        a: 'completed',
        g: 'completed',
        'g/b': 'completed',
        'g/c': 'completed',
        d: 'completed',
      }),
    )
    const decisions = decide(grown, known, { needed: everything, redo: new Set(['g/c', 'd']) })
    const generation = newGeneration(grown, known, decisions, { round: 'r', invocation: 'i', now: 0 })
    expect(Object.keys(generation?.tasks ?? {})).toEqual(['g', 'd', 'e'])
    expect(generation?.tasks?.['g']).toMatchObject({ key: 'r+1/g', blockedBy: ['task-a0'] })
    expect(Object.keys(generation?.tasks?.['g']?.tasks ?? {})).toEqual(['c'])
    expect(generation?.tasks?.['g']?.tasks?.['c']).toMatchObject({ key: 'r+1/g/c', blockedBy: ['task-gb0'] })
    expect(generation?.tasks?.['d']).toMatchObject({ after: ['g'], blockedBy: ['task-a0', 'task-gb0'] })
    expect(generation?.tasks?.['e']).toMatchObject({ after: ['d', 'g'], blockedBy: ['task-a0', 'task-gb0'] })
  })

  it('a round counts the newest task of a path', () => {
    const known = knownRound([
      ...stored(plan, { a: 'completed' }, 2),
      ...stored(plan, { a: 'canceled', d: 'submitted' }, 0),
      taskOf({ name: 'by hand' }),
    ])
    expect(known.newest.get('a')?.task.status).toBe('completed')
    expect(known.nextGeneration).toBe(3)
  })

  it('a round detects a blocker that was created after the dependencies of a task were aligned', () => {
    const [d] = stored(plan, { d: 'submitted' }, 0)
    const known = knownRound([
      d as Task,
      ...stored(plan, { a: 'completed', g: 'completed', 'g/b': 'completed' }, 0),
      ...stored(plan, { 'g/c': 'submitted' }, 1),
    ])
    const planned = plan.byPath.get('d')
    const mark = markOf(d as Task)
    expect(planned && mark && hasOldEdges(planned, plan, known, mark)).toBe(true)
    expect(planned && mark && hasOldEdges(planned, plan, known, { ...mark, edges: 1 })).toBe(false)
    expect(blockersOf(planned?.comesAfter ?? [], plan, known, () => false)).toEqual({
      after: [],
      ids: ['task-a0', 'task-gb0', 'task-gc1'],
    })
  })

  it('a round detects changed definitions and moved plans', () => {
    const known = knownRound(
      stored(plan, { a: 'completed', g: 'working', 'g/b': 'submitted', 'g/c': 'submitted', d: 'submitted' }),
    )
    const changedOf = (of: Plan) =>
      decide(of, known, request())
        .filter((decision) => decision.changed)
        .map((decision) => decision.task.path)
    const text =
      'tasks: { a: { run: a }, g: { after: a, tasks: { b: { run: b }, c: { run: NEW, after: b } } }, d: { run: d, after: [a, g] } }'
    expect(changedOf(plan)).toEqual([])
    expect(changedOf(planOf(text))).toEqual(['g/c'])
    expect(changedOf({ ...plan, folder: '/moved' })).toEqual(['a', 'g/b', 'g/c', 'd'])
  })

  it('a round lists the unsettled tasks that are no longer in the plan', () => {
    const smaller = planOf('tasks: { a: { run: a } }')
    const known = knownRound(
      stored(plan, {
        '': 'working',
        a: 'completed',
        g: 'working',
        'g/b': 'completed',
        'g/c': 'submitted',
        d: 'failed',
      }),
    )
    expect(leftovers(smaller, known).map(({ mark }) => mark.path)).toEqual(['g/c'])
  })
})
