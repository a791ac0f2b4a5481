// Which task a message is for: the mention, the only candidate, or the choice of a model; a model causes no error.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Candidate,
  type ContextMessage,
  type RouteOptions,
  route,
  routeInputSchema,
  routeOutputSchema,
} from '../../../src/agents/routing/route.ts'
import { ErrandError } from '../../../src/core/errors.ts'
import { taskStatuses } from '../../../src/entities/task.ts'
import { refusalOf } from '../../engine/world.ts'
import { candidate, contentOf, scriptedModel } from './world.ts'

const [a, b] = [candidate('task-a'), candidate('task-b')]

/** Routes among candidates with a model that gives these answers; conversations are empty by default. */
function routing(
  message: string,
  candidates: readonly Candidate[],
  model = scriptedModel(),
  rest: Partial<RouteOptions> & { contexts?: Record<string, ContextMessage[]> } = {},
) {
  const { contexts = {}, ...options } = rest
  return route(message, { candidates, contextOf: (id) => contexts[id] ?? [], ask: model.ask, ...options })
}

/** The prompt of the model. */
const shownBy = (model: ReturnType<typeof scriptedModel>) =>
  JSON.parse(contentOf(model.prompts[0], 'user')) as { message: string; tasks: Array<Record<string, unknown>> }

describe('route', () => {
  it('S0-030 route refuses a message that is not a string before a model is asked', async () => {
    const model = scriptedModel({ taskId: null })
    for (const message of [undefined, 7, { message: 'x' }]) {
      await refusalOf(routing(message as never, [a, b], model), 'INVALID_INPUT')
    }
    expect(model.prompts).toEqual([])
    expect(routeInputSchema().safeParse({}).success).toBe(false)
    expect(routeInputSchema().safeParse({ message: 7 }).success).toBe(false)
    expect(routeInputSchema().safeParse({ message: 'Also check Q2' }).success).toBe(true)
  })

  it('S0-031 S0-032 routes to null with confidence 1 without an active task', async () => {
    const routed = await routing('Write a report', [])
    expect(routed).toEqual({ taskId: null, confidence: 1, text: 'Write a report', by: 'candidates' })
    expect(routeOutputSchema().parse(routed)).toEqual({ taskId: null, confidence: 1 })
  })

  it('S0-033 routes to the only active task without a model', async () => {
    const model = scriptedModel()
    expect(await routing('Also check Q2', [a], model)).toEqual({
      taskId: 'task-a',
      confidence: 1,
      text: 'Also check Q2',
      by: 'candidates',
    })
    expect(model.prompts).toEqual([])
  })

  it('S0-034 S1-057 route asks a model that sees the last three messages of each of several tasks', async () => {
    const model = scriptedModel({ taskId: 'task-b', confidence: 0.9 })
    const lines = ['one', 'two', 'three', 'four'].map((content) => ({ role: 'user', content }))
    const routed = await routing('Also check Q2', [a, b], model, { contexts: { 'task-b': lines } })
    expect(routed).toEqual({ taskId: 'task-b', confidence: 0.9, text: 'Also check Q2', by: 'model' })
    expect(shownBy(model)).toEqual({
      message: 'Also check Q2',
      tasks: [
        { id: 'task-a', goal: 'goal of task-a', status: 'working', lastMessage: null, recentMessages: [] },
        {
          id: 'task-b',
          goal: 'goal of task-b',
          status: 'working',
          lastMessage: { role: 'user', content: 'four' },
          recentMessages: lines.slice(1),
        },
      ],
    })
  })

  it('S0-035 S1-058 route asks the router for a JSON answer, with null for a new task', async () => {
    const model = scriptedModel({ taskId: null, confidence: 0.8 })
    expect(await routing('Something new', [a, b], model)).toMatchObject({ taskId: null, confidence: 0.8 })
    const prompt = contentOf(model.prompts[0], 'system')
    expect(prompt).toContain('"taskId"')
    expect(prompt).toContain('{"taskId": null')
  })

  it('route shows the router no announcements, names for tasks without a goal, and truncated texts', async () => {
    const model = scriptedModel({ taskId: null })
    const nameless = candidate('task-a', { goal: null, name: 'the report' })
    const notice = { role: 'assistant', content: 'resumed after a restart', announcement: true }
    const said = { role: 'user', content: 'x'.repeat(50_000) }
    await routing('m'.repeat(50_000), [nameless, b], model, { contexts: { 'task-a': [said, notice] } })
    const { message, tasks } = shownBy(model)
    expect(message.length).toBeLessThan(20_000)
    expect(tasks[0]).toMatchObject({ goal: 'the report' })
    expect(tasks[0]?.['recentMessages']).toHaveLength(1)
    expect(JSON.stringify(tasks).length).toBeLessThan(5_000)
  })

  it('C-25 route shows the router first the tasks that wait for an answer, then the last updated', async () => {
    const model = scriptedModel({ taskId: 'task-c' })
    const waiting = candidate('task-c', {
      status: 'input_required',
      updatedAt: 1,
      questions: [{ question: 'Which quarter?' }],
    })
    const routed = await routing(
      'Q2',
      [candidate('task-a', { updatedAt: 5 }), candidate('task-b', { updatedAt: 9 }), waiting],
      model,
    )
    expect(routed).toMatchObject({ taskId: 'task-c', confidence: 0.5 })
    const { tasks } = shownBy(model)
    expect(tasks.map((task) => task['id'])).toEqual(['task-c', 'task-b', 'task-a'])
    expect(tasks[0]).toMatchObject({ question: 'Which quarter?' })
    expect(contentOf(model.prompts[0], 'system')).toContain('prefer one whose status is input_required')
  })

  it('route shows the router at most fifty tasks, and reads the conversations of those only', async () => {
    const model = scriptedModel({ taskId: 'task-1' })
    const many = Array.from({ length: 60 }, (_, index) => candidate(`task-${index}`, { updatedAt: index }))
    const read: string[] = []
    const contextOf = (id: string) => {
      read.push(id)
      return []
    }
    const routed = await routing('Also check Q2', many, model, { contextOf })
    expect(shownBy(model).tasks).toHaveLength(50)
    expect(read).toHaveLength(50)
    // The oldest tasks were not shown, so the model cannot have meant one of them.
    expect(routed).toMatchObject({ taskId: null, confidence: 0 })
  })

  it('C-25 routes only among root tasks with rootsOnly', async () => {
    const child = candidate('task-b', { parentId: 'task-a' })
    expect(await routing('Also check Q2', [a, child], undefined, { rootsOnly: true })).toMatchObject({
      taskId: 'task-a',
      confidence: 1,
    })
    const mentioned = await routing('@task-b Also check Q2', [a, child], undefined, { rootsOnly: true })
    expect(mentioned).toMatchObject({ taskId: 'task-b', by: 'mention' })
  })
})

