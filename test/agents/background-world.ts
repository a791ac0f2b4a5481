// Agents with commands in the background, and what their models call and read.
import { tmpdir } from 'node:os'
import type { ModelMessage } from '../../src/agents/models/step-schema.ts'
import { commandAbilities } from '../../src/commands/operations/command-abilities.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { openEngine } from '../engine/world.ts'
import { llm, type ModelReply, tool } from './world.ts'

export const background = (command: string, id = 'b', name?: string): ModelReply => ({
  toolCalls: [{ id, name: 'shell_background', arguments: { command, ...(name === undefined ? {} : { name }) } }],
})
export const wait = { toolCalls: [{ id: 'w', name: 'wait_for_tasks', arguments: {} }] }
export const look = (id: string) => ({ toolCalls: [{ id, name: 'test_look', arguments: {} }] })

/** The notifications in the input of a model. */
export const notificationsIn = (messages: readonly ModelMessage[]) =>
  messages
    .filter(({ role, content }) => role === 'user' && content?.startsWith('[background]'))
    .map(({ content }) => content)

/** An agent with commands, whose tool `test:look` answers when all of its subtasks have ended. */
export async function withCommands(steps: ReadonlyArray<ModelReply>, options: object = {}) {
  const model = llm((_input, step) => steps[step - 1] ?? { content: 'Done.' })
  const settled = tool('test:look', async (_input, { caller }) => {
    for (const child of await engine.children(caller.taskId as string)) await engine.settled(child)
    return 'looked'
  })
  const engine = (await openEngine({
    abilities: [model.ability, settled, ...commandAbilities(tmpdir(), { killGraceMs: 5000 })],
    ...options,
  })) as Engine
  return { engine, model }
}
