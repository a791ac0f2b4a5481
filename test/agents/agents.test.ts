// Several agents in one engine: their models and instructions, what each may call, and the tasks that models create for
// one another.
import { describe, expect, it } from 'vitest'
import { agent } from '../../src/agents/loop/agent.ts'
import { createScriptedModel, type ScriptedPrompt } from '../../src/agents/models/scripted-model.ts'
import { openEngine, reached, refusalOf } from '../engine/world.ts'
import { callsOf, echo, llm, tool } from './world.ts'

const saying = (text: string) => createScriptedModel(() => ({ text }), { modelId: text })

/** The names of the offered tools. */
const showTools = () => createScriptedModel(({ tools }) => ({ text: [...tools].sort().join(' ') }))

const alpha = tool('alpha:one', () => 1)
const beta = tool('beta:one', () => 2)
const gamma = tool('beta:two', () => 3)

describe('several agents of an engine', () => {
  it('several agents of an engine work with their own models and instructions, and a task may name another model', async () => {
    const prompts: ScriptedPrompt[] = []
    const listening = createScriptedModel((prompt) => {
      prompts.push(prompt)
      return { text: 'critic' }
    })
    const engine = await openEngine({
      model: saying('default'),
      models: { spare: saying('spare') },
      executors: {
        agent: agent(),
        critic: agent({ model: listening, instructions: 'You judge.' }),
        poet: agent({ model: 'spare' }),
      },
    })
    const answer = async (options: object) =>
      engine.result((await engine.create({ goal: 'Speak', ...options } as never)) as { id: string })
    expect(await answer({})).toBe('default')
    expect(await answer({ executor: 'critic' })).toBe('critic')
    expect(prompts[0]?.messages[0]?.text).toBe('You judge.')
    expect(await answer({ executor: 'poet' })).toBe('spare')
    expect(await answer({ executor: 'critic', model: 'spare' })).toBe('spare')
    expect(await answer({ model: 'spare' })).toBe('spare')
  })

  it('a message records which model wrote it', async () => {
    const engine = await openEngine({ model: saying('default'), models: { spare: saying('spare') } })
    const task = await engine.create({ goal: 'Speak', model: 'spare' })
    await engine.result(task)
    expect((await engine.messages(task)).at(-1)?.step?.modelId).toBe('spare')
  })

  it('several agents of an engine get an unregistered model from resolveModel, or fail the task with the registered names', async () => {
    const asked: string[] = []
    const engine = await openEngine({
      model: saying('default'),
      resolveModel: (id) => {
        asked.push(id)
        return id === 'far:away' ? saying('from afar') : undefined
      },
    })
    const named = (model: string) => engine.create({ goal: 'Speak', model })
    expect(await engine.result(await named('far:away'))).toBe('from afar')
    expect(await engine.result(await named('far:away'))).toBe('from afar')
    expect(asked).toEqual(['far:away'])
    const outcome = await engine.settled(await named('near:by'))
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'NO_MODEL' } })
  })

  it('a task with a goal and no executor gets the executor agent, however its model was configured', async () => {
    const withModel = await openEngine({ model: saying('hello') })
    expect(await withModel.create({ goal: 'Speak' })).toMatchObject({ executor: 'agent' })
    const foreign = await openEngine({ abilities: [llm(() => ({ content: 'hi' })).ability] })
    expect(await foreign.result(await foreign.create({ goal: 'Speak' }))).toBe('hi')
    const named = await openEngine({ executors: { agent: agent({ model: saying('own') }) } })
    expect(await named.result(await named.create({ goal: 'Speak' }))).toBe('own')
  })

  it('agent refuses invalid options', async () => {
    const engine = await openEngine({ model: saying('hello'), executors: { plain: () => 1 } })
    for (const option of [{ model: 'spare' }, { systemPrompt: 'Be brief.' }])
      await refusalOf(engine.create({ executor: 'plain', name: 'x', ...option } as never), 'INVALID_INPUT')
  })
})