describe('a mention in a routed message', () => {
  it('S0-036 S0-041 routes to the mentioned task without a model call, and removes the mention', async () => {
    const model = scriptedModel({ taskId: 'task-b' })
    expect(await routing('@task-a Also check Q2', [a, b], model)).toEqual({
      taskId: 'task-a',
      confidence: 1,
      text: 'Also check Q2',
      by: 'mention',
    })
    expect(model.prompts).toEqual([])
  })

  it('S0-039 routes a bare mention to its task', async () => {
    expect(await routing('@task-b', [a, b])).toMatchObject({ taskId: 'task-b', confidence: 1, text: '' })
  })

  it('S0-037 a mention in the middle of a message is ignored', async () => {
    const model = scriptedModel({ taskId: 'task-b' })
    const routed = await routing('Do as @task-a did', [a, b], model)
    expect(routed).toMatchObject({ taskId: 'task-b', text: 'Do as @task-a did', by: 'model' })
  })

  it('S0-040 routes a mention of an unknown task to null, not to the only candidate', async () => {
    const routed = await routing('@task-zzz Also check Q2', [a])
    expect(routed).toMatchObject({ taskId: null, confidence: 1, text: 'Also check Q2', by: 'mention' })
    expect(routed.reason).toContain('There is no task task-zzz')
  })

  it.each(['completed', 'failed', 'canceled'] as const)(
    'S0-040 routes a mention of a %s task to null',
    async (status) => {
      const settled = candidate('task-z', { status })
      const routed = await routing('@task-z Go on', [a, settled])
      expect(routed).toMatchObject({ taskId: null, confidence: 1 })
      expect(routed.reason).toContain(`Task task-z is ${status}`)
      const found = await routing('@task-z Go on', [a], undefined, { find: async () => settled })
      expect(found.reason).toBe(routed.reason)
    },
  )

  it('route looks up a mentioned task that is not among the candidates', async () => {
    const find = async (id: string) => (id === 'task-q' ? candidate('task-q', { status: 'paused' }) : null)
    expect(await routing('@task-q Go on', [a], undefined, { find })).toMatchObject({ taskId: 'task-q', confidence: 1 })
  })
})

