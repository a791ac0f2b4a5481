// Which of the engine's own tools an agent is offered, and how much of the context of its model they take.
import { describe, expect, it } from 'vitest'
import { agent } from '../../src/agents/loop/agent.ts'
import type { Task } from '../../src/entities/task.ts'
import { openEngine } from '../engine/world.ts'
import { echo, llm } from './world.ts'

const always = [
  'ask_user',
  'wait_for_tasks',
  'task_cancel',
  'task_create',
  'task_get',
  'task_list',
  'task_messages',
  'task_retry',
  'task_send',
]
const inTeam = ['mem_observe', 'mem_retrieve', 'objective_update', 'task_context']
const ofClaimed = ['board_inbox', 'board_list', 'board_send']

/** The default context of Ollama has room for this beside a conversation. */
const maxBytes = 12_000

async function openAgents(...abilities: (typeof echo)[]) {
  const model = llm(() => ({ content: 'Done.' }))
  const executors = { agent: agent(), named: agent({ abilities: ['board:*', 'mem:retrieve'] }) }
  const engine = await openEngine({ abilities: [model.ability, ...abilities], executors })
  return {
    engine,
    /** The tools of the first step of an agent on a new task. */
    async offered(options: object) {
      const task = (await engine.create({ goal: 'Work', ...options } as never)) as Task
      await engine.result(task)
      const tools = model.inputs.at(-1)?.tools ?? []
      return { names: tools.map((each) => each.function.name).sort(), bytes: Buffer.byteLength(JSON.stringify(tools)) }
    },
    /** A task that is claimed, for the parent of others. */
    async claimed(options: object = {}) {
      const parent = (await engine.create({ name: 'On the board', ...options } as never)) as Task
      await engine.claim(parent.id, { owner: 'ann' })
      return parent.id
    },
  }
}

describe("the engine's own tools", () => {
  it('let an agent ask, wait, and create and look at subtasks, and are at most twelve', async () => {
    const { offered } = await openAgents()
    const { names, bytes } = await offered({})
    expect(names).toEqual(always.toSorted())
    expect(names.length).toBeLessThanOrEqual(12)
    expect(bytes).toBeLessThanOrEqual(maxBytes)
  })

  it('include memory and objectives for an agent in a team', async () => {
    const { offered, engine } = await openAgents()
    const { names, bytes } = await offered({ team: true })
    expect(names).toEqual([...always, ...inTeam].sort())
    expect(bytes).toBeLessThanOrEqual(maxBytes)
    const team = await engine.create({ name: 'Together', team: true })
    expect((await offered({ parentId: team.id })).names).toEqual(names)
  })

  it('include the board and its mail for an agent that works below a claimed task', async () => {
    const { offered, claimed, engine } = await openAgents()
    const parentId = await claimed()
    const { names, bytes } = await offered({ parentId })
    expect(names).toEqual([...always, ...ofClaimed].sort())
    expect(bytes).toBeLessThanOrEqual(maxBytes)
    const between = await engine.create({ name: 'Between', parentId })
    expect((await offered({ parentId: between.id })).names).toEqual(names)
  })

  it('include both for an agent in a team below a claimed task', async () => {
    const { offered, claimed } = await openAgents()
    const { names, bytes } = await offered({ parentId: await claimed({ team: true }) })
    expect(names).toEqual([...always, ...inTeam, ...ofClaimed].sort())
    expect(bytes).toBeLessThanOrEqual(maxBytes)
  })

  it('are those that the agent or its task names, and no others', async () => {
    const { offered } = await openAgents()
    const named = await offered({ executor: 'named' })
    expect(named.names).toContain('board_claim_next')
    expect(named.names.filter((name) => !name.startsWith('board_'))).toEqual([
      'ask_user',
      'mem_retrieve',
      'wait_for_tasks',
    ])
    expect((await offered({ abilities: ['objective:*'], team: true })).names).toEqual([
      'ask_user',
      'objective_add',
      'objective_log',
      'objective_update',
      'wait_for_tasks',
    ])
  })

  it('come beside all tools of the program', async () => {
    const { offered } = await openAgents(echo)
    expect((await offered({ team: true })).names).toContain('test_echo')
  })
})