describe('what the model of a task may call', () => {
  async function toolsOf(options: { agent?: string[]; task?: string[]; parent?: string[] }) {
    const engine = await openEngine({
      model: showTools(),
      abilities: [alpha, beta, gamma],
      executors: { agent: agent(options.agent === undefined ? {} : { abilities: options.agent }) },
    })
    const list = (abilities: string[] | undefined) => (abilities === undefined ? {} : { abilities })
    const parent = await engine.create({ name: 'parent', ...list(options.parent) })
    const task = await engine.create({ goal: 'Show', parentId: parent.id, ...list(options.task) })
    return String(await engine.result(task))
      .split(' ')
      .filter((name) => /^(alpha|beta)_/.test(name))
      .join(' ')
  }

  it('S1-056 what the model of a task may call is everything by default, otherwise what the lists of the agent, the task and the tasks above it all allow', async () => {
    expect(await toolsOf({})).toBe('alpha_one beta_one beta_two')
    expect(await toolsOf({ agent: ['beta:*'] })).toBe('beta_one beta_two')
    expect(await toolsOf({ task: ['alpha:one', 'beta:one'] })).toBe('alpha_one beta_one')
    expect(await toolsOf({ agent: ['beta:*'], task: ['alpha:one', 'beta:one'] })).toBe('beta_one')
    expect(await toolsOf({ parent: ['alpha:*'], task: ['*'] })).toBe('alpha_one')
    expect(await toolsOf({ parent: ['alpha:*'], task: ['beta:*'] })).toBe('')
    expect(await toolsOf({ task: [] })).toBe('')
  })

  it('a call outside of the lists is refused, whatever name the model uses', async () => {
    const done: string[] = []
    const risky = tool('risky:act', () => void done.push('acted'))
    const model = llm((_input, step) =>
      step > 1
        ? { content: 'Refused.' }
        : {
            toolCalls: ['risky_act', 'risky:act', 'model_llm', 'bus_list'].map((name, index) => ({
              id: `c${index}`,
              name,
              arguments: {},
            })),
          },
    )
    const engine = await openEngine({ abilities: [model.ability, risky, echo] })
    const task = await engine.create({ goal: 'Try', abilities: ['test:*'] })
    expect(await engine.result(task)).toBe('Refused.')
    expect(done).toEqual([])
    const statuses = (await engine.calls(task)).map(({ status }) => status)
    expect(statuses).toEqual(['failed', 'failed', 'failed', 'failed'])
    expect((await callsOf(engine, task))[0]).toBe('risky:act failed FORBIDDEN')
  })

  it('no model is ever offered the ledger, the bus or a model', async () => {
    const engine = await openEngine({ model: showTools() })
    const names = String(await engine.result(await engine.create({ goal: 'Show', abilities: ['*'] }))).split(' ')
    expect(names.filter((name) => /^(ldg|bus)_|^model_(llm|register)$/.test(name))).toEqual([])
    expect(names).toContain('ask_user')
  })
})

describe('a task that a model creates', () => {
  /** A boss that delegates work with this tool, waits for it, and reports; every other agent shows its tools. */
  function boss(name: string, input: Record<string, unknown>) {
    return createScriptedModel((prompt) => {
      if (!prompt.goal.startsWith('Lead')) return { text: `tools: ${[...prompt.tools].sort().join(' ')}` }
      if (prompt.turn === 0) return { tools: [{ name, input }] }
      if (prompt.turn === 1) return { tools: [{ name: 'wait_for_tasks', input: {} }] }
      return { text: prompt.last }
    })
  }

  it('S1-060 a task created by a model is its own subtask, and the model gets its result', async () => {
    const engine = await openEngine({ model: boss('task_create', { goal: 'Work on it' }) })
    const task = await engine.create({ goal: 'Lead' })
    const { tasks } = JSON.parse(String(await engine.result(task))) as { tasks: Array<Record<string, unknown>> }
    const [child] = await engine.children(task)
    expect(child).toMatchObject({ goal: 'Work on it', status: 'completed', executor: 'agent' })
    expect(tasks).toMatchObject([{ taskId: child?.id, status: 'completed', result: expect.any(String) as string }])
  })

  it('a task created by a model may call no more than the lists of the agent and of its creator allow', async () => {
    const engine = await openEngine({
      model: boss('task_create', { goal: 'Work on it', abilities: ['*'] }),
      abilities: [alpha, beta, gamma],
      executors: { agent: agent(), lead: agent({ abilities: ['task:*', 'beta:*'] }) },
    })
    const task = await engine.create({ executor: 'lead', goal: 'Lead', abilities: ['task:*', 'alpha:*', 'beta:one'] })
    await engine.result(task)
    const [child] = await engine.children(task)
    const offered = String(child?.result)
    expect(offered).toContain('beta_one')
    expect(offered).not.toMatch(/alpha_one|beta_two/)
  })

  it('a model that creates tasks endlessly reaches the maximum depth', async () => {
    const model = createScriptedModel(({ turn }) =>
      turn === 0 ? { tools: [{ name: 'task_create', input: { goal: 'Deeper' } }] } : { text: 'Done' },
    )
    const engine = await openEngine({ model, maxDepth: 3 })
    const task = await engine.create({ goal: 'Deep' })
    await engine.idle()
    expect((await engine.subtree(task)).map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
    const deepest = (await engine.subtree(task)).at(-1)
    expect(await callsOf(engine, deepest?.id as string)).toEqual(['task:create failed LIMIT_EXCEEDED'])
  })

  it('S1-045 a task created by a model is canceled with its creator', async () => {
    const model = createScriptedModel(({ goal, turn }) => {
      if (goal !== 'Lead') return { tools: [{ name: 'ask_user', input: { question: 'Well?' } }] }
      return turn === 0
        ? { tools: [{ name: 'task_create', input: { goal: 'Work on it' } }] }
        : { tools: [{ name: 'wait_for_tasks', input: {} }] }
    })
    const engine = await openEngine({ model })
    const task = await engine.create({ goal: 'Lead' })
    await reached(engine, task, 'waiting')
    const [child] = await engine.children(task)
    await reached(engine, child?.id as string, 'input_required')
    await engine.cancel(task, 'enough')
    expect(await engine.get(child?.id as string)).toMatchObject({ status: 'canceled' })
  })
})