describe('the answer of the router', () => {
  it.each([
    ['no JSON', 'task-a, I think'],
    ['no taskId', '{"task":"task-a"}'],
    ['a taskId that is not text', '{"taskId":7}'],
    ['two answers', '{"taskId":"task-a"} {"taskId":"task-b"}'],
    ['an id that is no candidate', '{"taskId":"task-zzz","confidence":1}'],
    ['null as a text', '{"taskId":"null"}'],
    ['nothing', ''],
    ['an error', new Error('the provider is down')],
  ])('S0-042 routes to null with confidence 0 for %s, without throwing', async (_what, answer) => {
    const routed = await routing('Also check Q2', [a, b], scriptedModel(answer))
    expect(routed).toMatchObject({ taskId: null, confidence: 0, by: 'model' })
    expect(routed.reason).toBeTypeOf('string')
  })

  it('S0-042 route gives the reason when the router did not answer', async () => {
    const routed = await routing('Also check Q2', [a, b], scriptedModel(new Error('the provider is down')))
    expect(routed.reason).toBe('The model could not decide: the provider is down')
  })

  it.each(['completed', 'failed', 'canceled'] as const)(
    'S0-043 route never routes to a %s task, and does not show it to the router',
    async (status) => {
      const model = scriptedModel({ taskId: 'task-z', confidence: 1 })
      const routed = await routing('Also check Q2', [a, candidate('task-z', { status }), b], model)
      expect(routed).toMatchObject({ taskId: null, confidence: 0 })
      expect(shownBy(model).tasks.map((task) => task['id'])).toEqual(['task-a', 'task-b'])
    },
  )

  it.each(taskStatuses.filter((status) => !['completed', 'failed', 'canceled'].includes(status)))(
    'S0-043 route may choose a task that is %s',
    async (status) => {
      expect(await routing('Go on', [candidate('task-z', { status })])).toMatchObject({ taskId: 'task-z' })
    },
  )

  it.each(['My answer:\n```json\n{"taskId": "task-b"}\n```', 'It continues the second one: {"taskId":"task-b"}.'])(
    'S0-044 route reads the answer of the router in a fence and in prose: %j',
    async (answer) => {
      expect(await routing('Also check Q2', [a, b], scriptedModel(answer))).toMatchObject({ taskId: 'task-b' })
    },
  )

  it.each([
    [undefined, 0.5],
    [3, 1],
    [-3, 0],
    ['sure', 0],
  ])('C-24 route reads the confidence %j of the router as %d', async (confidence, expected) => {
    const model = scriptedModel({ taskId: 'task-a', confidence })
    expect((await routing('Also check Q2', [a, b], model)).confidence).toBe(expected)
  })

  it('routes to a candidate or to null, whatever the router answers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (answer) => {
        const { taskId, confidence } = await routing('Also check Q2', [a, b], scriptedModel(answer))
        expect([null, 'task-a', 'task-b']).toContain(taskId)
        expect(confidence).toBeGreaterThanOrEqual(0)
        expect(confidence).toBeLessThanOrEqual(1)
      }),
      { numRuns: 200 },
    )
  })
})

describe('the arguments of route', () => {
  it('route rejects with the reason of its signal', async () => {
    const controller = new AbortController()
    const model = { ask: () => new Promise<string>(() => {}), prompts: [], signals: [] }
    const routed = routing('Also check Q2', [a, b], model, { signal: controller.signal })
    controller.abort(new Error('changed my mind'))
    await expect(routed).rejects.toThrow('changed my mind')
  })

  it('route rejects when reading a conversation fails, instead of creating a task', async () => {
    const contextOf = async () => {
      throw new ErrandError('ENGINE_CLOSED', 'The engine is closed.', {})
    }
    await refusalOf(routing('Also check Q2', [a, b], scriptedModel({ taskId: null }), { contextOf }), 'ENGINE_CLOSED')
  })

  it('route refuses unknown options and invalid candidates', async () => {
    const misspelled = await refusalOf(routing('x', [a], undefined, { rootOnly: true } as never), 'UNKNOWN_OPTION')
    expect(misspelled.details).toMatchObject({ nearest: 'rootsOnly' })
    await refusalOf(routing('x', [{ ...a, status: 'running' } as never]), 'INVALID_INPUT')
  })
})
